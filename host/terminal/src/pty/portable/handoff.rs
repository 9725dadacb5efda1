//! Bytes between a task, which never blocks, and a thread, which does: bounded,
//! in order, with an end.
//!
//! Never knows a terminal.

use std::{
    collections::VecDeque,
    io,
    task::{Context, Poll, Waker},
};

use parking_lot::{Condvar, Mutex, MutexGuard};

/// Bytes on their way between one task and one thread.
#[derive(Debug)]
pub(super) struct Handoff {
    capacity: usize,
    state: Mutex<HandoffState>,
    /// For the thread: there is room, there are bytes, or it is over.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct HandoffState {
    bytes: VecDeque<u8>,
    /// The task has not come back since it took some.
    in_hand: bool,
    /// Nothing is put in any more.
    ended: bool,
    /// Nobody takes any more: what is put in is thrown away.
    discarded: bool,
    task: Option<Waker>,
}

impl HandoffState {
    fn take(&mut self, buffer: &mut [u8]) -> usize {
        let count = io::Read::read(&mut self.bytes, buffer).unwrap_or_default();
        self.in_hand = count > 0;
        count
    }
}

impl Handoff {
    /// Holds so many bytes.
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, state: Mutex::default(), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, HandoffState> {
        self.state.lock()
    }

    /// Ends it: the task gets the bytes that wait and then the end, and the thread stops.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        self.tell(state);
    }

    /// Throws away the bytes that wait and all that come.
    pub(super) fn discard(&self) {
        let mut state = self.state();
        (state.discarded, state.bytes) = (true, VecDeque::new());
        self.tell(state);
    }

    fn tell(&self, mut state: MutexGuard<'_, HandoffState>) {
        let task = state.task.take();
        drop(state);
        self.changed.notify_one();
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Takes some bytes for the task: none only at the end.
    pub(super) fn poll_take(&self, context: &Context<'_>, buffer: &mut [u8]) -> Poll<usize> {
        let mut state = self.state();
        let count = state.take(buffer);
        if count == 0 && !state.ended {
            state.task = Some(context.waker().clone());
            return Poll::Pending;
        }
        drop(state);
        self.changed.notify_one();
        Poll::Ready(count)
    }

    /// The same where there are some now.
    pub(super) fn take_now(&self, buffer: &mut [u8]) -> Option<usize> {
        let count = self.state().take(buffer);
        self.changed.notify_one();
        (count > 0).then_some(count)
    }

    /// Whether the task has not taken or not yet looked at all that was put in,
    /// or there is more to come, of which it is told under the lock.
    pub(super) fn has_more(&self, to_come: impl FnOnce() -> bool) -> bool {
        let state = self.state();
        state.in_hand || !state.bytes.is_empty() || to_come()
    }

    /// Puts some bytes in for the thread, as many as there is room for; nothing
    /// where it has ended.
    pub(super) fn poll_put(&self, context: &Context<'_>, bytes: &[u8]) -> Poll<Option<usize>> {
        let mut state = self.state();
        if state.ended {
            return Poll::Ready(None);
        }
        let count = bytes.len().min(self.capacity - state.bytes.len());
        if count == 0 {
            state.task = Some(context.waker().clone());
            return Poll::Pending;
        }
        state.bytes.extend(&bytes[..count]);
        drop(state);
        self.changed.notify_one();
        Poll::Ready(Some(count))
    }

    /// Whether the thread is done with all that was put in.
    #[cfg(target_os = "linux")]
    pub(super) fn is_empty(&self) -> bool {
        self.state().bytes.is_empty()
    }

    /// Has the thread wait until it may put so many bytes in.
    pub(super) fn wait_for_room(&self, bytes: usize) {
        let is_full = |state: &mut HandoffState| !state.discarded && self.capacity - state.bytes.len() < bytes;
        self.changed.wait_while(&mut self.state(), is_full);
    }

    /// Puts in what is read into the chunk, and says how much that was. The lock
    /// is held meanwhile, so that nobody sees the bytes neither where they were
    /// nor here; the reading must not wait.
    ///
    /// # Errors
    /// That of the reading.
    pub(super) fn fill(
        &self,
        chunk: &mut [u8],
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut state = self.state();
        let count = read(chunk)?;
        if !state.discarded {
            state.bytes.extend(&chunk[..count]);
        }
        self.tell(state);
        Ok(count)
    }

    /// Has the thread wait for bytes, and copies them. They stay until it
    /// forgets them. False once it has ended.
    pub(super) fn wait_for_bytes(&self, copy: &mut Vec<u8>) -> bool {
        let is_idle = |state: &mut HandoffState| !state.ended && state.bytes.is_empty();
        let mut state = self.state();
        self.changed.wait_while(&mut state, is_idle);
        copy.clear();
        copy.extend(&state.bytes);
        !state.ended
    }

    /// Forgets bytes that the thread is done with.
    pub(super) fn forget(&self, count: usize) {
        let mut state = self.state();
        state.bytes.drain(..count);
        self.tell(state);
    }
}
