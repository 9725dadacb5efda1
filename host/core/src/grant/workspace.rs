//! The grant of the files of a session.

use std::path::PathBuf;

use super::{expiry::Expiry, standing::Holder};
use crate::Error;

/// Whether files may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// They are read.
    Read,
    /// They are read, written, made and removed.
    #[default]
    Write,
}

impl Access {
    /// The word that a configuration has for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The files of the session.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceGrant {
    /// Why; for the person who reads the configuration later.
    #[schemars(regex(pattern = r"\S"))]
    pub reason: String,
    /// Until when: a day, which it still holds in UTC, or a time with its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
    /// `read` or `write`, the default.
    #[serde(default)]
    pub access: Access,
    /// Folders of the host for import and export.
    #[serde(default)]
    pub exchange: Vec<ExchangeFolder>,
}

/// A folder of the host that files come from and go to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeFolder {
    /// What the plugin calls it: 1 to 64 bytes of `[A-Za-z0-9._-]`.
    #[schemars(
        regex(pattern = r"^([A-Za-z0-9_-][A-Za-z0-9._-]*|\.[A-Za-z0-9_-][A-Za-z0-9._-]*|\.\.[A-Za-z0-9._-]+)$"),
        length(max = 64)
    )]
    pub name: String,
    /// Where it is. Absolute; in a configuration also relative to its file.
    pub path: PathBuf,
    /// `read`, unless it says `write`.
    #[serde(default = "read")]
    pub access: Access,
}

fn read() -> Access {
    Access::Read
}

impl WorkspaceGrant {
    /// Reading and writing, and no exchange folder.
    #[must_use]
    pub fn with_reason(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), expires: None, access: Access::Write, exchange: Vec::new() }
    }
}

/// Proof that a plugin may use the files of its session. The way to a
/// [`super::WorkspaceKey`].
#[derive(Debug)]
pub struct GrantedWorkspace<'g> {
    pub(super) grant: &'g WorkspaceGrant,
    pub(super) holder: Holder<'g>,
}

impl<'g> GrantedWorkspace<'g> {
    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &'g WorkspaceGrant {
        self.grant
    }

    /// Checks that files may be changed.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn to_write(&self) -> Result<(), Error> {
        match self.grant.access {
            Access::Write => Ok(()),
            Access::Read => {
                Err(self.holder.beyond("may only read the workspace".to_owned(), "set `access = \"write\"`".to_owned()))
            }
        }
    }
}
