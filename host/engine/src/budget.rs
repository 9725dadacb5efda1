//! How much of its limits one call has used.
//!
//! Shared by the store, the standard streams and the future that drives the
//! call, so it is made of atomics. One thread at a time runs a call, and all
//! of these are plain counters: relaxed ordering suffices.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use wharf_core::{CallLimits, Code, Error, QuotaFull};

/// A guest whose workspace is full may try so many writes more: it can clean up and say so.
/// The next write ends the call.
const REFUSED_WRITES: u64 = 16;

/// A limit that ends the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExceededLimit {
    #[error("the call made more than {0} host calls (limit `host_calls`)")]
    Calls(u64),
    #[error("one host call moved more than {0} bytes (limit `host_call_bytes`)")]
    BytesAtOnce(u64),
    #[error("the host calls of this call moved more than {0} bytes (limit `host_call_total_bytes`)")]
    TotalBytes(u64),
    #[error("it went on writing where nothing more fits: {0}")]
    Full(QuotaFull),
    #[error("{0}")]
    Handles(QuotaFull),
}

impl From<ExceededLimit> for Error {
    fn from(exceeded: ExceededLimit) -> Self {
        let error = Self::new(Code::Limit, format!("the tool was stopped: {exceeded}"));
        match exceeded {
            // What fills it may go.
            ExceededLimit::Full(_) | ExceededLimit::Handles(_) => Self { retryable: true, ..error },
            ExceededLimit::Calls(_) | ExceededLimit::BytesAtOnce(_) | ExceededLimit::TotalBytes(_) => error,
        }
    }
}

/// Counters of one call.
#[derive(Debug)]
pub(crate) struct CallBudget {
    host_calls: AtomicU64,
    host_bytes: AtomicU64,
    guest_bytes: AtomicU64,
    events: AtomicU64,
    log_lines: AtomicU64,
    refused_writes: AtomicU64,
    /// The limit that the first of them would have broken.
    full: OnceLock<QuotaFull>,
    max_host_calls: u64,
    max_host_call_bytes: u64,
    max_host_bytes: u64,
    max_events: u64,
    max_log_lines: u64,
}

impl CallBudget {
    pub(crate) fn new(limits: &CallLimits) -> Self {
        Self {
            host_calls: AtomicU64::new(0),
            host_bytes: AtomicU64::new(0),
            guest_bytes: AtomicU64::new(0),
            events: AtomicU64::new(0),
            log_lines: AtomicU64::new(0),
            refused_writes: AtomicU64::new(0),
            full: OnceLock::new(),
            max_host_calls: limits.host_calls,
            max_host_call_bytes: limits.host_call_bytes,
            max_host_bytes: limits.host_call_total_bytes,
            max_events: limits.events,
            max_log_lines: limits.log_lines,
        }
    }

    /// Counts a host call that brings `bytes` of data from the guest.
    pub(crate) fn host_call(&self, bytes: u64) -> Result<(), ExceededLimit> {
        if self.host_calls.fetch_add(1, Relaxed) >= self.max_host_calls {
            return Err(ExceededLimit::Calls(self.max_host_calls));
        }
        self.guest_bytes.fetch_add(bytes, Relaxed);
        self.moved(bytes)
    }

    /// Counts data that a host call moved, in either direction.
    pub(crate) fn moved(&self, bytes: u64) -> Result<(), ExceededLimit> {
        if bytes > self.max_host_call_bytes {
            return Err(ExceededLimit::BytesAtOnce(self.max_host_call_bytes));
        }
        self.grew(bytes)
    }

    /// Counts what a host call made of little data, such as a longer file.
    pub(crate) fn grew(&self, bytes: u64) -> Result<(), ExceededLimit> {
        if self.host_bytes.fetch_add(bytes, Relaxed).saturating_add(bytes) > self.max_host_bytes {
            return Err(ExceededLimit::TotalBytes(self.max_host_bytes));
        }
        Ok(())
    }

    /// Counts data that the guest writes to a file.
    pub(crate) fn wrote(&self, bytes: u64) -> Result<(), ExceededLimit> {
        self.guest_bytes.fetch_add(bytes, Relaxed);
        self.moved(bytes)
    }

    /// Counts a write that was refused because nothing more fits.
    pub(crate) fn refused_write(&self, full: QuotaFull) -> Result<(), ExceededLimit> {
        self.full.get_or_init(|| full);
        if self.refused_writes.fetch_add(1, Relaxed).saturating_add(1) < REFUSED_WRITES {
            return Ok(());
        }
        Err(ExceededLimit::Full(full))
    }

    /// The limit for which a write of the call was refused.
    pub(crate) fn full(&self) -> Option<&QuotaFull> {
        self.full.get()
    }

    /// Counts a host call of WASI, which has no way to end the guest itself;
    /// [`Self::exceeded`] tells afterwards.
    pub(crate) fn wasi_call(&self) {
        self.host_calls.fetch_add(1, Relaxed);
    }

    /// What was exceeded by calls that could not say so themselves.
    pub(crate) fn exceeded(&self) -> Option<ExceededLimit> {
        if self.host_calls.load(Relaxed) > self.max_host_calls {
            return Some(ExceededLimit::Calls(self.max_host_calls));
        }
        (self.host_bytes.load(Relaxed) > self.max_host_bytes).then_some(ExceededLimit::TotalBytes(self.max_host_bytes))
    }

    /// How many bytes came from the guest, and how many host calls moved in
    /// both directions.
    pub(crate) fn traffic(&self) -> (u64, u64) {
        (self.guest_bytes.load(Relaxed), self.host_bytes.load(Relaxed))
    }

    /// How many bytes a read may return now.
    pub(crate) fn readable_bytes(&self) -> u64 {
        self.max_host_call_bytes.min(self.max_host_bytes.saturating_sub(self.host_bytes.load(Relaxed)))
    }

    /// Counts an event; the error is the guest's.
    pub(crate) fn event(&self) -> Result<(), Error> {
        if self.events.fetch_add(1, Relaxed) < self.max_events {
            return Ok(());
        }
        Err(Error::new(Code::Limit, format!("this call has sent its {} events (limit `events`)", self.max_events)))
    }

    /// Counts a log line; false where it is to be dropped.
    pub(crate) fn log_line(&self) -> bool {
        self.log_lines.fetch_add(1, Relaxed) < self.max_log_lines
    }

    /// How many log lines were dropped.
    pub(crate) fn dropped_log_lines(&self) -> u64 {
        self.log_lines.load(Relaxed).saturating_sub(self.max_log_lines)
    }
}
