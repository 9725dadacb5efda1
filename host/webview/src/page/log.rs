//! The logs of a page: rings of entries, bounded by number and bytes, that report what
//! they lost.

use std::collections::VecDeque;

use chrono::{SecondsFormat, Utc};
use serde::Serialize;
pub use wharf_contract::webview::LogName;
use wharf_contract::webview::NumberedEntry;
use wharf_core::{Share, WebViewLimits};

use crate::{PageShares, WebViewError};

/// The most entries of one answer.
const MAXIMUM_ENTRIES: usize = 1_000;

/// The log of this name.
///
/// # Errors
/// [`WebViewError::Invalid`], with the names that exist.
pub fn log_named(name: &str) -> Result<LogName, WebViewError> {
    LogName::find(name).ok_or_else(|| WebViewError::invalid("`log` is `console`, `network` or `downloads`"))
}

/// Entries of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    /// The text of a JSON array of [`NumberedEntry`]s.
    pub entries: String,
    /// The number to go on after.
    pub next: u64,
    /// How many entries after the number asked for are not kept any more.
    pub lost: u64,
}

/// A ring of entries.
#[derive(Debug)]
pub(crate) struct LogRing {
    most_entries: u64,
    most_bytes: u64,
    entries: VecDeque<String>,
    bytes: u64,
    /// As many bytes, of the quotas of session, tenant and host.
    share: Share,
    /// The number of the last entry; 0 before the first.
    last: u64,
}

impl LogRing {
    pub(crate) fn new(limits: &WebViewLimits, share: Share) -> Self {
        Self {
            most_entries: limits.log_entries,
            most_bytes: limits.log_bytes,
            entries: VecDeque::new(),
            bytes: 0,
            share,
            last: 0,
        }
    }

    /// Adds an entry, of the contract's shape for this log. Its texts have been cut.
    pub(crate) fn push(&mut self, entry: impl Serialize) {
        self.last += 1;
        let time = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        let entry = NumberedEntry { number: self.last, time, entry };
        // By way of a value, which sorts the members.
        let entry = serde_json::to_value(entry).unwrap_or_default().to_string();
        let bytes = entry.len() as u64;
        while self.entries.len() as u64 >= self.most_entries || self.bytes + bytes > self.most_bytes {
            if !self.let_go_of_oldest() {
                break;
            }
        }
        if bytes > self.most_bytes {
            return;
        }
        // Its own oldest entries make room, and nothing else does.
        while self.share.grow(bytes).is_err() {
            if !self.let_go_of_oldest() {
                return;
            }
        }
        self.bytes += bytes;
        self.entries.push_back(entry);
    }

    fn let_go_of_oldest(&mut self) -> bool {
        let Some(oldest) = self.entries.pop_front() else { return false };
        let bytes = oldest.len() as u64;
        self.bytes -= bytes;
        self.share.shrink(bytes);
        true
    }

    /// Entries after a number, the oldest first.
    pub(crate) fn page(&self, after: u64, most: usize) -> LogPage {
        // The entries that are kept are the last ones, without a gap.
        let before_first = self.last - self.entries.len() as u64;
        let from = after.clamp(before_first, self.last);
        let skipped = usize::try_from(from - before_first).unwrap_or(usize::MAX);
        let shown: Vec<&str> =
            self.entries.iter().skip(skipped).take(most.clamp(1, MAXIMUM_ENTRIES)).map(String::as_str).collect();
        LogPage {
            next: from + shown.len() as u64,
            lost: before_first.saturating_sub(after),
            entries: format!("[{}]", shown.join(",")),
        }
    }

    /// How much is kept.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The logs of one page.
#[derive(Debug)]
pub(crate) struct PageLogs {
    pub(crate) console: LogRing,
    pub(crate) network: LogRing,
    pub(crate) downloads: LogRing,
}

impl PageLogs {
    pub(crate) fn new(limits: &WebViewLimits, shares: &PageShares) -> Self {
        let ring = || LogRing::new(limits, shares.log());
        Self { console: ring(), network: ring(), downloads: ring() }
    }

    /// Lets go of every entry.
    pub(crate) fn clear(&mut self) {
        for ring in [&mut self.console, &mut self.network, &mut self.downloads] {
            while ring.let_go_of_oldest() {}
        }
    }

    pub(crate) fn of(&self, log: LogName) -> &LogRing {
        match log {
            LogName::Console => &self.console,
            LogName::Network => &self.network,
            LogName::Downloads => &self.downloads,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.console.bytes() + self.network.bytes() + self.downloads.bytes()
    }
}

#[cfg(test)]
mod tests;
