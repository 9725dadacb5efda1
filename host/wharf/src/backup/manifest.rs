//! What a backup says of itself, and which entries it may have.

use std::{
    ffi::OsStr,
    path::{Component, Path},
};

use chrono::{SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use wharf_encryption::KEYRING;

/// The format that this version writes, and the latest that it reads.
pub(super) const FORMAT: u32 = 1;
/// The first entry.
pub(super) const MANIFEST: &str = "wharf-backup.json";
/// Names what could not be read, before the last entry.
pub(super) const LEFT_OUT: &str = "wharf-left-out.txt";
/// The last entry: a line with a digest for each entry before it.
pub(super) const LIST: &str = "wharf-backup.list";
/// The file of the state.
pub(super) const STATE: &str = "state.sqlite3";
/// A longer one is none that Wharf wrote.
pub(super) const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// A part of a data directory that a backup has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BackupPart {
    /// The keys of encryption at rest, wrapped by a master key that is not in the backup.
    Keyring,
    /// What plugins keep.
    State,
    /// The plugins that commands added.
    Plugins,
    /// The files of sessions.
    Workspaces,
    /// The audit.
    Audit,
    /// Recordings of terminals.
    Recordings,
}

impl BackupPart {
    /// All of them, in the order in which a backup has them.
    pub const ALL: [Self; 6] =
        [Self::Keyring, Self::State, Self::Plugins, Self::Workspaces, Self::Audit, Self::Recordings];

    /// Its file or directory below a data directory.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keyring => KEYRING,
            Self::State => STATE,
            Self::Plugins => "plugins",
            Self::Workspaces => "workspaces",
            Self::Audit => "audit",
            Self::Recordings => "recordings",
        }
    }
}

/// Something of a data directory that a backup does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// Its name below the data directory.
    pub what: String,
    /// Why, and what to do instead.
    pub why: String,
}

impl LeftOut {
    pub(super) fn new(what: &str, why: impl Into<String>) -> Self {
        Self { what: what.to_owned(), why: why.into() }
    }
}

/// The first entry of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BackupManifest {
    /// The format of the archive.
    pub format: u32,
    /// The version of Wharf that wrote it.
    pub wharf: String,
    /// When: RFC 3339, in UTC.
    pub made: String,
    /// What is in it.
    pub contains: Vec<BackupPart>,
    /// What is not, and why.
    pub left_out: Vec<LeftOut>,
    /// What else the operator should know.
    pub notes: Vec<String>,
}

/// What every later format keeps.
#[derive(Debug, Deserialize)]
pub(super) struct AnyManifest {
    pub(super) format: u32,
    #[serde(default)]
    pub(super) wharf: String,
}

impl BackupManifest {
    pub(super) fn new(contains: Vec<BackupPart>, left_out: Vec<LeftOut>, notes: Vec<String>) -> Self {
        let made = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        Self { format: FORMAT, wharf: env!("CARGO_PKG_VERSION").to_owned(), made, contains, left_out, notes }
    }
}

/// What a data directory has beside that, always left out.
pub(super) fn never_in_it() -> Vec<LeftOut> {
    vec![
        LeftOut::new("cache/", "code that the next start compiles again"),
        LeftOut::new("hosts/", "sockets and secrets of running hosts"),
        LeftOut::new("processes/", "it belongs to running hosts"),
        LeftOut::new("terminals/", "it belongs to running hosts"),
        LeftOut::new("shells/", "every start writes it"),
        LeftOut::new(
            "http-token, operator-token and other secrets",
            "a backup lies where others may read it; the next start makes new tokens, and clients need them",
        ),
    ]
}

/// Where an entry of a backup belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'p> {
    Manifest,
    LeftOut,
    List,
    /// A directory that is not the session's own.
    Directory(BackupPart),
    /// A file in one.
    File(BackupPart),
    /// Below the directory of workspaces.
    Workspace(&'p Path),
}

impl<'p> Place<'p> {
    /// That of a path; none for what no backup has.
    pub(super) fn of(path: &'p Path) -> Option<Self> {
        // A path with `..`, a root or a second way to write it is none.
        let mut written = std::path::PathBuf::new();
        for part in path.components() {
            let Component::Normal(part) = part else { return None };
            written.push(part);
        }
        if cfg!(unix) && written.as_os_str() != path.as_os_str() {
            return None;
        }
        if let Ok(below) = path.strip_prefix(BackupPart::Workspaces.name()) {
            return Some(match below.as_os_str().is_empty() {
                true => Self::Directory(BackupPart::Workspaces),
                false => Self::Workspace(below),
            });
        }
        let ends = |name: &str, extension: &str| {
            !name.starts_with('.') && Path::new(name).extension() == Some(OsStr::new(extension))
        };
        let parts: Vec<&str> = path.to_str()?.split('/').collect();
        Some(match parts.as_slice() {
            [MANIFEST] => Self::Manifest,
            [LEFT_OUT] => Self::LeftOut,
            [LIST] => Self::List,
            [KEYRING] => Self::File(BackupPart::Keyring),
            [STATE] => Self::File(BackupPart::State),
            ["plugins"] | ["plugins", "components" | "receipts"] => Self::Directory(BackupPart::Plugins),
            ["plugins", "installed.json" | "denied.json"] => Self::File(BackupPart::Plugins),
            ["plugins", "components", name] if ends(name, "wasm") => Self::File(BackupPart::Plugins),
            ["plugins", "receipts", name] if ends(name, "json") => Self::File(BackupPart::Plugins),
            ["audit"] => Self::Directory(BackupPart::Audit),
            ["audit", name] if ends(name, "jsonl") => Self::File(BackupPart::Audit),
            ["recordings"] => Self::Directory(BackupPart::Recordings),
            ["recordings", name] if ends(name, "cast") => Self::File(BackupPart::Recordings),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_backup_has_gets_a_place() {
        for path in ["state.sqlite3", "plugins/receipts/a-1.json", "audit/x.jsonl", "workspaces/a/files/../b"] {
            assert_eq!(Place::of(Path::new(path)).is_some(), !path.contains(".."), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "../state.sqlite3",
            "plugins/../../x",
            "plugins//installed.json",
            "./state.sqlite3",
            "state.sqlite3/",
            "state.sqlite3-wal",
            "cache/x.code",
            "http-token",
            "plugins/lock",
            "plugins/components/sub/x.wasm",
            "audit/x.txt",
            "audit/.jsonl",
            "audit/sub/x.jsonl",
            "workspaces/../x",
        ] {
            assert_eq!(Place::of(Path::new(path)), None, "{path}");
        }
    }
}
