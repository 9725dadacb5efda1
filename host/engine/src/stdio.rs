//! Standard output and standard error of a guest: lines in the operator's log,
//! never bytes on the client's stream.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi_io::{
    poll::Pollable,
    streams::{OutputStream, StreamError, StreamResult},
};
use wharf_contract::log::Level;
use wharf_core::text;

use crate::call::ActiveCall;

/// Longer lines are cut.
const MAX_LINE_BYTES: usize = 8 << 10;
/// How much a guest may write at a time.
const WRITE_BYTES: usize = 64 << 10;

impl ActiveCall {
    /// Writes one line to the operator's log, unless the call has written its share.
    pub(crate) fn log(&self, level: &str, message: &str) {
        if self.is_in_worker() {
            return self.log_in_host(level, message);
        }
        if !self.budget.log_line() {
            return;
        }
        let message = text::line(message, MAX_LINE_BYTES);
        let (plugin, session) = (&self.plugin, &self.context().session);
        match Level::from_word(level) {
            Level::Trace => tracing::trace!(target: "wharf::plugin", %plugin, %session, "{message}"),
            Level::Debug => tracing::debug!(target: "wharf::plugin", %plugin, %session, "{message}"),
            Level::Info => tracing::info!(target: "wharf::plugin", %plugin, %session, "{message}"),
            Level::Warn => tracing::warn!(target: "wharf::plugin", %plugin, %session, "{message}"),
            Level::Error => tracing::error!(target: "wharf::plugin", %plugin, %session, "{message}"),
        }
    }
}

impl Drop for ActiveCall {
    /// The standard streams hold the call, so their last lines are counted by now.
    fn drop(&mut self) {
        let dropped = self.budget.dropped_log_lines();
        if dropped > 0 {
            let (plugin, session) = (&self.plugin, &self.context().session);
            tracing::warn!(
                target: "wharf::plugin", %plugin, %session,
                "{dropped} log lines of one call were dropped (limit `log_lines`)"
            );
        }
    }
}

/// One standard stream: cuts the bytes into lines.
struct LogLines {
    call: Arc<ActiveCall>,
    level: &'static str,
    // Every handle of the guest to this stream writes to the same line. Held
    // for a copy of at most one line.
    unfinished: Mutex<Vec<u8>>,
}

impl LogLines {
    fn write(&self, bytes: &[u8]) {
        let mut unfinished = self.unfinished.lock();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            keep(&mut unfinished, &rest[..end]);
            self.call.log(self.level, &String::from_utf8_lossy(&unfinished));
            unfinished.clear();
            rest = &rest[end + 1..];
        }
        keep(&mut unfinished, rest);
    }
}

/// Appends what fits into a line; the rest of an overlong one is dropped.
fn keep(line: &mut Vec<u8>, bytes: &[u8]) {
    let room = MAX_LINE_BYTES.saturating_sub(line.len());
    line.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

impl Drop for LogLines {
    fn drop(&mut self) {
        let unfinished = std::mem::take(self.unfinished.get_mut());
        if !unfinished.is_empty() {
            self.call.log(self.level, &String::from_utf8_lossy(&unfinished));
        }
    }
}

/// A handle to one standard stream.
#[derive(Clone)]
pub(crate) struct StandardStream(Arc<LogLines>);

impl StandardStream {
    pub(crate) fn output(call: &Arc<ActiveCall>) -> Self {
        Self::new(call, "info")
    }

    pub(crate) fn errors(call: &Arc<ActiveCall>) -> Self {
        Self::new(call, "warn")
    }

    fn new(call: &Arc<ActiveCall>, level: &'static str) -> Self {
        Self(Arc::new(LogLines { call: Arc::clone(call), level, unfinished: Mutex::default() }))
    }
}

impl IsTerminal for StandardStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for StandardStream {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        // Only WASI 0.3 asks for this one, and it is not linked.
        Box::new(tokio::io::sink())
    }
}

#[async_trait::async_trait]
impl Pollable for StandardStream {
    async fn ready(&mut self) {}
}

#[async_trait::async_trait]
impl OutputStream for StandardStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let budget = &self.0.call.budget;
        budget.moved(bytes.len() as u64).map_err(|exceeded| StreamError::Trap(wasmtime::Error::new(exceeded)))?;
        self.0.write(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES)
    }
}
