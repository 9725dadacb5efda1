//! The rules that hold for the terminals of a plugin here.
//!
//! Owns how they are put together. Never enforces one.

use wharf_completion::detection::Preset;
use wharf_contract::terminal::TerminalRules;
use wharf_core::grant::{GrantedTerminal, TerminalGrant};
use wharf_spawn::{
    ChildWorkspace,
    policy::{self, WorkspaceView},
};

use super::Terminals;
use crate::TerminalError;

impl Terminals {
    /// The rules that hold for the terminals of a plugin.
    ///
    /// # Errors
    /// Where it cannot be found out.
    pub async fn rules(
        &self,
        granted: &GrantedTerminal<'_>,
        workspace: &ChildWorkspace,
    ) -> Result<TerminalRules, TerminalError> {
        let capabilities = self.pool.spawner.capabilities().await;
        let capabilities = capabilities.map_err(|source| TerminalError::Start { source })?;
        let TerminalGrant { shell, programs, network, lifetime_seconds, .. } = granted.grant().clone();
        let limits = &self.pool.settings.limits;
        Ok(TerminalRules {
            shell,
            programs,
            presets: Preset::WORDS.iter().map(ToString::to_string).collect(),
            profiles: self.profiles.configured().map(str::to_owned).collect(),
            containment: policy::mechanism_word(&capabilities).into(),
            missing: capabilities.containment.as_ref().err().map(ToString::to_string),
            refused: policy::refusal(&granted.children(), &capabilities),
            network,
            directory: WorkspaceView::of(workspace, &capabilities).files.display().to_string(),
            maximum_per_owner: limits.open_per_owner,
            idle_seconds: limits.idle_seconds,
            lifetime_seconds: lifetime_seconds.min(limits.lifetime_seconds),
        })
    }
}
