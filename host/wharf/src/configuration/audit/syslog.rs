//! `[audit.syslog]`: the log server that gets the lines of the audit as they are written.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use wharf_audit::{Syslog, SyslogAddress, SyslogAuthorityUnusable, SyslogSettings};
use wharf_files::regular_file;

/// Facilities by their numbers (RFC 5424, table 1), in the words that log servers use for them.
const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp",
    "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
];
const USUAL_FACILITY: &str = "audit";
/// Bytes that are read of the authorities.
const MOST_AUTHORITY_BYTES: u64 = 1 << 20;

/// `[audit.syslog]`, as it is written.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenSyslog {
    /// The log server: `tls://HOST:PORT` (6514 where absent), `tcp://HOST:PORT`, `udp://HOST:PORT` (514 where absent), or
    /// `unix:/dev/log`.
    address: String,
    /// The facility of RFC 5424, such as `auth` or `local0`; `audit` (13) where absent.
    facility: Option<String>,
    /// The file with the certificates, in PEM, that vouch for the server; those of the system where absent.
    authority: Option<PathBuf>,
    /// Whether lines may travel to another machine where others can read and change them.
    #[serde(default)]
    allow_unprotected: bool,
}

/// `[audit.syslog]`, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditSyslog {
    /// The log server.
    pub address: SyslogAddress,
    /// The facility by its number.
    pub facility: u8,
    /// The file with the certificates that vouch for the server.
    pub authority: Option<PathBuf>,
}

/// The log server of the audit cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("[audit.syslog] cannot be used: {0}")]
pub struct SyslogUnusable(SyslogProblem);

#[derive(Debug, thiserror::Error)]
enum SyslogProblem {
    #[error("`authority` = {path}: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{}", wharf_core::text::with_causes(.0))]
    Authority(#[from] SyslogAuthorityUnusable),
}

impl WrittenSyslog {
    pub(super) fn check(&self, base: &Path) -> Result<AuditSyslog, String> {
        let address: SyslogAddress = self
            .address
            .parse()
            .map_err(|error| format!("[audit.syslog] `address` = \"{}\": {error}", self.address))?;
        if address.is_unprotected() && !self.allow_unprotected {
            return Err(format!(
                "[audit.syslog] `address` = \"{}\": others could read and change lines on their way; use tls://, or write \
                 `allow_unprotected = true` where nobody else is on the network",
                self.address
            ));
        }
        let facility = self.facility.as_deref().unwrap_or(USUAL_FACILITY);
        let number =
            FACILITIES.iter().position(|known| *known == facility).and_then(|number| u8::try_from(number).ok());
        let facility = number.ok_or_else(|| {
            format!("[audit.syslog] `facility` = \"{facility}\" is none; there are {}", FACILITIES.join(", "))
        })?;
        Ok(AuditSyslog { address, facility, authority: self.authority.as_ref().map(|authority| base.join(authority)) })
    }
}

impl AuditSyslog {
    fn settings(&self) -> Result<SyslogSettings, SyslogProblem> {
        let read = |path: &PathBuf| {
            regular_file::read(path, MOST_AUTHORITY_BYTES)
                .map_err(|error| SyslogProblem::Unreadable { path: path.clone(), error })
        };
        let authority = self.authority.as_ref().map(read).transpose()?;
        Ok(SyslogSettings { address: self.address.clone(), facility: self.facility, host: machine(), authority })
    }

    /// Whether it can be used, without asking the server.
    pub(crate) fn check(&self) -> Result<(), SyslogUnusable> {
        let checked = self.settings().and_then(|settings| Ok(settings.check()?));
        checked.map_err(SyslogUnusable)
    }

    /// Sends from now on.
    pub(crate) fn start(&self) -> Result<Syslog, SyslogUnusable> {
        let started = self.settings().and_then(|settings| Ok(Syslog::start(&settings)?));
        started.map_err(SyslogUnusable)
    }
}

/// The name of this machine, where it has one.
fn machine() -> String {
    #[cfg(unix)]
    return rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    return std::env::var("COMPUTERNAME").unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::super::super::Configuration;
    use super::*;

    #[test]
    fn a_log_server_has_an_address_that_nobody_else_reads_along() {
        let parse = |text: &str| {
            let parsed = Configuration::parse(&format!("[audit.syslog]\n{text}"), Path::new("/etc"));
            parsed
                .map(|configuration| configuration.audit.syslog.expect("it is there"))
                .map_err(|error| error.to_string())
        };
        let usual = parse("address = \"tls://log.example\"\nauthority = \"ca.pem\"").expect("accepted");
        assert_eq!((usual.facility, usual.authority.as_deref()), (13, Some(Path::new("/etc/ca.pem"))));
        let local = parse("address = \"unix:/dev/log\"\nfacility = \"local7\"").expect("accepted");
        assert_eq!(local.facility, 23);
        parse("address = \"udp://10.0.0.1\"\nallow_unprotected = true").expect("accepted");
        for (text, word) in [
            ("address = \"log.example\"", "udp://HOST"),
            ("address = \"udp://10.0.0.1\"", "allow_unprotected"),
            ("address = \"unix:/dev/log\"\nfacility = \"loud\"", "there are kern"),
            ("facility = \"auth\"", "address"),
        ] {
            let problem = parse(text).expect_err(text);
            assert!(problem.contains(word), "{text}: {problem}");
        }
    }
}
