//! A client of the browser's protocol over a pair of pipes: commands and their answers,
//! and events as they come.
//!
//! One task reads; a sender writes as much as the browser takes at once (see
//! [`Outbox`]), so no caller waits for the answer to another one. Knows nothing of
//! pages.

mod outbox;

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio::{
    io::AsyncReadExt as _,
    net::unix::pipe,
    sync::{oneshot, watch},
};

use crate::message::{self, CommandRefusal, CutMessage, MessageCutter, ProtocolCommand, ProtocolMessage};
use outbox::Outbox;

/// How much is read at once.
const READ_BYTES: usize = 64 << 10;

/// Why a command has no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum CallError {
    /// The browser refused the command.
    #[error("{0}")]
    Refused(String),
    /// The browser is gone.
    #[error("the browser ended")]
    Gone,
    /// The session that was to carry it out is gone.
    #[error("what was asked is not there any more")]
    Left,
    /// The answer is larger than the limit.
    #[error("the answer of the browser is larger than may be")]
    TooLarge,
    /// The answer has another form than expected.
    #[error("the browser answered with something else than was asked for")]
    Unexpected,
    /// No answer came in time.
    #[error("the browser did not answer in time")]
    Late,
}

/// An event of the browser.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event<'a> {
    pub(crate) session: Option<&'a str>,
    pub(crate) method: &'a str,
    params: &'a str,
}

impl Event<'_> {
    /// Its parameters; none where they have another form.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        let read = message::read(self.params);
        if let Err(error) = &read {
            tracing::debug!(method = self.method, %error, "an event of the browser cannot be read");
        }
        read.ok()
    }

    /// How long its text is.
    pub(crate) fn bytes(&self) -> usize {
        self.params.len()
    }
}

/// Hears events on the task that reads: it must be quick and must not wait.
pub(crate) trait EventListener: Send + Sync + 'static {
    /// Whether the console of this session is ignored.
    fn is_deaf(&self, session: &str) -> bool;

    fn hear(&self, event: Event<'_>);
}

/// The way to a browser.
#[derive(Debug)]
pub(crate) struct BrowserConnection {
    next: AtomicU64,
    // Not async locks: held for a look-up.
    pending: Arc<Mutex<HashMap<u64, PendingCall>>>,
    outbox: Arc<Outbox>,
    open: watch::Receiver<bool>,
}

type CallAnswer = Result<Box<RawValue>, CallError>;

#[derive(Debug)]
struct PendingCall {
    session: Option<String>,
    answer: oneshot::Sender<CallAnswer>,
}

impl BrowserConnection {
    /// Speaks over these pipes until the browser closes its end.
    pub(crate) fn new(
        writer: pipe::Sender,
        reader: pipe::Receiver,
        most_bytes: usize,
        listener: Arc<dyn EventListener>,
    ) -> Self {
        let (says_open, open) = watch::channel(true);
        let pending = Arc::new(Mutex::new(HashMap::new()));
        let outbox = Arc::new(Outbox::new(writer));
        tokio::spawn(outbox::empty(Arc::downgrade(&outbox)));
        tokio::spawn(read(reader, MessageCutter::new(most_bytes), Arc::clone(&pending), listener, says_open));
        Self { next: AtomicU64::new(1), pending, outbox, open }
    }

    /// Sends a command. It is on its way when this returns, behind all that were sent
    /// before; dropping the call forgets its answer.
    pub(crate) fn call<P: Serialize>(&self, session: Option<&str>, method: &str, params: &P) -> Call {
        let id = self.next.fetch_add(1, Relaxed);
        let (answer, answered) = oneshot::channel();
        let pending = PendingCall { session: session.map(str::to_owned), answer };
        lock(&self.pending).insert(id, pending);
        let sent = self.send(&ProtocolCommand { id, method, params, session_id: session });
        if !sent || !*self.open.borrow() {
            // Dropping its sender answers the call.
            lock(&self.pending).remove(&id);
        }
        Call { id, answered, pending: Arc::clone(&self.pending) }
    }

    /// Sends a command and ignores its answer.
    pub(crate) fn post<P: Serialize>(&self, session: Option<&str>, method: &str, params: &P) {
        let id = self.next.fetch_add(1, Relaxed);
        self.send(&ProtocolCommand { id, method, params, session_id: session });
    }

    /// Fails all pending calls of a session that is gone.
    pub(crate) fn forget(&self, session: &str) {
        let of_it = |_: &u64, pending: &mut PendingCall| pending.session.as_deref() == Some(session);
        let asked = lock(&self.pending).extract_if(of_it).collect::<Vec<_>>();
        for (_, pending) in asked {
            let _ = pending.answer.send(Err(CallError::Left));
        }
    }

    /// Waits until the browser has closed its end.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut open = self.open.clone();
        async move {
            let _ = open.wait_for(|open| !open).await;
        }
    }

    fn send<P: Serialize>(&self, command: &ProtocolCommand<'_, P>) -> bool {
        let Ok(mut bytes) = serde_json::to_vec(command) else { return false };
        bytes.push(0);
        self.outbox.send(bytes)
    }
}

/// A command on its way.
#[derive(Debug)]
pub(crate) struct Call {
    id: u64,
    answered: oneshot::Receiver<CallAnswer>,
    pending: Arc<Mutex<HashMap<u64, PendingCall>>>,
}

impl Call {
    /// The browser's answer.
    pub(crate) async fn read<T: DeserializeOwned>(self) -> Result<T, CallError> {
        message::read(self.await?.get()).map_err(|error| {
            tracing::debug!(%error, "an answer of the browser cannot be read");
            CallError::Unexpected
        })
    }

    /// As [`Call::read`], for at most `patience`.
    pub(crate) async fn read_within<T: DeserializeOwned>(self, patience: Duration) -> Result<T, CallError> {
        tokio::time::timeout(patience, self.read()).await.unwrap_or(Err(CallError::Late))
    }

    /// Waits until it is carried out, for at most `patience`.
    pub(crate) async fn done_within(self, patience: Duration) -> Result<(), CallError> {
        tokio::time::timeout(patience, self).await.unwrap_or(Err(CallError::Late)).map(drop)
    }
}

impl Future for Call {
    type Output = CallAnswer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CallAnswer> {
        Pin::new(&mut self.answered).poll(context).map(|answer| answer.unwrap_or(Err(CallError::Gone)))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        lock(&self.pending).remove(&self.id);
    }
}

fn lock(pending: &Mutex<HashMap<u64, PendingCall>>) -> MutexGuard<'_, HashMap<u64, PendingCall>> {
    pending.lock()
}

async fn read(
    mut reader: pipe::Receiver,
    mut cutter: MessageCutter,
    pending: Arc<Mutex<HashMap<u64, PendingCall>>>,
    listener: Arc<dyn EventListener>,
    says_open: watch::Sender<bool>,
) {
    let mut bytes = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = reader.read(&mut bytes).await {
        cutter.take(&bytes[..count], |cut| match cut {
            CutMessage::Whole(text) => take(&String::from_utf8_lossy(text), &pending, &*listener),
            CutMessage::TooLong(beginning) => {
                let answered = message::id_at_the_beginning(beginning).and_then(|id| lock(&pending).remove(&id));
                if let Some(PendingCall { answer, .. }) = answered {
                    let _ = answer.send(Err(CallError::TooLarge));
                }
            }
        });
    }
    says_open.send_replace(false);
    lock(&pending).clear();
}

/// The beginning of an entry of a console. A page can write any number of them.
const ENTRY: &str = "{\"method\":\"Runtime.consoleAPICalled\"";

fn take(text: &str, pending: &Mutex<HashMap<u64, PendingCall>>, listener: &dyn EventListener) {
    // Dropped before it is read. The session stands at the end, behind all that the
    // page has a hand in.
    if text.starts_with(ENTRY)
        && let Some((_, session)) = text.rsplit_once("\"sessionId\":\"")
        && let Some((session, _)) = session.split_once('"')
        && listener.is_deaf(session)
    {
        return;
    }
    let message = match serde_json::from_str::<ProtocolMessage<'_>>(text) {
        Ok(message) => message,
        Err(error) => {
            tracing::debug!(%error, "a message of the browser cannot be read");
            return;
        }
    };
    if let Some(id) = message.id {
        let Some(PendingCall { answer, .. }) = lock(pending).remove(&id) else { return };
        let _ = answer.send(match (message.result, message.error) {
            (Some(result), None) => Ok(result.to_owned()),
            (_, Some(error)) => match message::read(error.get()) {
                Ok(CommandRefusal { message }) => Err(CallError::Refused(message)),
                Err(_) => Err(CallError::Unexpected),
            },
            (None, None) => Err(CallError::Unexpected),
        });
    } else if let Some(method) = &message.method {
        let params = message.params.map_or("{}", RawValue::get);
        listener.hear(Event { session: message.session_id.as_deref(), method, params });
    }
}
