//! Why a configuration is not usable.

use std::path::PathBuf;

use wharf_core::{PluginName, text::with_causes};

use crate::{missing_feature::MissingFeature, paths::NoDirectory};

/// Why a configuration is not usable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// The file cannot be read.
    #[error("cannot read the configuration {path}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The text says something that it may not.
    #[error("the configuration {path} is not usable:\n{problem}")]
    Text {
        /// Which file.
        path: PathBuf,
        /// What, where, and what is accepted.
        problem: InvalidConfiguration,
    },
}

/// What is wrong with the text of a configuration, in words for a person: where, and what
/// is accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidConfiguration {
    /// It is no TOML, has a key that means nothing, or a value of another type.
    #[error("{problem}")]
    Syntax {
        /// What and where, in the words of the TOML parser and of serde, which have no stable
        /// form.
        problem: String,
    },
    /// A key has a value that is not accepted.
    #[error("{problem}")]
    Value {
        /// Which key, and what is accepted: words for a person, which have no stable form.
        problem: String,
    },
    /// Its relative paths lead nowhere.
    #[error("{}", with_causes(.0))]
    Directory(NoDirectory),
    /// It asks for what this build leaves out.
    #[error(transparent)]
    Missing(#[from] MissingFeature),
}

/// Why no plugin can be added under a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameUnavailable {
    /// The name stands for something else.
    #[error("{0}")]
    Reserved(&'static str),
    /// `wharf.toml` names the component of this plugin.
    #[error("wharf.toml names {file} under [plugin.{name}]: take `source` out of there, or choose another name")]
    Configured {
        /// The name.
        name: PluginName,
        /// The component.
        file: PathBuf,
    },
    /// A plugin of this name is part of the binary.
    #[error("a plugin {name} is part of this binary; choose another name")]
    Bundled {
        /// The name.
        name: PluginName,
    },
}
