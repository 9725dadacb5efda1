//! What holds for the terminals of a plugin here.

use std::path::PathBuf;

use serde::Serialize;
use wharf_completion::detection::Preset;
use wharf_core::grant::{GrantedTerminal, TerminalGrant};
use wharf_spawn::{
    ChildWorkspace,
    policy::{self, WorkspaceView},
};

use super::Terminals;
use crate::TerminalError;

/// What holds for the terminals of a plugin here, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Whether a shell may be started.
    pub shell: bool,
    /// Patterns of programs that may be started.
    pub programs: Vec<String>,
    /// Names of the presets by which turns can be judged.
    pub presets: Vec<&'static str>,
    /// Names of the operator's profiles, which can be named in their place.
    pub profiles: Vec<String>,
    /// `bubblewrap`, `landlock`, or `none`.
    pub containment: &'static str,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Why nothing can be started; absent where it can, be it because the operator gave
    /// containment up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether programs have the host's network.
    pub network: bool,
    /// The workspace as programs see it.
    pub directory: PathBuf,
    /// Terminals that an owner may have at once.
    pub maximum_per_owner: u64,
    /// How long a terminal may be unused.
    pub idle_seconds: u64,
    /// How long one may be open.
    pub lifetime_seconds: u64,
}

impl Terminals {
    /// What holds for the terminals of a plugin.
    ///
    /// # Errors
    /// Where it cannot be found out.
    pub async fn standing(
        &self,
        granted: &GrantedTerminal<'_>,
        place: &ChildWorkspace,
    ) -> Result<Standing, TerminalError> {
        let capabilities = self.common.spawner.capabilities().await;
        let capabilities = capabilities.map_err(|source| TerminalError::Start { source })?;
        let TerminalGrant { shell, programs, network, lifetime_seconds, .. } = granted.grant().clone();
        let limits = &self.common.settings.limits;
        Ok(Standing {
            shell,
            programs,
            presets: Preset::ALL.map(Preset::as_str).to_vec(),
            profiles: self.profiles.configured().map(str::to_owned).collect(),
            containment: policy::mechanism_name(&capabilities),
            missing: capabilities.containment.as_ref().err().cloned(),
            refused: policy::refusal(&granted.children(), &capabilities),
            network,
            directory: WorkspaceView::of(place, &capabilities).files,
            maximum_per_owner: limits.open_per_owner,
            idle_seconds: limits.idle_seconds,
            lifetime_seconds: lifetime_seconds.min(limits.lifetime_seconds),
        })
    }
}
