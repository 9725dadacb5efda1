//! The errors of state, and what a guest learns of each.

use std::path::PathBuf;

use wharf_core::{Code, Error, PluginName};

use crate::rules::{MAX_CHANGES, MAX_KEY_BYTES, MAX_KEYS, MAX_VALUE_BYTES};

/// Why a call on a store failed. Unless a variant says otherwise, the call changed nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A key does not have the revision that a change expects.
    #[error("{}", conflict(key, *expected, *found))]
    Conflict {
        /// The first such key of the batch.
        key: String,
        /// The revision that the change expects; 0 for absent.
        expected: u64,
        /// The revision of the key; 0 for absent.
        found: u64,
    },
    /// One read names too many keys.
    #[error("one call reads at most {MAX_KEYS} keys, this one names {given}; split it")]
    TooManyKeys {
        /// Number of keys.
        given: usize,
    },
    /// One batch holds too many changes.
    #[error("one call makes at most {MAX_CHANGES} changes, this one has {given}; split it")]
    TooManyChanges {
        /// Number of changes.
        given: usize,
    },
    /// A key, prefix or `after` is empty or too long.
    #[error("keys are 1 to {MAX_KEY_BYTES} bytes of UTF-8; {shown:?} has {length}")]
    IllegalKey {
        /// Its beginning.
        shown: String,
        /// Its length in bytes.
        length: usize,
    },
    /// A value is too long.
    #[error("a value is at most {MAX_VALUE_BYTES} bytes; that of {key:?} has {length}: store it in chunks")]
    ValueTooLarge {
        /// The key of the value.
        key: String,
        /// The value's length in bytes.
        length: usize,
    },
    /// One batch changes a key twice.
    #[error("the key {key:?} is given twice in one call; keep one of the changes")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// The scope would hold more bytes than its quota.
    #[error(
        "the bucket holds {used} of {quota} bytes and this change would make it {wanted}; delete entries worth {} \
         bytes first, or have the operator raise `quota_bytes` under [plugin.{plugin}.grants.state]",
        wanted - quota
    )]
    QuotaBytes {
        /// The plugin whose grant sets the quota.
        plugin: PluginName,
        /// Bytes before the change.
        used: u64,
        /// Bytes after it.
        wanted: u64,
        /// Bytes allowed.
        quota: u64,
    },
    /// The scope would hold more entries than its quota.
    #[error(
        "the bucket holds {used} of {quota} entries and this change would make it {wanted}; delete {} first, or have \
         the operator raise `quota_entries` under [plugin.{plugin}.grants.state]",
        wanted - quota
    )]
    QuotaEntries {
        /// The plugin whose grant sets the quota.
        plugin: PluginName,
        /// Entries before the change.
        used: u64,
        /// Entries after it.
        wanted: u64,
        /// Entries allowed.
        quota: u64,
    },
    /// The tenant would have too many scopes with content.
    #[error(
        "all {ceiling} buckets that one tenant may have are in use; empty one, use one that exists, wait until idle \
         ones expire, or have the operator raise `scopes_per_tenant` under [host.limits]"
    )]
    TenantScopes {
        /// Scopes allowed.
        ceiling: u64,
    },
    /// The tenant would hold too many bytes.
    #[error(
        "the state of this tenant holds {used} of {ceiling} bytes and this change would make it {wanted}; delete \
         entries, wait until idle buckets expire, or have the operator raise `state_bytes_per_tenant` under \
         [host.limits]"
    )]
    TenantBytes {
        /// Bytes before the change.
        used: u64,
        /// Bytes after it.
        wanted: u64,
        /// Bytes allowed.
        ceiling: u64,
    },
    /// The store would hold too many bytes. The message has no figures, which would
    /// tell the guest what other tenants hold.
    #[error(
        "the state of all tenants reached its ceiling; delete entries, wait until idle buckets expire, or have the \
         operator raise `state_bytes` under [host.limits]"
    )]
    HostBytes {
        /// Bytes allowed.
        ceiling: u64,
    },
    /// The values of one read exceed its bound.
    #[error("the values exceed the {max_bytes} bytes that one call may read; ask for fewer keys")]
    ReadTooLarge {
        /// Bytes allowed.
        max_bytes: u64,
    },
    /// The time of the call ended before the writer began it.
    #[error("the state store was busy until the time for this call ended, and nothing was written; try again")]
    Busy,
    /// The disk has no space left.
    #[error("the disk that holds the state is full, and nothing was written; have the operator make room on it")]
    Full,
    /// The store may be read only.
    #[error(
        "the state can only be read: its directory or file is read-only, and nothing was written; have the operator \
         allow writing to the data directory"
    )]
    ReadOnly,
    /// The disk refuses to read or write.
    #[error("the disk that holds the state failed or is full; have the operator look into the host's log")]
    Disk {
        /// The database's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The stored data contradicts itself.
    #[error("the state store is damaged; have the operator restore the data directory from a backup")]
    Damaged {
        /// The database's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The database failed in another way.
    #[error("the state store failed; try again, and have the operator look into the host's log")]
    Failed {
        /// The database's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server that holds the state cannot be reached, or takes no requests now.
    #[error("the database that holds the state cannot be reached, and nothing was written; try again in a while")]
    Unreachable {
        /// The connection's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store was shut down, its writer ended, or its connection broke, before it answered.
    /// The change may have been made.
    #[error("the state store stopped before it answered; read again before you repeat the change")]
    Stopped,
}

fn conflict(key: &str, expected: u64, found: u64) -> String {
    let state = match found {
        0 => "does not exist".to_owned(),
        found => format!("has revision {found}"),
    };
    match expected {
        0 => format!("the key {key:?} was to be absent and {state}; read it again and decide anew"),
        expected => {
            format!("the key {key:?} was to have revision {expected} and {state}; read it again and decide anew")
        }
    }
}

impl StateError {
    /// What this error of the database means.
    pub(crate) fn of_database(error: rusqlite::Error) -> Self {
        use rusqlite::ffi::ErrorCode as Sqlite;
        let code = error.sqlite_error_code();
        let source = Box::new(error);
        match code {
            Some(Sqlite::DatabaseBusy | Sqlite::DatabaseLocked) => Self::Busy,
            Some(Sqlite::DiskFull) => Self::Full,
            Some(Sqlite::ReadOnly) => Self::ReadOnly,
            Some(Sqlite::SystemIoFailure) => Self::Disk { source },
            Some(Sqlite::DatabaseCorrupt | Sqlite::NotADatabase) => Self::Damaged { source },
            _ => Self::Failed { source },
        }
    }
}

impl From<StateError> for Error {
    fn from(error: StateError) -> Self {
        let message = error.to_string();
        match error {
            StateError::Conflict { .. } => Self::retryable(Code::Conflict, message),
            StateError::TooManyKeys { .. }
            | StateError::TooManyChanges { .. }
            | StateError::IllegalKey { .. }
            | StateError::ValueTooLarge { .. }
            | StateError::DuplicateKey { .. } => Self::new(Code::Invalid, message),
            StateError::QuotaBytes { .. }
            | StateError::QuotaEntries { .. }
            | StateError::TenantScopes { .. }
            | StateError::TenantBytes { .. }
            | StateError::HostBytes { .. }
            | StateError::ReadTooLarge { .. } => Self::new(Code::Limit, message),
            StateError::Busy => Self::retryable(Code::Timeout, message),
            StateError::Full
            | StateError::ReadOnly
            | StateError::Disk { .. }
            | StateError::Damaged { .. }
            | StateError::Failed { .. }
            | StateError::Unreachable { .. }
            | StateError::Stopped => Self::retryable(Code::Unavailable, message),
        }
    }
}

/// Why a store on disk cannot be opened. For the operator: it names paths.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The data directory cannot be created.
    #[error("cannot make the data directory {}; choose another one with --data, or allow writing there", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is no SQLite database.
    #[error(
        "{} is not a database; move it away, or choose another data directory with --data (one that is encrypted needs \
         its key under [encryption])",
        path.display()
    )]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is in the clear, and should be encrypted.
    #[error(
        "{} is in the clear, and [encryption] is on; `wharf state rekey` encrypts it, once no host uses it",
        path.display()
    )]
    InClear {
        /// The file.
        path: PathBuf,
    },
    /// None of the keys opens the file.
    #[error("no key of this data directory opens {}; restore a backup, or choose another one with --data", path.display())]
    OtherKey {
        /// The file.
        path: PathBuf,
    },
    /// The keys of the store cannot be had.
    #[error("the keys of the state cannot be had")]
    Keys(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another process uses the store, and must not for this.
    #[error("another process uses {}; stop the hosts of this data directory first", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another program.
    #[error("{} is a database of another program; choose another data directory with --data", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a later version.
    #[error(
        "{} has layout {found} and this version of Wharf knows layouts up to {known}; use the version that wrote it, \
         or choose another data directory with --data",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The latest layout that this version knows.
        known: i64,
    },
    /// The database cannot be opened or set up.
    #[error("cannot open the state in {}", path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: StateError,
    },
}
