//! The browser's standard error, and what it tells about a browser that ended before it
//! answered.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader},
    task::JoinHandle,
    time::timeout,
};

use crate::error::ChromiumError;

/// How many lines are kept for an error, and how many bytes of each.
const LINES: usize = 20;
const LINE_BYTES: u64 = 1_000;

/// Keeps the last lines that the browser wrote.
#[derive(Debug)]
pub(super) struct BrowserOutput {
    said: Arc<Mutex<VecDeque<String>>>,
    listening: JoinHandle<()>,
}

impl BrowserOutput {
    /// Reads until the browser writes no more.
    pub(super) fn follow(errors: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let said = Arc::default();
        let listening = tokio::spawn(listen(errors, Arc::clone(&said)));
        Self { said, listening }
    }

    /// Why the browser ended. Waits at most `patience` for its last words.
    pub(super) async fn why_it_ended(self, patience: Duration) -> ChromiumError {
        let _ = timeout(patience, self.listening).await;
        let said: Vec<_> = self.said.lock().iter().cloned().collect();
        why_by_what_it_said(&said)
    }
}

async fn listen(errors: impl AsyncRead + Unpin, said: Arc<Mutex<VecDeque<String>>>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut errors).take(LINE_BYTES).read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let text = wharf_core::text::line(&String::from_utf8_lossy(&line), 300);
        tracing::debug!(text, "the browser says");
        let mut said = said.lock();
        if said.len() == LINES {
            said.pop_front();
        }
        said.push_back(text);
    }
}

/// What Chromium writes when the system refuses its sandbox. A browser that was killed,
/// or that found no memory while it made its sandbox, names the sandbox in other words.
const REFUSED: [&str; 6] = [
    "no usable sandbox",
    "failed to move to new namespace",
    "suid sandbox helper binary",
    "without --no-sandbox is not supported",
    "zygote_host_impl_linux.cc",
    "credentials.cc",
];
/// What the system says when it is out of resources for the moment.
const NO_ROOM: [&str; 3] = ["resource temporarily unavailable", "cannot allocate memory", "too many open files"];

fn why_by_what_it_said(said: &[String]) -> ChromiumError {
    let lower: Vec<_> = said.iter().map(|line| line.to_lowercase()).collect();
    let is_busy = lower.iter().any(|line| NO_ROOM.iter().any(|sign| line.contains(sign)));
    let of_the_sandbox = lower.iter().position(|line| REFUSED.iter().any(|sign| line.contains(sign)));
    match of_the_sandbox.filter(|_| !is_busy).and_then(|place| said.get(place)) {
        Some(line) => ChromiumError::Sandbox { reason: line.clone() },
        None => ChromiumError::Ended { said: said.join("; ") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_of_the_sandbox(said: &[&str]) -> bool {
        let said: Vec<_> = said.iter().map(|line| (*line).to_owned()).collect();
        matches!(why_by_what_it_said(&said), ChromiumError::Sandbox { .. })
    }

    #[test]
    fn a_browser_that_ended_for_another_reason_is_not_told_to_lack_its_sandbox() {
        for refused in [
            "[1:1:FATAL:content/browser/zygote_host/zygote_host_impl_linux.cc:128] No usable sandbox! If you are running on Ubuntu 23.10+",
            "Failed to move to new namespace: PID namespaces supported, Network namespace supported, but failed: errno = Operation not permitted",
            "[1:1:FATAL:zygote_host_impl_linux.cc(207)] Check failed: . : Operation not permitted (1)",
            "[1:1:ERROR:zygote_host_impl_linux.cc(101)] Running as root without --no-sandbox is not supported.",
            "[2:2:FATAL:credentials.cc(131)] Check failed: . : Permission denied (13)",
        ] {
            assert!(is_of_the_sandbox(&["[1:1:ERROR:dbus] no bus", refused]), "{refused}");
        }
        for busy in [
            &[][..],
            &[
                "[1:1:WARNING:sandbox_linux.cc(436)] InitializeSandbox() called with multiple threads in process gpu-process.",
            ],
            &[
                "[1:1:ERROR:gpu_process_host.cc(981)] GPU process launch failed: error_code=1002",
                "the sandbox IPC channel closed",
            ],
            &["[1:1:FATAL:zygote_host_impl_linux.cc(207)] Check failed: . : Resource temporarily unavailable (11)"],
            &["[1:1:FATAL:zygote_host_impl_linux.cc(207)] Check failed: .", "fork: Cannot allocate memory"],
        ] {
            assert!(!is_of_the_sandbox(busy), "{busy:?}");
        }
    }
}
