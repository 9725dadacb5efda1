//! What `[http.tls]` names: the certificate that makes connections private, and its key.

use std::{
    io,
    path::{Path, PathBuf},
};

use wharf_core::text::with_causes;
use wharf_files::regular_file;
use wharf_http::{ClientCertificates, Tls, TlsError};

use super::http::TlsFiles;
use crate::secret;

/// What is read of a certificate, with those above it, and of a key at most.
const MAX_KEY_BYTES: u64 = 1 << 20;

impl TlsFiles {
    /// Reads them.
    ///
    /// # Errors
    /// Which file cannot be read, or why they make no connection private, in words for
    /// a person.
    pub fn read(&self) -> Result<Tls, TlsFilesError> {
        let certificate = read(&self.certificate)?;
        let authorities = self.client_authorities.as_deref().map(read).transpose()?;
        let key = secret::read_bytes(&self.key, self.allow_unprotected, MAX_KEY_BYTES);
        let key = key.map_err(|error| TlsFilesError::of(&self.key, error))?;
        let clients = match &authorities {
            _ if !self.asks_clients => ClientCertificates::NotAsked,
            None => ClientCertificates::Any,
            Some(authorities) => ClientCertificates::IssuedBy(authorities),
        };
        Tls::asking(clients, &certificate, &key).map_err(TlsFilesError::Unfit)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsFilesError> {
    let read = regular_file::read(path, MAX_KEY_BYTES).map_err(|error| TlsFilesError::of(path, error))?;
    if read.len() as u64 > MAX_KEY_BYTES {
        return Err(TlsFilesError::TooLong { path: path.to_owned() });
    }
    Ok(read)
}

/// Why the files of `[http.tls]` make no connection private.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFilesError {
    /// A file cannot be read.
    #[error("[http.tls] {path}: {error}; name files in PEM that the user of the host may read")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Others may read the key.
    #[error("[http.tls] {path}: {error}, or say `allow_unprotected = true`")]
    Unprotected {
        /// Its file.
        path: PathBuf,
        /// What to do.
        error: io::Error,
    },
    /// A certificate is longer than any is.
    #[error("[http.tls] {path}: it is too long")]
    TooLong {
        /// Its file.
        path: PathBuf,
    },
    /// They are no certificate with its key.
    #[error("[http.tls] {}", with_causes(.0))]
    Unfit(TlsError),
}

impl TlsFilesError {
    fn of(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.raw_os_error() {
            // What the system itself says has a number.
            None if error.kind() == io::ErrorKind::PermissionDenied => Self::Unprotected { path, error },
            _ => Self::File { path, error },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::super::Configuration;

    #[test]
    fn a_key_that_others_may_read_is_refused_unless_the_operator_says_so() {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["certificate", "key"] {
            fs::write(directory.path().join(name), "none").expect("written");
        }
        let read = |more: &str| {
            let text = format!("[http.tls]\ncertificate = \"certificate\"\nkey = \"key\"\n{more}");
            let http = Configuration::parse(&text, directory.path()).expect("parses").http;
            http.tls.expect("written").read().map(drop).expect_err("no certificate").to_string()
        };
        let key = directory.path().join("key");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).expect("changed");
        let problem = read("");
        assert!(problem.contains("chmod 600") && problem.contains("allow_unprotected = true"), "{problem}");
        assert!(!read("allow_unprotected = true").contains("chmod"));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("changed");
        assert!(!read("").contains("chmod"));
    }
}
