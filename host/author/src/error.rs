//! Why a folder is not made, or a component not built.

use std::{io, path::PathBuf};

/// Why an author gets nothing, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorError {
    /// The folder of a new plugin is there already.
    #[error("{0} is there already; `wharf new` overwrites nothing: choose another name, or `--folder`")]
    Taken(PathBuf),
    /// The name stands for something else.
    #[error("a plugin cannot be called `{name}`: {reason}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error("{path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No manifest says which language it is.
    #[error(
        "{0} is no plugin's folder: it has no Cargo.toml (Rust), package.json (JavaScript, TypeScript) or pyproject.toml (Python). `wharf new` makes one"
    )]
    NoProject(PathBuf),
    /// A tool of the language is not there.
    #[error("`{program}` is not there: {remedy}")]
    Missing {
        /// The tool.
        program: &'static str,
        /// How to get it.
        remedy: &'static str,
    },
    /// A tool of the language has failed, and has said why.
    #[error("`{command}` failed ({status}); it has said why above")]
    Failed {
        /// What was run.
        command: String,
        /// How it ended.
        status: String,
    },
    /// A tool has ended well and left no component.
    #[error("{0}")]
    NoComponent(String),
    /// No lines can be counted.
    #[error("{0}")]
    NoCoverage(String),
    /// The manifest says something that a component cannot carry.
    #[error("{manifest}: {problem}")]
    Manifest {
        /// The manifest.
        manifest: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

impl AuthorError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
