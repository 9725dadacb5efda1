//! Where secrets come from: never from the configuration itself.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use wharf_core::request::InvalidSecret;
use zeroize::Zeroizing;

use crate::secret::open;

/// The most that is read of a file with a secret: a longer one holds no secret.
const MAX_FILE_BYTES: usize = 64 << 10;

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
}

impl SecretSource {
    /// The one of these that is written, where exactly one is.
    pub(super) fn named(
        environment: Option<String>,
        file: Option<PathBuf>,
        credential: Option<String>,
        base: &Path,
    ) -> Option<Self> {
        match (environment, file, credential) {
            (Some(variable), None, None) if !variable.is_empty() => Some(Self::Environment(variable)),
            (None, Some(file), None) => Some(Self::File(base.join(file))),
            (None, None, Some(name)) if is_file_name(&name) => Some(Self::Credential(name)),
            _ => None,
        }
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
    #[error("{0}: {1}")]
    Unfit(String, InvalidSecret),
    #[error("{0}")]
    Other(String),
}

/// What is wrong with a table that names no place of its secret, or several.
pub(super) fn missing_source(table: &str) -> String {
    format!(
        "{table} names where the secret is, once: `environment`, a variable of the host, `file`, or `credential`, the name \
         of a credential of its systemd unit"
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
    }
}

/// The text of a file, and what a person calls that.
fn read_file(path: &Path, allow_unprotected: bool) -> Result<(Zeroizing<String>, String), MissingSecret> {
    // A buffer that grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE_BYTES + 1));
    let opened = open(path, allow_unprotected);
    opened.and_then(|file| file.take(MAX_FILE_BYTES as u64).read_to_end(&mut bytes)).map_err(|error| {
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
