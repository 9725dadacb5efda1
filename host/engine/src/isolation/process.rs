//! A worker, as the host has it: its calls, and its end.

use std::{
    collections::HashMap,
    io,
    os::fd::{AsFd as _, OwnedFd},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{
    sync::{Notify, mpsc},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use wharf_core::{Code, Error, HostLimits, PluginName, TenantId};
use wharf_spawn::packet;

use super::{
    connection::WorkerConnection,
    frames::{self, ComponentCode, NumberedOrder, RETURNED, ToWorker},
    inbox::{Inbox, Said},
    incoming::IncomingFrames,
    looking::{CallUnderWay, Looks},
};
use crate::code::CodeFile;

/// How often its memory is looked at while it has calls.
const LOOK: Duration = Duration::from_millis(100);
/// How long a worker may take to end a call that the host has stopped. A guest is stopped every 2 ms; a
/// worker that takes so much longer does not do what it should.
pub(super) const OBEDIENCE: Duration = Duration::from_secs(2);
/// Requests of one call that wait in the host; a worker waits with further ones.
const WAITING_REQUESTS: usize = 256;
/// What a worker may have waiting to be sent to it: it does not read, then.
const UNREAD_BYTES: usize = 256 << 20;
/// Components that a worker has had before it gives way to a new one: it never forgets one.
const MOST_COMPONENTS: usize = 64;
/// Beside the values of a call: the head of a frame and what a request has in texts.
pub(super) const FRAME_BYTES: usize = 64 << 10;

/// Whose plugins a worker runs: all that a tenant calls, or one of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct WorkerKey {
    pub(super) tenant: TenantId,
    pub(super) plugin: Option<PluginName>,
}

/// A worker.
pub(crate) struct Worker {
    connection: WorkerConnection,
    inbox: Inbox,
    looks: Looks,
    /// The socket over which it gets code.
    codes: OwnedFd,
    pid: u32,
    /// Nobody's before its first call, and for good where it only answers what a component has.
    key: OnceLock<WorkerKey>,
    // Held for a look or an insertion.
    state: Mutex<WorkerState>,
    /// The longest frame that one of its calls may send.
    most_bytes: Arc<AtomicUsize>,
    ending: CancellationToken,
    /// Told whenever a call of it ends.
    freed: Arc<Notify>,
}

struct WorkerState {
    conversations: HashMap<u64, mpsc::Sender<Said>>,
    calls: u64,
    /// The numbers of the components that it has.
    components: HashMap<u64, u32>,
    last_used: Instant,
    /// Why it takes no further call.
    ended: Option<Arc<str>>,
}

impl Worker {
    /// One at the other end of these.
    pub(super) fn over(
        (connection, frames): (WorkerConnection, IncomingFrames),
        codes: OwnedFd,
        pid: u32,
        most_bytes: Arc<AtomicUsize>,
        looks: Looks,
        (ending, freed): (CancellationToken, Arc<Notify>),
    ) -> Arc<Self> {
        let state = WorkerState {
            conversations: HashMap::new(),
            calls: 0,
            components: HashMap::new(),
            last_used: Instant::now(),
            ended: None,
        };
        Arc::new(Self {
            inbox: Inbox::over(connection.clone(), frames),
            connection,
            looks,
            codes,
            pid,
            key: OnceLock::new(),
            state: Mutex::new(state),
            most_bytes,
            ending,
            freed,
        })
    }

    /// Reads what it says until it ends, by itself or because it has to.
    /// `last_words` has the process: dropped, it ends its tree.
    pub(super) async fn tend(self: Arc<Self>, limits: HostLimits, last_words: impl Future<Output = String>) {
        let (idle, most_memory) = (Duration::from_secs(limits.worker_idle_seconds), limits.worker_memory_bytes);
        let ended = tokio::select! {
            // What the host ended has the signal that did it for last words.
            biased;
            () = self.ending.cancelled() => Ok("the host ended it".to_owned()),
            () = self.rest(idle) => Ok("the host ended it, since it had nothing to do".to_owned()),
            held = self.watch_memory(most_memory) => Err(Some(format!(
                "it held {held} bytes of memory, more than {most_memory} (limit `worker_memory_bytes` under [host.limits])"
            ))),
            () = self.connection.clone().write_on() => Err(None),
            // Last, for one that talks without end.
            broken = self.inbox.listen(|call, said| self.conversation(call, said)) => Err(broken),
        };
        let (why, is_loss) = match ended {
            Ok(why) => (why, false),
            Err(Some(why)) => (why, true),
            Err(None) => (last_words.await, true),
        };
        self.inbox.close().await;
        let mut state = self.state.lock();
        let calls = state.conversations.len();
        if is_loss || calls > 0 {
            let (tenant, plugin) = self.told_key();
            tracing::warn!(target: "wharf::isolation", pid = self.pid, tenant, plugin, calls, "a worker of plugins ended: {why}");
        }
        state.ended.get_or_insert(why.into());
        state.conversations.clear();
    }

    /// Has it run plugins for these from now on, and says so: an operator who sees a process can tell whose it is.
    pub(super) fn serve(&self, key: WorkerKey) {
        if self.key.set(key).is_ok() {
            let (tenant, plugin) = self.told_key();
            tracing::info!(target: "wharf::isolation", pid = self.pid, tenant, plugin, "a worker runs plugins");
        }
    }

    fn told_key(&self) -> (Option<&str>, Option<&str>) {
        let key = self.key.get();
        let plugin = key.and_then(|key| key.plugin.as_ref()).map(PluginName::as_str);
        (key.map(|key| key.tenant.as_str()), plugin)
    }

    /// Who hears what it says of a call.
    fn conversation(&self, call: u64, said: &Said) -> Option<mpsc::Sender<Said>> {
        let is_end = matches!(said, Said::Ended { .. });
        let conversation = {
            let mut state = self.state.lock();
            state.last_used = Instant::now();
            if is_end { state.conversations.remove(&call) } else { state.conversations.get(&call).cloned() }
        };
        if is_end {
            self.freed.notify_waiters();
        }
        conversation
    }

    /// Returns when it has had nothing to do for so long.
    async fn rest(&self, idle: Duration) {
        loop {
            let (rested, is_busy) = {
                let state = self.state.lock();
                (state.last_used.elapsed(), !state.conversations.is_empty())
            };
            if is_busy {
                sleep(idle).await;
            } else if rested >= idle {
                let mut state = self.state.lock();
                if state.conversations.is_empty() && state.last_used.elapsed() >= idle {
                    state.ended = Some("it had nothing to do".into());
                    return;
                }
            } else {
                sleep(idle.saturating_sub(rested)).await;
            }
        }
    }

    /// Returns with what it holds once that is too much. The system bounds it where there is a control
    /// group; this holds everywhere. A limit of what it maps would count places of calls that are over.
    async fn watch_memory(&self, most: u64) -> u64 {
        let resident = || {
            let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.pid)).ok()?;
            let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
            Some(pages.saturating_mul(rustix::param::page_size() as u64))
        };
        let at_first = resident().unwrap_or_default();
        loop {
            sleep(LOOK).await;
            if self.state.lock().conversations.is_empty() {
                continue;
            }
            let held = resident().unwrap_or_default().saturating_sub(at_first);
            if held > most {
                return held;
            }
        }
    }

    /// Whether it can take a call.
    pub(super) fn is_usable(&self) -> bool {
        let state = self.state.lock();
        state.ended.is_none() && state.components.len() <= MOST_COMPONENTS
    }

    /// How long it has had nothing to do; nothing where it has.
    pub(super) fn rested(&self) -> Option<Duration> {
        let state = self.state.lock();
        (state.ended.is_none() && state.conversations.is_empty()).then(|| state.last_used.elapsed())
    }

    /// Has it take no further call, and end as soon as it has none.
    pub(crate) fn retire(&self) {
        let mut state = self.state.lock();
        state.ended.get_or_insert("the host ended it".into());
        if state.conversations.is_empty() {
            self.ending.cancel();
        }
    }

    /// Why a call that it had is lost.
    pub(super) fn lost(&self) -> Error {
        let why = self.state.lock().ended.clone().unwrap_or_else(|| "the host ended it".into());
        let told = format!(
            "the process that ran this call is gone: {why}. What the call did before stays; no other tenant is \
             affected, and the next call has a new process"
        );
        Error::new(Code::Internal, told)
    }

    /// Begins a call. The order comes back where it takes none any more.
    pub(super) fn begin(
        self: &Arc<Self>,
        code: &CodeFile,
        largest: usize,
        mut order: Box<NumberedOrder>,
    ) -> Result<Conversation, Box<NumberedOrder>> {
        let (sender, said) = mpsc::channel(WAITING_REQUESTS);
        self.most_bytes.fetch_max(largest.saturating_add(FRAME_BYTES), Relaxed);
        let mut state = self.state.lock();
        let component = match (&state.ended, state.components.get(&code.id())) {
            (Some(_), _) => return Err(order),
            (None, Some(number)) => *number,
            (None, None) => {
                let number = u32::try_from(state.components.len()).unwrap_or(u32::MAX);
                if let Err(error) = self.send_code(number, code) {
                    state.ended = Some(format!("it takes no code: {error}").into());
                    self.ending.cancel();
                    return Err(order);
                }
                state.components.insert(code.id(), number);
                number
            }
        };
        state.calls += 1;
        state.last_used = Instant::now();
        let call = state.calls;
        state.conversations.insert(call, sender);
        drop(state);
        let under_way = self.looks.begin_call();
        (order.0, order.1.component, order.1.is_looked_for) = (call, component, self.looks.have_room());
        self.connection.send(&ToWorker::Call(order).to_frame());
        Ok(Conversation { worker: Arc::clone(self), call, said, has_ended: false, _under_way: under_way })
    }

    fn send_code(&self, number: u32, code: &CodeFile) -> io::Result<()> {
        let message = ComponentCode { number, bytes: code.bytes(), exports_functions: code.exports_functions() };
        packet::send(&self.codes, &message, &[code.file().as_fd()])
    }

    /// Ends it where a call that the host has stopped still runs after a while.
    async fn enforce(self: Arc<Self>, call: u64) {
        sleep(OBEDIENCE).await;
        let mut state = self.state.lock();
        if state.conversations.contains_key(&call) {
            state.ended.get_or_insert("it did not end a call that was over".into());
            drop(state);
            self.ending.cancel();
        }
    }
}

/// One call in a worker.
pub(super) struct Conversation {
    worker: Arc<Worker>,
    call: u64,
    said: mpsc::Receiver<Said>,
    has_ended: bool,
    _under_way: CallUnderWay,
}

impl Conversation {
    /// What the worker says next, which is to be soon; none where it is gone.
    pub(super) async fn next_soon(&mut self) -> Option<Said> {
        let (worker, said) = (&self.worker, &mut self.said);
        let found = worker.looks.look_for(|| {
            worker.inbox.look(|call, heard| worker.conversation(call, heard));
            said.try_recv().ok()
        });
        match found.await {
            Some(said) => {
                self.has_ended |= matches!(said, Said::Ended { .. });
                Some(said)
            }
            None => self.next().await,
        }
    }

    /// What the worker says next; none where it is gone.
    pub(super) async fn next(&mut self) -> Option<Said> {
        let said = self.said.recv().await;
        self.has_ended |= matches!(said, None | Some(Said::Ended { .. }));
        said
    }

    /// Who answers its requests.
    pub(super) fn answers(&self) -> Answers {
        Answers { connection: self.worker.connection.clone(), ending: self.worker.ending.clone(), call: self.call }
    }

    pub(super) fn lost(&self) -> Error {
        self.worker.lost()
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let worker = &self.worker;
        if !self.has_ended {
            worker.connection.send(&ToWorker::Stop(self.call).to_frame());
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn(Arc::clone(worker).enforce(self.call))),
                Err(_) => worker.ending.cancel(),
            }
        }
        let state = worker.state.lock();
        if state.ended.is_some() && state.conversations.is_empty() {
            worker.ending.cancel();
        }
    }
}

/// Answers the requests of a call.
#[derive(Clone)]
pub(super) struct Answers {
    connection: WorkerConnection,
    ending: CancellationToken,
    call: u64,
}

impl Answers {
    /// Says what a function came to.
    pub(super) fn answer(&self, request: u32, remaining: Duration, bytes: &[u8]) {
        if request == frames::TOLD {
            return;
        }
        self.connection.send(&frames::frame(RETURNED, &(self.call, request, remaining), bytes));
        if self.connection.waiting_bytes() > UNREAD_BYTES {
            self.ending.cancel();
        }
    }
}
