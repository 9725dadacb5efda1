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

use std::{path::Path, time::Duration};

use wharf_core::service::operator::OperatorAct;
use wharf_state::HostTime;

use crate::{
    OpenError,
    configuration::{AuditSettings, AuditSyslog, Configuration},
    recorder::Recorder,
};

/// How long a command waits for its line.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longer than any file was kept: a command looks at no clock that hosts agree on, and so removes none.
const KEPT: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Tells the audit what a command did to a data directory beside its hosts, as a line of kind `operator`: `word` says
/// what, and `to` to what. Blocks, two seconds at most.
///
/// # Errors
/// Where the key that signs, or the log server, cannot be used.
pub fn tell_operated(
    configuration: &Configuration,
    data: &Path,
    word: &'static str,
    to: impl Into<String>,
) -> Result<(), OpenError> {
    let signer = configuration.audit.signer()?;
    let copies = configuration.audit.syslog.as_ref().filter(|_| configuration.audit.enabled);
    let copies = copies.map(AuditSyslog::start).transpose()?.map(std::sync::Arc::new);
    let settings = AuditSettings { keep: KEPT, keep_files: usize::MAX, ..configuration.audit.clone() };
    let recorder =
        Recorder::open(fastrand::u64(..), (&settings, signer, copies), Some(data), None, None, HostTime::default());
    let act = OperatorAct { word, to: to.into(), bytes: 0 };
    recorder.operated(&act, &Requester::default(), AuditOutcome::Ok, None, Duration::ZERO);
    recorder.flush(PATIENCE);
    Ok(())
}
