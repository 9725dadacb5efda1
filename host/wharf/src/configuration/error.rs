//! Why a configuration is not usable.

use std::path::PathBuf;

/// Why a configuration is not usable.
#[derive(Debug, thiserror::Error)]
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
        problem: String,
    },
}
