//! The operator's view of a store: what its inventory does, with records and errors. It knows
//! nothing of SQL.

use std::io::{self, BufRead, Write};

use serde::Serialize;
use wharf_core::{AssistantId, BucketName, PluginName, ScopeKey, ScopeKind, SessionId, TenantId, ThreadId};

use crate::{ClockDoubt, OpenError, StateError};

/// The content of a store, for its operator, whether hosts use it or not.
///
/// It asks for no grant and knows no call: the permission to open the store is enough. A bucket
/// that expired, which a host reads as empty, does not appear.
pub trait Inventory: std::fmt::Debug {
    /// The chosen buckets, grouped by tenant, plugin and kind of scope, in this order.
    ///
    /// # Errors
    /// Storage errors.
    fn groups(&self, selection: &BucketSelection) -> Result<Vec<BucketGroup>, InventoryError>;

    /// The totals of the chosen buckets.
    ///
    /// # Errors
    /// Storage errors.
    fn totals(&self, selection: &BucketSelection) -> Result<BucketTotals, InventoryError> {
        let mut totals = BucketTotals::default();
        for group in self.groups(selection)? {
            totals.buckets += group.buckets;
            totals.entries += group.entries;
            totals.bytes += group.bytes;
        }
        Ok(totals)
    }

    /// Calls `each` with the chosen buckets, in the order of their names, as they
    /// are at one moment. Holds few of them in memory at a time.
    ///
    /// # Errors
    /// `Write` where `each` fails; storage errors.
    fn buckets(
        &self,
        selection: &BucketSelection,
        each: &mut dyn FnMut(BucketSummary) -> io::Result<()>,
    ) -> Result<(), InventoryError>;

    /// Writes the chosen buckets as they are at one moment, as the lines that
    /// [`Inventory::import`] reads. Holds few entries in memory at a time.
    ///
    /// An export has the moment at which each bucket expires, and no revisions.
    ///
    /// # Errors
    /// `Write` where `out` fails; storage errors.
    fn export(&self, selection: &BucketSelection, out: &mut dyn Write) -> Result<BucketTotals, InventoryError>;

    /// Writes the content of an export, all of it or nothing. Hosts cannot write meanwhile.
    ///
    /// Every entry gets a revision that no store ever gave: above every revision of
    /// this store, and above the number of milliseconds since 1970, which no
    /// store's own count of writes reaches. The import ignores quotas, which are the
    /// operator's own.
    ///
    /// # Errors
    /// `Import` where the export is refused; `ReadOnly` and other storage
    /// errors.
    fn import(&self, from: &mut dyn BufRead, mode: ImportMode) -> Result<ImportReport, InventoryError>;

    /// Removes the chosen buckets with their content. Works in steps
    /// between which hosts go on; one step removes a bucket as a whole.
    ///
    /// # Errors
    /// `ReadOnly` and other storage errors.
    fn clear(&self, selection: &BucketSelection) -> Result<BucketTotals, InventoryError>;

    /// Why hosts doubt the wall clock, where they do.
    ///
    /// # Errors
    /// Storage errors.
    fn clock_doubt(&self) -> Result<Option<ClockDoubt>, InventoryError>;

    /// Confirms that the wall clock is right: its time counts from now on, and buckets that
    /// are expired by it end. Running hosts learn of it at their next sweep, within
    /// minutes. Returns the doubt that this ends.
    ///
    /// # Errors
    /// `ReadOnly` and other storage errors; `ForeignClock` where a database has the say.
    fn confirm_clock(&self) -> Result<Option<ClockDoubt>, InventoryError>;
}

/// Selects the buckets that match every given part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BucketSelection {
    /// Of this tenant.
    pub tenant: Option<TenantId>,
    /// Of this plugin.
    pub plugin: Option<PluginName>,
    /// Of this scope.
    pub kind: Option<ScopeKind>,
    /// Of this session: its own state and that of its threads.
    pub session: Option<SessionId>,
    /// Of this assistant: its own state and that of its threads.
    pub assistant: Option<AssistantId>,
    /// Of this thread.
    pub thread: Option<ThreadId>,
    /// Of this name.
    pub bucket: Option<BucketName>,
}

impl BucketSelection {
    /// Its parts, in the order of [`ScopeKey::parts`]; none for any.
    #[must_use]
    pub fn parts(&self) -> [Option<&str>; 7] {
        let Self { tenant, plugin, kind, session, assistant, thread, bucket } = self;
        [
            tenant.as_ref().map(|id| id.as_str()),
            plugin.as_ref().map(|id| id.as_str()),
            kind.map(ScopeKind::as_str),
            session.as_ref().map(|id| id.as_str()),
            assistant.as_ref().map(|id| id.as_str()),
            thread.as_ref().map(|id| id.as_str()),
            bucket.as_ref().map(|id| id.as_str()),
        ]
    }
}

/// All buckets of one tenant, plugin and kind of scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BucketGroup {
    /// The tenant that owns them.
    pub tenant: TenantId,
    /// The plugin that wrote them.
    pub plugin: PluginName,
    /// The part of the context that keys them.
    pub kind: ScopeKind,
    /// Number of buckets with content.
    pub buckets: u64,
    /// Their entries.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// Entries of the bucket that has most.
    pub most_entries: u64,
    /// Bytes of the bucket that has most.
    pub most_bytes: u64,
}

/// One bucket with content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BucketSummary {
    /// Its name.
    #[serde(flatten)]
    pub scope: ScopeKey,
    /// Its entries.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// When it expires unless a call uses it before, as RFC 3339 in UTC; none for
    /// never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// Totals of the buckets that were listed, exported, imported or cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BucketTotals {
    /// Number of buckets with content.
    pub buckets: u64,
    /// Their entries.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
}

impl BucketTotals {
    pub(crate) fn add(&mut self, entries: u64, bytes: u64) {
        self.buckets += 1;
        self.entries += entries;
        self.bytes += bytes;
    }
}

/// What [`crate::Inventory::import`] does where a bucket has content already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImportMode {
    /// Refuses the whole import.
    #[default]
    Refuse,
    /// Replaces its content.
    Replace,
}

/// The outcome of [`crate::Inventory::import`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// The buckets that were written.
    pub written: BucketTotals,
    /// Number of buckets whose former content was replaced.
    pub replaced: u64,
    /// Number of buckets that the import left out because they expired since the export.
    pub expired: u64,
}

/// Why the operator's work on a store failed. Unless a variant says otherwise, the store
/// is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InventoryError {
    /// The directory has no store.
    #[error("there is no state in {}; name the directory of the state with --data", path.display())]
    Absent {
        /// The directory.
        path: std::path::PathBuf,
    },
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database server cannot be used.
    #[error(transparent)]
    Server(Box<dyn std::error::Error + Send + Sync>),
    /// Expiry is judged by the clock of a database server.
    #[error(
        "the state is on a database server, and what expires does so by the server's clock and the host's own, \
         whichever says less; there is nothing to confirm: set the clock that is wrong"
    )]
    ForeignClock,
    /// The store failed. Buckets that a `clear` had already removed stay
    /// removed.
    #[error(transparent)]
    State(#[from] StateError),
    /// The listing or export cannot be written.
    #[error("the output cannot be written")]
    Write(#[source] std::io::Error),
    /// The import is refused.
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl ImportError {
    /// A key that a bucket has already.
    #[must_use]
    pub fn twice(line: u64, key: &str) -> Self {
        Self::Line { line, problem: format!("the key {key:?} is there twice") }
    }
}

/// Why an export is not imported. The store is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It cannot be read.
    #[error("the export cannot be read; nothing was imported")]
    Read(#[source] std::io::Error),
    /// It is a file of another kind.
    #[error(
        "this is no export of Wharf's state: its first line is not {{\"format\":\"wharf-state\",…}}; nothing was imported"
    )]
    Foreign,
    /// It was written by a later version.
    #[error(
        "the export has version {found} and this version of Wharf reads versions up to {known}; nothing was imported. \
         Use the version that wrote it"
    )]
    Newer {
        /// Its version.
        found: u32,
        /// The latest one that this version reads.
        known: u32,
    },
    /// It ends too early.
    #[error(
        "the export is cut: it has {lines} lines and the last one is not the one that ends it; nothing was imported. \
         Export again"
    )]
    Cut {
        /// Number of its lines.
        lines: u64,
    },
    /// A line is not legal at its place in an export.
    #[error("line {line} of the export is not usable: {problem}; nothing was imported")]
    Line {
        /// Number of the line, counted from 1.
        line: u64,
        /// The problem with it.
        problem: String,
    },
    /// A bucket has content already.
    #[error(
        "{} has content already; nothing was imported. Replace what buckets of the export hold with --replace, or \
         clear it first",
        named(scope)
    )]
    Occupied {
        /// The first such bucket.
        scope: Box<ScopeKey>,
    },
}

/// A bucket in words.
fn named(scope: &ScopeKey) -> String {
    let mut text = format!("bucket {} of plugin {}, tenant {}", scope.bucket, scope.plugin, scope.tenant);
    let ids = [
        ("session", scope.session.as_ref().map(SessionId::as_str)),
        ("assistant", scope.assistant.as_ref().map(AssistantId::as_str)),
        ("thread", scope.thread.as_ref().map(ThreadId::as_str)),
    ];
    for (what, id) in ids {
        if let Some(id) = id {
            text.push_str(&format!(", {what} {id}"));
        }
    }
    text
}
