//! The languages that plugins are written in.

use std::path::Path;

use crate::kit::{self, Kit};

/// A language with a kit of this host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// Rust, by cargo for `wasm32-wasip2`.
    Rust,
    /// Python, by componentize-py.
    Python,
}

impl Language {
    /// All of them, as commands list them.
    pub const ALL: [Self; 2] = [Self::Rust, Self::Python];

    /// As it is written on a command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
        }
    }

    /// As people write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::Python => "Python",
        }
    }

    /// The language of a plugin's folder, by its manifest.
    #[must_use]
    pub fn of(folder: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|language| folder.join(language.manifest()).is_file())
    }

    pub(crate) const fn manifest(self) -> &'static str {
        match self {
            Self::Rust => "Cargo.toml",
            Self::Python => "pyproject.toml",
        }
    }

    pub(crate) const fn kit(self) -> Kit {
        match self {
            Self::Rust => kit::RUST,
            Self::Python => kit::PYTHON,
        }
    }
}
