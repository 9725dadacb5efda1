//! `[audit]`: which lines are kept of what happened, and how long.

mod syslog;

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use wharf_audit::{AuditSigner, InvalidAuditKey};
use wharf_core::{audit::AuditAddresses, tool::ToolSelection};

use self::syslog::WrittenSyslog;
pub use self::syslog::{AuditSyslog, SyslogUnusable};
use crate::secret;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// `[audit]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenAudit {
    /// Whether lines are kept below the data directory; true where absent.
    enabled: Option<bool>,
    /// Whether what plugins ask the host for is kept where it was not denied; true where absent.
    host_calls: Option<bool>,
    /// Bytes of a file that is full, from 131072 to 1073741824; 8388608 where absent.
    rotate_bytes: Option<u64>,
    /// How many files are kept, from 1 to 10000; 64 where absent.
    keep_files: Option<u64>,
    /// Days for which a file is kept after its last line, from 1 to 3650; 30 where absent.
    keep_days: Option<u64>,
    /// How much is kept of the addresses of requests over HTTP: `full`, `network` (the first 24 bits of an IPv4 address, 48
    /// of an IPv6 address) or `none`; `full` where absent.
    addresses: Option<AuditAddresses>,
    /// The file of a private Ed25519 key (PKCS #8, as PEM) that nobody else may read: hosts sign with it
    /// where the chain of each file stands. Nothing is signed where absent.
    key: Option<PathBuf>,
    /// Patterns of tools, by their listed names such as `workspace__execute_shell`: lines of their calls have the
    /// arguments, without what looks like a secret and cut to 1024 bytes; none has them where absent.
    record_arguments: Option<Vec<String>>,
    /// The log server that gets all lines as they are written; none does where absent.
    syslog: Option<WrittenSyslog>,
}

/// The key that signs the audit cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the key of the audit in {path} cannot be used: {problem}")]
pub struct AuditKeyUnusable {
    path: PathBuf,
    problem: KeyProblem,
}

#[derive(Debug, thiserror::Error)]
enum KeyProblem {
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    #[error("{0}")]
    Invalid(#[from] InvalidAuditKey),
}

/// Bytes that are read of a key.
const MOST_KEY_BYTES: u64 = 16 << 10;

/// `[audit]`, checked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AuditSettings {
    /// Whether lines are kept below the data directory.
    pub enabled: bool,
    /// Whether what plugins ask the host for is kept where it was not denied;
    /// denials always are.
    pub host_calls: bool,
    /// A file of this size is full.
    pub rotate_bytes: u64,
    /// How many files are kept.
    pub keep_files: usize,
    /// How long a file is kept after its last line.
    pub keep: Duration,
    /// How much is kept of the addresses of requests.
    pub addresses: AuditAddresses,
    /// The file of the key that signs where chains stand.
    pub key: Option<PathBuf>,
    /// The tools whose arguments are told.
    pub record_arguments: Option<ToolSelection>,
    /// The log server that gets all lines as they are written.
    pub syslog: Option<AuditSyslog>,
}

impl AuditSettings {
    /// Reads the key that signs, where one is named.
    pub(crate) fn signer(&self) -> Result<Option<AuditSigner>, AuditKeyUnusable> {
        let Some(path) = &self.key else { return Ok(None) };
        let read =
            || -> Result<_, KeyProblem> { Ok(AuditSigner::read(&secret::read_bytes(path, false, MOST_KEY_BYTES)?)?) };
        read().map(Some).map_err(|problem| AuditKeyUnusable { path: path.clone(), problem })
    }
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            host_calls: true,
            rotate_bytes: 8 << 20,
            keep_files: 64,
            keep: 30 * DAY,
            addresses: AuditAddresses::Full,
            key: None,
            record_arguments: None,
            syslog: None,
        }
    }
}

impl WrittenAudit {
    pub(super) fn check(&self, base: &Path) -> Result<AuditSettings, String> {
        let usual = AuditSettings::default();
        let within = |name: &str, value: Option<u64>, usual: u64, least: u64, most: u64| match value {
            None => Ok(usual),
            Some(value) if (least..=most).contains(&value) => Ok(value),
            Some(value) => Err(format!("[audit] `{name}` must be from {least} to {most}, not {value}")),
        };
        let keep_files = within("keep_files", self.keep_files, usual.keep_files as u64, 1, 10_000)?;
        let keep_days = within("keep_days", self.keep_days, usual.keep.as_secs() / DAY.as_secs(), 1, 3_650)?;
        let recorded = self.record_arguments.clone().map(|patterns| ToolSelection::new(Some(patterns), Vec::new()));
        let record_arguments = recorded.transpose().map_err(|error| format!("[audit] `record_arguments`: {error}"))?;
        Ok(AuditSettings {
            enabled: self.enabled.unwrap_or(usual.enabled),
            host_calls: self.host_calls.unwrap_or(usual.host_calls),
            rotate_bytes: within("rotate_bytes", self.rotate_bytes, usual.rotate_bytes, 128 << 10, 1 << 30)?,
            keep_files: usize::try_from(keep_files).unwrap_or(usual.keep_files),
            keep: Duration::from_secs(keep_days * DAY.as_secs()),
            addresses: self.addresses.unwrap_or(usual.addresses),
            key: self.key.as_ref().map(|key| base.join(key)),
            record_arguments,
            syslog: self.syslog.as_ref().map(|syslog| syslog.check(base)).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Configuration, *};

    #[test]
    fn what_is_written_of_the_audit_is_checked_against_what_can_be() {
        let parse = |text: &str| {
            let parsed = Configuration::parse(text, Path::new("/")).map_err(|problem| problem.to_string());
            parsed.map(|configuration| configuration.audit)
        };
        assert_eq!(parse(""), Ok(AuditSettings::default()));
        let settings =
            parse("[audit]\nhost_calls = false\nkeep_days = 2\nkeep_files = 3\nkey = \"k.pem\"").expect("accepted");
        assert_eq!(settings.key.as_deref(), Some(Path::new("/k.pem")));
        assert_eq!((settings.enabled, settings.host_calls, settings.keep_files), (true, false, 3));
        assert_eq!(settings.keep, 2 * DAY);
        for (text, word) in [
            ("rotate_bytes = 131071", "from 131072 to 1073741824"),
            ("keep_files = 0", "keep_files"),
            ("keep_days = 4000", "from 1 to 3650"),
            ("keep = 1", "keep"),
        ] {
            let problem = parse(&format!("[audit]\n{text}")).expect_err(text);
            assert!(problem.contains(word), "{text}: {problem}");
        }
    }
}
