//! `wharf build`: the component of a plugin, by the tools of its language.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::Args;
use wharf_author::{AuthorError, BuiltComponent, Language, Project};

use crate::{bytes::size, exit::Unusable, global::Global};

/// Build the component of the plugin in a folder, with the tools of its language
///
/// It runs what its author would: cargo for Rust, for `wasm32-wasip2`;
/// componentize-py for Python; tsc and componentize-qjs or componentize-js for
/// JavaScript and TypeScript. The component then says its name, version, description, licence, homepage and
/// repository, as the manifest has them.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "\
Examples:
  wharf build                              the plugin here, to dist/NAME.wasm
  wharf build plugins/tracker --output tracker.wasm
  wharf build -- --locked                  what stands behind `--` is for cargo")]
pub(super) struct BuildArguments {
    /// The folder of the plugin
    #[arg(default_value = ".")]
    folder: PathBuf,

    /// Where the component is written [default: dist/NAME.wasm in the folder]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Further arguments for the tool of its language
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl BuildArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let project = Project::open(&self.folder).map_err(unusable)?;
        let built = build(&project, self.output.as_deref(), &self.arguments, global).map_err(unusable)?;
        let version = built.version.map(|version| format!(" {version}")).unwrap_or_default();
        println!("{}: {}{version}, {}", built.file.display(), built.name, size(built.bytes));
        Ok(ExitCode::SUCCESS)
    }
}

/// Builds a plugin, and shows that it does. cargo shows that itself.
pub(super) fn build(
    project: &Project,
    output: Option<&Path>,
    arguments: &[OsString],
    global: &Global,
) -> Result<BuiltComponent, AuthorError> {
    let is_shown = project.language() != Language::Rust;
    let shown = format!("building the plugin in {}", project.folder().display());
    let _building = is_shown.then(|| global.progress().step(shown));
    project.build(output, arguments)
}

/// What the author has to mend before anything can be built is told by its exit code.
pub(super) fn unusable(error: AuthorError) -> anyhow::Error {
    match error {
        AuthorError::NoProject(_) | AuthorError::Missing { .. } | AuthorError::Manifest { .. } => {
            Unusable(error.to_string()).into()
        }
        error => error.into(),
    }
}
