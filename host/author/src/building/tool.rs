//! The tools of languages: started with the rights of the author, as in a shell.

use std::{
    path::Path,
    process::{Command, ExitStatus},
};

use auditable_serde::VersionInfo;

use crate::{error::AuthorError, metadata::ManifestMetadata};

/// What a tool of a language has made.
pub(super) struct RawComponent {
    pub(super) bytes: Vec<u8>,
    pub(super) metadata: ManifestMetadata,
    /// The libraries in it, where the language tells them.
    pub(super) libraries: Option<VersionInfo>,
}

/// A tool of a language on the search path, and how to get it.
pub(super) struct Tool {
    pub(super) program: &'static str,
    pub(super) remedy: &'static str,
}

impl Tool {
    pub(super) fn command(&self, folder: &Path) -> Command {
        self.command_by(self.program.as_ref(), folder)
    }

    /// The same by a program of its own, as that of a virtual environment.
    pub(super) fn command_by(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder);
        command
    }

    /// Runs it and returns what it printed. Its messages go to standard error.
    pub(super) fn run(&self, command: &mut Command) -> Result<(ExitStatus, Vec<u8>), AuthorError> {
        let output = command.stderr(std::process::Stdio::inherit()).output();
        let output = output.map_err(|error| self.absent(error))?;
        Ok((output.status, output.stdout))
    }

    /// The error of a run that did not begin.
    pub(super) fn absent(&self, error: std::io::Error) -> AuthorError {
        match error.kind() {
            std::io::ErrorKind::NotFound => AuthorError::Missing { program: self.program, remedy: self.remedy },
            _ => AuthorError::file(self.program)(error),
        }
    }

    /// The error of a run that ended badly, which has said why on standard error.
    pub(super) fn failed(&self, command: &Command, status: ExitStatus) -> AuthorError {
        let first = command.get_args().next().unwrap_or_default().to_string_lossy();
        AuthorError::Failed { command: format!("{} {first}", self.program), status: status.to_string() }
    }
}
