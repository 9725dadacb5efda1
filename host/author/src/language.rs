//! The languages that plugins are written in.

use std::path::Path;

use crate::kit::{self, Kit};

/// A language with a kit of this host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// Rust, by cargo for `wasm32-wasip2`.
    Rust,
    /// TypeScript, by the componentize tools of JavaScript.
    TypeScript,
    /// JavaScript, by componentize-qjs or componentize-js.
    JavaScript,
    /// Python, by componentize-py.
    Python,
}

impl Language {
    /// All of them, as commands list them.
    pub const ALL: [Self; 4] = [Self::Rust, Self::TypeScript, Self::JavaScript, Self::Python];

    /// As it is written on a command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::TypeScript => "typescript",
            Self::JavaScript => "javascript",
            Self::Python => "python",
        }
    }

    /// As people write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rust => "Rust",
            Self::TypeScript => "TypeScript",
            Self::JavaScript => "JavaScript",
            Self::Python => "Python",
        }
    }

    /// The language of a plugin's folder, by its manifest and main module.
    #[must_use]
    pub fn of(folder: &Path) -> Option<Self> {
        let is_it = |language: &Self| match language {
            Self::TypeScript => folder.join("package.json").is_file() && folder.join("src/plugin.ts").is_file(),
            language => folder.join(language.manifest()).is_file(),
        };
        Self::ALL.into_iter().find(is_it)
    }

    pub(crate) const fn manifest(self) -> &'static str {
        match self {
            Self::Rust => "Cargo.toml",
            Self::TypeScript | Self::JavaScript => "package.json",
            Self::Python => "pyproject.toml",
        }
    }

    pub(crate) const fn kit(self) -> Kit {
        match self {
            Self::Rust => kit::RUST,
            Self::TypeScript | Self::JavaScript => kit::JAVASCRIPT,
            Self::Python => kit::PYTHON,
        }
    }
}
