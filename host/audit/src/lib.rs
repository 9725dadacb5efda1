//! The audit of hosts, as lines of JSON in files: one line for each call
//! and for each host call of a plugin.
//!
//! Owns the format of a line, the thread that writes, rotation, and reading while
//! hosts write. Any number of hosts share a directory, and none writes into a
//! file of another. Knows nothing of callers, of grants or of configuration.

mod chain;
mod copies;
mod current_file;
mod entry;
mod files;
mod filter;
mod line;
mod read;
mod signing;
mod sink;
mod summary;
mod syslog;
mod verify;
mod writer;

pub use entry::AuditEntry;
pub use files::AuditFileOptions;
pub use filter::AuditFilter;
pub use line::{MAX_LINE_BYTES, line, stamp};
pub use read::{AuditReadError, AuditReader};
pub use signing::{AuditKey, AuditSigner, InvalidAuditKey};
pub use sink::FileSink;
pub use summary::{AuditFigures, AuditGroup, AuditSummary};
pub use syslog::{InvalidSyslogAddress, Syslog, SyslogAddress, SyslogAuthorityUnusable, SyslogSettings};
pub use verify::{AuditFinding, AuditNote, AuditVerdict, RequiredSignatures, VerifiedFile, verify};
pub use writer::AuditClock;
