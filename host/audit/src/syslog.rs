//! Lines as they are written, sent to a log server by the syslog protocol (RFC 5424): by datagrams (RFC 5426), by a
//! stream (RFC 6587), within TLS (RFC 5425), or to the socket of this machine.
//!
//! The libraries that we found stamp messages themselves, and frame those of a TLS stream by line breaks, which the
//! standard forbids; so the form is written here, in a page.

mod message;
mod target;

use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, SystemTime},
};

use rustls::ClientConfig;

use self::{message::MessageHead, target::Opened};
use crate::{
    copies::{CopyQueue, NextCopy},
    line::{self, Party},
};

pub use target::{InvalidSyslogAddress, SyslogAddress};

/// Pauses between attempts to reach a receiver: the first, and twice the one before up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long the end of a host waits for its last messages.
const END: Duration = Duration::from_secs(2);

/// Where messages go, and how they call their sender.
#[derive(Debug, Clone)]
pub struct SyslogSettings {
    /// The receiver.
    pub address: SyslogAddress,
    /// What kind of program sends them, by RFC 5424: from 0 to 23; 13 is for audits.
    pub facility: u8,
    /// The name of this machine.
    pub host: String,
    /// The authorities that vouch for the receiver, PEM; those of the system where absent.
    pub authority: Option<Vec<u8>>,
}

/// The authorities cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the certificates that vouch for the receiver of the audit cannot be used")]
pub struct SyslogAuthorityUnusable(#[source] rustls::Error);

/// Sends copies of lines to a log server.
pub struct Syslog {
    shared: Arc<SyslogState>,
}

struct SyslogState {
    queue: CopyQueue,
    address: SyslogAddress,
    encryption: Option<Arc<ClientConfig>>,
    head: MessageHead,
    sent: AtomicU64,
    /// Whether the last flush waited in vain.
    is_away: AtomicBool,
}

impl fmt::Debug for Syslog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Syslog").field("address", &self.shared.address).finish_non_exhaustive()
    }
}

/// How messages are encrypted, where they are.
///
/// # Errors
/// Where the authorities cannot be used.
fn encryption(settings: &SyslogSettings) -> Result<Option<Arc<ClientConfig>>, SyslogAuthorityUnusable> {
    let is_encrypted = settings.address.is_encrypted();
    let encryption = is_encrypted.then(|| target::encryption(settings.authority.as_deref()));
    encryption.transpose().map_err(SyslogAuthorityUnusable)
}

impl SyslogSettings {
    /// Whether they can be used.
    ///
    /// # Errors
    /// Where the authorities cannot.
    pub fn check(&self) -> Result<(), SyslogAuthorityUnusable> {
        encryption(self).map(drop)
    }
}

impl Syslog {
    /// Sends from now on. It connects when there is something to send, and again whenever that fails.
    ///
    /// # Errors
    /// Where the authorities cannot be used; where the system offers no thread, it says so in the log.
    pub fn start(settings: &SyslogSettings) -> Result<Self, SyslogAuthorityUnusable> {
        let shared = Arc::new(SyslogState {
            queue: CopyQueue::default(),
            address: settings.address.clone(),
            encryption: encryption(settings)?,
            head: MessageHead::new(settings.facility, &settings.host, std::process::id()),
            sent: AtomicU64::new(0),
            is_away: AtomicBool::new(false),
        });
        let sending = Arc::clone(&shared);
        let started = thread::Builder::new().name("wharf-syslog".to_owned()).spawn(move || {
            let in_hand = u64::from(!sending.send_all());
            sending.queue.end(in_hand);
        });
        if let Err(error) = started {
            tracing::error!("no line of the audit goes to the log server: its thread cannot be had: {error}");
            shared.queue.end(0);
        }
        Ok(Self { shared })
    }

    /// Takes whole lines. Returns at once.
    pub(crate) fn copy(&self, lines: &[u8]) {
        self.shared.queue.add(lines);
    }

    /// How many messages were sent, and how many lines never will be.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.shared.sent.load(Relaxed), self.shared.queue.lost())
    }

    /// Waits until what was written is sent, at most so long, and two seconds. Blocks.
    pub fn flush(&self, patience: Duration) {
        let all_sent = self.shared.queue.drain(patience.min(END));
        self.shared.is_away.store(!all_sent, Relaxed);
    }

    /// Sends what was written, and ends; waits at most two seconds for that, and not at all after a flush that
    /// waited in vain. Blocks.
    pub fn close(&self) {
        let patience = if self.shared.is_away.load(Relaxed) { Duration::ZERO } else { END };
        self.shared.queue.close(patience);
    }
}

impl SyslogState {
    /// Whether all was sent before the end.
    fn send_all(&self) -> bool {
        let mut way = None;
        while let Some(next) = self.queue.next() {
            let message = match next {
                NextCopy::Line(line) => self.head.message(&line),
                NextCopy::Lost(count) => {
                    self.head.message(line::dropped(SystemTime::now(), &Party::Operator, count).as_bytes())
                }
            };
            if !self.send(&mut way, &message) {
                return false;
            }
        }
        true
    }

    /// Sends a message, however long the receiver is away; whether it did before the end.
    fn send(&self, way: &mut Option<Opened>, message: &[u8]) -> bool {
        let mut pause = FIRST_PAUSE;
        let mut told = false;
        loop {
            let Err(error) = self.try_send(way, message) else {
                self.sent.fetch_add(1, Relaxed);
                if told {
                    tracing::info!("the log server takes lines of the audit again");
                }
                return true;
            };
            *way = None;
            if !std::mem::replace(&mut told, true) {
                tracing::warn!("the log server takes no line of the audit, so they wait: {error}");
            }
            if self.queue.rest(pause) {
                // The host ends: one more attempt.
                return self.try_send(way, message).is_ok();
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn try_send(&self, way: &mut Option<Opened>, message: &[u8]) -> io::Result<()> {
        if way.is_none() {
            *way = Some(Opened::open(&self.address, self.encryption.as_ref())?);
        }
        way.as_mut().map_or(Ok(()), |way| way.send(message))
    }
}

#[cfg(test)]
mod tests;
