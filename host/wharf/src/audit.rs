//! What happened: one record for each call and for each thing that a plugin
//! asked the host for.
//!
//! A host that keeps data writes them as lines below its data directory, which
//! [`AuditReader`] reads again; an app takes them itself by
//! [`HostBuilder::audit`](crate::HostBuilder::audit):
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::{Arc, Mutex};
//!
//! use wharf::{
//!     CallRequest, Configuration, Context, Host, TenantId,
//!     audit::{AuditRecord, AuditSink, line},
//! };
//!
//! #[derive(Default)]
//! struct Lines(Mutex<Vec<String>>);
//!
//! impl AuditSink for Lines {
//!     fn record(&self, record: AuditRecord) {
//!         self.0.lock().expect("nobody panics here").push(line(&record));
//!     }
//! }
//!
//! let lines = Arc::new(Lines::default());
//! let host = Host::builder(Configuration::default()).audit(lines.clone()).open().await?;
//! let context = Context::new(TenantId::local(), "my-session".parse()?);
//! let refused = host.call(CallRequest::new(context, "nobody__has_this", Default::default())).await;
//! assert!(refused.is_err());
//! assert!(lines.0.lock().expect("nobody panics here")[0].contains(r#""outcome":"not-found""#));
//! # Ok(())
//! # }
//! ```

pub use wharf_audit::{
    AuditEntry, AuditFigures, AuditFilter, AuditFinding, AuditGroup, AuditKey, AuditNote, AuditReadError, AuditReader,
    AuditSummary, AuditVerdict, InvalidAuditKey, RequiredSignatures, VerifiedFile, line, stamp, verify,
};
pub use wharf_core::audit::{
    AuditAddresses, AuditId, AuditInterest, AuditKind, AuditOutcome, AuditRecord, AuditSink, AuditSubject, Replaced,
    Requester, shown,
};

pub use crate::recorder::audit_directory as directory;
