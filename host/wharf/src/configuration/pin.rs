//! Pins: which component a plugin's grants were given to, and what happens to them
//! when the component is another one.
//!
//! What was confirmed stands in `wharf.toml` and nowhere else, so grants can be given
//! ahead of time and a deployment needs no prompt.

use serde::Deserialize;
use wharf_core::{Digest, Grants, PluginName};

/// `pin` of a plugin: what a component may use whose digest is not the
/// confirmed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pin {
    /// Nothing, until it is confirmed: it is loaded without any grant. The
    /// default where `digest` is written.
    Digest,
    /// Nothing, and it is not even loaded.
    Refuse,
    /// All that the plugin was granted. Wharf warns at each start.
    None,
}

impl Pin {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::Refuse => "refuse",
            Self::None => "none",
        }
    }
}

/// What a plugin may use with one component of its.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EffectiveGrants {
    /// What its calls may use.
    pub grants: Grants,
    /// Why that is not what the configuration grants, where it is not.
    pub withheld: Option<Unconfirmed>,
    /// What the operator should know, as sentences about the plugin.
    pub warnings: Vec<String>,
}

/// A component that the operator has not confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unconfirmed {
    /// The plugin.
    pub plugin: PluginName,
    /// The digest that was confirmed, if one was.
    pub confirmed: Option<Digest>,
    /// That of the component.
    pub found: Digest,
}

impl std::fmt::Display for Unconfirmed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { plugin, confirmed, found } = self;
        match confirmed {
            Some(confirmed) => {
                write!(formatter, "its component has changed: its digest is {found}, and {confirmed} was confirmed")?
            }
            None => write!(formatter, "its digest is {found}, and none was confirmed")?,
        }
        write!(formatter, "; the operator confirms it with `wharf grant {plugin} --confirm`")
    }
}

impl std::error::Error for Unconfirmed {}
