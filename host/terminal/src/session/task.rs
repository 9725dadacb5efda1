//! The task of a session: from the start of its program until nothing of that is
//! left, and again where it is started again.
//!
//! It alone reads the terminal, writes to it and orders the end; everything else
//! sends it orders. Reading costs no thread: the runtime says when there is
//! something. A program that prints without end is read in small steps, so that
//! other sessions get their turns. Never knows what is typed, nor why it ends.

use std::{collections::VecDeque, future::poll_fn, io, ops::ControlFlow, sync::Arc, time::Duration};

use tokio::{
    select,
    sync::{mpsc, oneshot, watch},
    task::yield_now,
    time::{Instant, sleep_until},
};
use wharf_spawn::{ChildEnd, ChildExit, Signal, SpawnError};

use crate::{
    KilledBy, ProgramExit, Pty, SessionPhase, SessionProgress, child::Child, replies::MAX_WAITING_REPLY_BYTES,
    shared_terminal::SharedTerminal,
};

/// After the program's end its output is waited for so long and no longer:
/// descendants may hold the terminal for ever.
const DRAIN: Duration = Duration::from_millis(50);
/// Read at once. A terminal hands out no more, and drawing it is short.
const CHUNK_BYTES: usize = 4096;
/// After a read of so much, the task looks for more before it wakes observers.
const FLOOD_BYTES: usize = 2048;
/// For so long. The terminal has a buffer of 4 KiB, so a program that prints waits
/// whenever its reader sleeps, and waking takes longer than reading.
const LINGER: Duration = Duration::from_micros(100);
/// How long one session may compute before others get their turn.
const TURN: Duration = Duration::from_millis(1);

/// Something to do.
#[derive(Debug)]
pub(super) enum SessionOrder {
    /// Type this; told once the terminal has all of it. Dropping the other end
    /// takes back what has not been typed yet.
    Type { bytes: Vec<u8>, done: oneshot::Sender<()> },
    /// End the tree.
    Close { grace: Duration },
    /// Follow another program, which was started in the place of one that has
    /// ended. Told once that is done.
    Begin { running: RunningProgram, note: String, done: oneshot::Sender<()> },
}

/// A program and the host's end of its terminal.
#[derive(Debug)]
pub(super) struct RunningProgram {
    pub(super) child: Arc<Child>,
    pub(super) pty: Arc<dyn Pty>,
}

/// Bytes on their way to the program.
struct QueuedInput {
    bytes: Vec<u8>,
    written: usize,
    /// None for an answer of the terminal's own.
    done: Option<oneshot::Sender<()>>,
}

/// What the task holds on to.
pub(super) struct SessionTask {
    shared: Arc<SharedTerminal>,
    progress: watch::Sender<SessionProgress>,
    waiting: VecDeque<QueuedInput>,
    closed_by_host: bool,
}

/// What has happened.
enum SessionEvent {
    Order(Option<SessionOrder>),
    Read(io::Result<usize>),
    Written(io::Result<usize>),
    Ended(Result<ChildEnd, SpawnError>),
    Drained,
    TreeGone,
}

/// How far the end has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndStage {
    /// The program lives.
    No,
    /// It has ended, and its output is waited for until then; then its end is
    /// told.
    Draining(Instant),
    /// Its end was told; descendants may live.
    Told,
    /// Nothing lives, and what is left in the terminal is waited for.
    TreeGone(Instant),
}

impl SessionTask {
    pub(super) fn new(shared: Arc<SharedTerminal>, progress: watch::Sender<SessionProgress>) -> Self {
        Self { shared, progress, waiting: VecDeque::new(), closed_by_host: false }
    }

    /// Follows a program, and those that come in its place, until nobody has
    /// the session any more.
    pub(super) async fn run(mut self, first: RunningProgram, mut orders: mpsc::Receiver<SessionOrder>) {
        let mut running = first;
        while let ControlFlow::Continue(()) = self.follow(running, &mut orders).await {
            running = loop {
                match orders.recv().await {
                    Some(SessionOrder::Begin { running, note, done }) => {
                        self.begin(&running, &note);
                        // The caller may have gone.
                        let _ = done.send(());
                        break running;
                    }
                    // There is nobody to type to, and nothing to end.
                    Some(SessionOrder::Type { .. } | SessionOrder::Close { .. }) => {}
                    None => return,
                }
            };
        }
    }

    /// From the start of a program until nothing of it is left, or nobody has
    /// the session any more.
    async fn follow(&mut self, running: RunningProgram, orders: &mut mpsc::Receiver<SessionOrder>) -> ControlFlow<()> {
        let RunningProgram { child, pty } = running;
        let mut buffer = vec![0; CHUNK_BYTES];
        let (mut end, mut ended) = (EndStage::No, None);
        let mut turn = Instant::now();
        loop {
            let open = self.progress.borrow().terminal_open;
            // What was given up while it waited.
            self.waiting.retain(|typed| typed.done.as_ref().is_none_or(|done| !done.is_closed()));
            let next = self.waiting.front().map_or(&[][..], |typed| &typed.bytes[typed.written..]);
            let until = match end {
                EndStage::Draining(until) | EndStage::TreeGone(until) => Some(until),
                EndStage::No | EndStage::Told => None,
            };
            let news = select! {
                biased;
                order = orders.recv() => SessionEvent::Order(order),
                done = child.wait(), if end == EndStage::No => SessionEvent::Ended(done),
                () = async { sleep_until(until.unwrap_or_else(Instant::now)).await }, if until.is_some() => SessionEvent::Drained,
                written = poll_fn(|context| pty.poll_write(context, next)), if open && !next.is_empty() => SessionEvent::Written(written),
                read = poll_fn(|context| pty.poll_read(context, &mut buffer)), if open => SessionEvent::Read(read),
                () = child.wait_for_tree(), if end == EndStage::Told => SessionEvent::TreeGone,
            };
            match news {
                SessionEvent::Order(Some(order)) => self.carry_out(order, &child),
                // Nobody can ask for anything any more. The tree goes with the
                // child.
                SessionEvent::Order(None) => return ControlFlow::Break(()),
                SessionEvent::Read(Ok(count)) if count > 0 => {
                    self.take_output(&buffer[..count]);
                    if count >= FLOOD_BYTES {
                        self.read_on(&*pty, &mut buffer);
                    }
                    self.report_progress();
                    if turn.elapsed() > TURN {
                        yield_now().await;
                        turn = Instant::now();
                    }
                }
                SessionEvent::Read(read) => {
                    if let Err(error) = read {
                        tracing::error!(%error, "a terminal cannot be read");
                    }
                    self.hang_up();
                }
                SessionEvent::Written(Ok(count)) => self.written(count),
                // Nobody holds the other end; what was printed is still there.
                SessionEvent::Written(Err(_)) => self.waiting.clear(),
                SessionEvent::Ended(done) => {
                    ended = Some(done);
                    end = EndStage::Draining(Instant::now() + DRAIN);
                }
                SessionEvent::Drained => {}
                SessionEvent::TreeGone => end = EndStage::TreeGone(Instant::now() + DRAIN),
            }
            let over = |until: Instant| !self.progress.borrow().terminal_open || until <= Instant::now();
            match end {
                EndStage::Draining(until) if over(until) => {
                    self.report_end(ended.take());
                    end = EndStage::Told;
                }
                EndStage::TreeGone(until) if over(until) => break,
                _ => {}
            }
        }
        self.hang_up();
        self.shared.pty.replace(None);
        self.progress.send_modify(|progress| progress.finished = true);
        ControlFlow::Continue(())
    }

    /// Makes room for another program: what there was of the old one stays to
    /// be read, and all cursors go on.
    fn begin(&mut self, running: &RunningProgram, note: &str) {
        self.closed_by_host = false;
        let mut output = self.shared.output();
        // A resize holds the output, too.
        if let Err(error) = running.pty.resize(output.screen.size()) {
            tracing::debug!(%error, "a terminal keeps the size that it was opened with");
        }
        self.shared.pty.replace(Some(Arc::clone(&running.pty)));
        output.begin_again(note);
        let (raw_bytes, text_bytes, marks) = (output.raw.end(), output.text.end(), output.marks_seen());
        drop(output);
        self.progress.send_modify(|progress| {
            let restarts = progress.restarts + 1;
            *progress = SessionProgress { raw_bytes, text_bytes, marks, restarts, ..SessionProgress::START };
        });
    }

    fn carry_out(&mut self, order: SessionOrder, child: &Arc<Child>) {
        match order {
            SessionOrder::Type { bytes, done } => {
                self.show_typed(&bytes);
                self.waiting.push_back(QueuedInput { bytes, written: 0, done: Some(done) });
            }
            // Only what has ended is replaced; dropping this one ends it.
            SessionOrder::Begin { .. } => {}
            SessionOrder::Close { grace } => {
                self.closed_by_host |= self.progress.borrow().exit.is_none();
                // The supervisor sees to it, and a later order may only bring
                // the end nearer.
                let child = Arc::clone(child);
                tokio::spawn(async move {
                    // Shells ignore other polite ways.
                    drop(child.signal(Signal::Hangup).await);
                    if let Err(error) = child.kill_tree(grace).await {
                        tracing::debug!(%error, "a tree that was to end is gone");
                    }
                });
            }
        }
    }

    /// Shows what was typed to the viewers that asked for it, unless it is a password.
    fn show_typed(&self, bytes: &[u8]) {
        let mut output = self.shared.output();
        if output.viewers.want_typed() {
            let hidden = self.shared.pty.line_mode().is_ok_and(|mode| mode.canonical && !mode.echo);
            if !hidden {
                output.viewers.typed(bytes);
            }
        }
    }

    fn take_output(&mut self, bytes: &[u8]) {
        let replies = self.shared.output().take(bytes);
        for reply in replies {
            self.queue_reply(reply.into_bytes());
        }
    }

    /// Takes what comes right behind a flood, until it is time for others.
    fn read_on(&mut self, pty: &dyn Pty, buffer: &mut [u8]) {
        let began = Instant::now();
        let mut last = began;
        while self.waiting.is_empty() && began.elapsed() < TURN {
            match pty.read_now(buffer) {
                Some(count) => {
                    self.take_output(&buffer[..count]);
                    last = Instant::now();
                }
                None if last.elapsed() < LINGER => std::thread::yield_now(),
                // Whatever it is, it is met again.
                None => break,
            }
        }
    }

    fn report_progress(&self) {
        let output = self.shared.output();
        let (raw_bytes, text_bytes, marks) = (output.raw.end(), output.text.end(), output.marks_seen());
        drop(output);
        self.progress.send_modify(|progress| {
            progress.phase = progress.phase.max(SessionPhase::Ready);
            (progress.raw_bytes, progress.text_bytes, progress.marks) = (raw_bytes, text_bytes, marks);
        });
    }

    /// Types an answer, unless too many wait already.
    fn queue_reply(&mut self, bytes: Vec<u8>) {
        let answers = self.waiting.iter().filter(|typed| typed.done.is_none());
        let waiting: usize = answers.map(|typed| typed.bytes.len()).sum();
        if waiting + bytes.len() <= MAX_WAITING_REPLY_BYTES {
            self.waiting.push_back(QueuedInput { bytes, written: 0, done: None });
        }
    }

    fn written(&mut self, count: usize) {
        let Some(typed) = self.waiting.front_mut() else { return };
        typed.written += count;
        if typed.done.is_some() {
            self.progress.send_if_modified(|progress| {
                let first = progress.phase == SessionPhase::Starting;
                progress.phase = progress.phase.max(SessionPhase::Ready);
                first
            });
        }
        if typed.written == typed.bytes.len()
            && let Some(QueuedInput { done: Some(done), .. }) = self.waiting.pop_front()
        {
            // The caller may have gone.
            let _ = done.send(());
        }
    }

    /// No program holds the other end.
    fn hang_up(&mut self) {
        self.waiting.clear();
        self.progress.send_modify(|progress| progress.terminal_open = false);
    }

    fn report_end(&mut self, ended: Option<Result<ChildEnd, SpawnError>>) {
        let exit = match ended {
            _ if self.closed_by_host => ProgramExit::Killed { by: KilledBy::User },
            Some(Ok(ChildEnd { exit: ChildExit::Exited { code }, .. })) => ProgramExit::Exited { code },
            Some(Ok(ChildEnd { exit: ChildExit::Signaled { signal }, .. })) => ProgramExit::Signaled { signal },
            Some(Err(_)) | None => ProgramExit::Killed { by: KilledBy::HostLost },
        };
        let descendants = match ended {
            Some(Ok(ChildEnd { descendants, .. })) => descendants,
            Some(Err(_)) | None => 0,
        };
        // Nobody reads it any more, though a descendant may hold the terminal.
        self.waiting.clear();
        self.progress.send_modify(|progress| {
            (progress.phase, progress.exit, progress.descendants) = (SessionPhase::Closed, Some(exit), descendants);
        });
    }
}
