//! Where secrets come from: never from the configuration itself.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use wharf_core::request::InvalidSecret;
use zeroize::Zeroizing;

use super::{
    kernel_key::{KernelKey, KernelKeyError},
    secret_command::{SecretCommand, SecretCommandError},
};
use crate::secret::open;

/// The most that is read of a secret: what is longer holds none.
pub(super) const MAX_SECRET_BYTES: usize = 64 << 10;

/// Where the text of a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretSource {
    /// A variable of the host's own environment.
    Environment(String),
    /// A file.
    File(PathBuf),
    /// A credential that systemd handed to the host.
    Credential(String),
    /// What a program prints.
    Command(SecretCommand),
    /// A key of the kernel's keyrings.
    KernelKey(KernelKey),
}

/// What a table writes of where its secret is.
#[derive(Debug, Default)]
pub(super) struct WrittenSource {
    pub(super) environment: Option<String>,
    pub(super) file: Option<PathBuf>,
    pub(super) credential: Option<String>,
    pub(super) command: Option<Vec<String>>,
    pub(super) keyring: Option<String>,
}

impl WrittenSource {
    /// The one of these that is written, where exactly one is. `table` is how people call the table.
    pub(super) fn check(self, table: &str, base: &Path) -> Result<SecretSource, String> {
        let Self { environment, file, credential, command, keyring } = self;
        let found = match (environment, file, credential, command, keyring) {
            (Some(variable), None, None, None, None) if !variable.is_empty() => SecretSource::Environment(variable),
            (None, Some(file), None, None, None) => SecretSource::File(base.join(file)),
            (None, None, Some(name), None, None) if is_file_name(&name) => SecretSource::Credential(name),
            (None, None, None, Some(command), None) => {
                let command = SecretCommand::of(command).map_err(|problem| format!("{table} {problem}"))?;
                SecretSource::Command(command)
            }
            (None, None, None, None, Some(key)) => {
                SecretSource::KernelKey(KernelKey::named(&key).map_err(|problem| format!("{table} {problem}"))?)
            }
            _ => return Err(missing_source(table)),
        };
        Ok(found)
    }
}

/// Whether a name leads nowhere but into the directory of the credentials.
fn is_file_name(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|last| last == name)
}

/// Where systemd puts the credentials of a unit.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// The directory of the credentials of this process.
pub(super) fn credentials() -> Option<PathBuf> {
    std::env::var_os(CREDENTIALS).map(PathBuf::from)
}

/// Why a secret cannot be had; never what it is.
#[derive(Debug, thiserror::Error)]
#[error("[{table}] {problem}")]
pub struct SecretUnavailable {
    /// The table that names it.
    table: String,
    problem: MissingSecret,
}

impl SecretUnavailable {
    pub(super) fn new(table: String, problem: MissingSecret) -> Self {
        Self { table, problem }
    }

    /// One whose text is not what it should be.
    pub(super) fn unfit(table: &str, problem: &dyn std::fmt::Display) -> Self {
        Self { table: table.to_owned(), problem: MissingSecret::Other(problem.to_string()) }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum MissingSecret {
    #[error("the environment of the host has no variable {0}; set it, or take the secret out")]
    Variable(String),
    #[error("the host has no credentials: `LoadCredential={0}:…` of its systemd unit hands it this one")]
    NoCredentials(String),
    #[error("{0} is no text")]
    NoText(String),
    #[error("cannot read {0}: {1}; put the secret there, for the user of the host alone, or take the table out")]
    File(PathBuf, io::Error),
    #[error("{0}, or say `allow_unprotected = true`")]
    Unprotected(io::Error),
    #[error(transparent)]
    Command(#[from] SecretCommandError),
    #[error(transparent)]
    KernelKey(#[from] KernelKeyError),
    #[error("{0}: {1}")]
    Unfit(String, InvalidSecret),
    #[error("{0}")]
    Other(String),
}

/// What is wrong with a table that names no place of its secret, or several.
fn missing_source(table: &str) -> String {
    format!(
        "{table} names where the secret is, once: `environment`, a variable of the host, `file`, `credential`, the name \
         of a credential of its systemd unit, `command`, a program and its arguments, or `keyring`, a key of the kernel"
    )
}

/// Reads the text of a secret that this table names.
///
/// # Errors
/// Why it cannot be had; never what it is.
pub(super) fn read_secret_text(
    table: &str,
    from: &SecretSource,
    allow_unprotected: bool,
) -> Result<Zeroizing<String>, SecretUnavailable> {
    let read = read_text(from, allow_unprotected).map(|(text, _)| text);
    read.map_err(|problem| SecretUnavailable::new(table.to_owned(), problem))
}

/// The text, and what a person calls the place that it is from.
pub(super) fn read_text(
    from: &SecretSource,
    allow_unprotected: bool,
) -> Result<(Zeroizing<String>, String), MissingSecret> {
    match from {
        SecretSource::Environment(variable) => match std::env::var(variable) {
            Ok(text) => Ok((Zeroizing::new(text), format!("the variable {variable} of the host"))),
            Err(std::env::VarError::NotPresent) => Err(MissingSecret::Variable(variable.clone())),
            Err(std::env::VarError::NotUnicode(_)) => Err(MissingSecret::NoText(variable.clone())),
        },
        SecretSource::File(path) => read_file(path, allow_unprotected),
        SecretSource::Credential(name) => {
            let directory = credentials().ok_or_else(|| MissingSecret::NoCredentials(name.clone()))?;
            // systemd lets the user of the unit read it by an access list, which looks like a group.
            read_file(&directory.join(name), true)
        }
        SecretSource::Command(command) => Ok((command.output(allow_unprotected)?, command.to_string())),
        SecretSource::KernelKey(key) => Ok((key.read()?, key.to_string())),
    }
}

/// The text of a file, and what a person calls that.
fn read_file(path: &Path, allow_unprotected: bool) -> Result<(Zeroizing<String>, String), MissingSecret> {
    // A buffer that grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_SECRET_BYTES + 1));
    let opened = open(path, allow_unprotected);
    opened.and_then(|file| file.take(MAX_SECRET_BYTES as u64).read_to_end(&mut bytes)).map_err(|error| {
        // What the system itself says has a number.
        match error.raw_os_error() {
            None if error.kind() == io::ErrorKind::PermissionDenied => MissingSecret::Unprotected(error),
            _ => MissingSecret::File(path.to_owned(), error),
        }
    })?;
    let shown = path.display().to_string();
    let text = std::str::from_utf8(&bytes).map_err(|_| MissingSecret::NoText(shown.clone()))?;
    Ok((Zeroizing::new(text.to_owned()), shown))
}
