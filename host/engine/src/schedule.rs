//! Decides which calls compute when many want to.
//!
//! From its first epoch on (see `epoch`), a call needs a slot to go on computing; there are
//! as many as worker threads. At each epoch the holder of a slot hands it to a waiting call
//! that has computed less, or as little; where there is none, it goes on. So a call that computes for some milliseconds
//! does so nearly undisturbed beside any number of spinning ones, which take
//! turns on what is left. Some turns are for calls that have waited for long,
//! however much they have computed: no call starves.
//!
//! This is a multi-level feedback queue (Corbató 1962) with a level for each
//! [`LEVEL`] of computing.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::{runtime::Handle, sync::oneshot};

/// Calls whose computing time differs by less than this take turns.
const LEVEL: Duration = Duration::from_millis(4);
/// Calls that have computed for longer are all alike.
const LONG: Duration = Duration::from_millis(64);
/// A call that has waited for so long has its turn, however much it has computed:
/// at one decision in [`RESERVED`], so that many of them cannot keep a short
/// call from going on.
const PATIENCE: Duration = Duration::from_millis(100);
const RESERVED: u32 = 8;

/// Hands out the slots.
#[derive(Debug, Clone, Default)]
pub(crate) struct Schedule {
    queue: Arc<SlotQueue>,
}

#[derive(Debug, Default)]
struct SlotQueue {
    slots: OnceLock<usize>,
    // A blocking lock: held for one pass over those that wait,
    // at most once an epoch for each slot.
    waiting: Mutex<WaitingCalls>,
}

#[derive(Debug, Default)]
struct WaitingCalls {
    taken: usize,
    /// Decisions since a call had its turn for having waited long.
    decisions: u32,
    /// In the order of their arrival.
    calls: Vec<WaitingCall>,
}

#[derive(Debug)]
struct WaitingCall {
    level: u128,
    since: Instant,
    turn: oneshot::Sender<ComputingSlot>,
}

/// The right to compute, handed on when dropped.
#[derive(Debug)]
pub(crate) struct ComputingSlot {
    queue: Arc<SlotQueue>,
    armed: bool,
}

impl Drop for ComputingSlot {
    fn drop(&mut self) {
        if self.armed {
            let mut waiting = self.queue.lock();
            waiting.taken -= 1;
            self.queue.serve(&mut waiting, u128::MAX);
        }
    }
}

impl SlotQueue {
    fn lock(&self) -> MutexGuard<'_, WaitingCalls> {
        self.waiting.lock()
    }

    /// As many slots as calls can run at once.
    fn slots(&self) -> usize {
        *self.slots.get_or_init(|| {
            let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            let workers = Handle::try_current().map_or(processors, |handle| handle.metrics().num_workers());
            workers.min(processors).max(1)
        })
    }

    /// Gives a free slot to the next of those that wait with at most `level`.
    /// Says whether a call took it.
    fn serve(self: &Arc<Self>, waiting: &mut WaitingCalls, level: u128) -> bool {
        waiting.decisions = waiting.decisions.saturating_add(1);
        while let Some(next) = waiting.next(level) {
            let waiter = waiting.calls.remove(next);
            match waiter.turn.send(ComputingSlot { queue: Arc::clone(self), armed: true }) {
                Ok(()) => {
                    waiting.taken += 1;
                    return true;
                }
                // Its call has ended. The slot must not take the lock again.
                Err(mut refused) => refused.armed = false,
            }
        }
        false
    }

    /// A slot for a call of this level, which may hold one already.
    async fn turn(self: Arc<Self>, held: Option<ComputingSlot>, level: u128) -> Option<ComputingSlot> {
        let turn = {
            let slots = self.slots();
            let mut waiting = self.lock();
            if let Some(mut slot) = held {
                waiting.taken -= 1;
                if !self.serve(&mut waiting, level) {
                    waiting.taken += 1;
                    return Some(slot);
                }
                slot.armed = false;
            } else if waiting.taken < slots {
                waiting.taken += 1;
                return Some(ComputingSlot { queue: Arc::clone(&self), armed: true });
            }
            let (turn, granted) = oneshot::channel();
            waiting.calls.push(WaitingCall { level, since: Instant::now(), turn });
            granted
        };
        turn.await.ok()
    }
}

impl WaitingCalls {
    /// The call that is next: the first of the lowest level, if that is not above
    /// `level`; from time to time the one that has waited longest, if that is too long.
    fn next(&mut self, level: u128) -> Option<usize> {
        let first = self.calls.first()?;
        if self.decisions >= RESERVED && first.since.elapsed() >= PATIENCE {
            self.decisions = 0;
            return Some(0);
        }
        let (index, lowest) = self.calls.iter().enumerate().min_by_key(|(_, waiter)| waiter.level)?;
        (lowest.level <= level).then_some(index)
    }
}

impl Schedule {
    /// A slot for a call that has computed for so long, which may hold one
    /// already. None where the schedule itself has ended.
    pub(crate) async fn turn(&self, held: Option<ComputingSlot>, computed: Duration) -> Option<ComputingSlot> {
        let level = computed.min(LONG).as_nanos() / LEVEL.as_nanos();
        Arc::clone(&self.queue).turn(held, level).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::JoinHandle;

    /// A queue with one slot, and the call that holds it.
    async fn one_slot() -> (Arc<SlotQueue>, ComputingSlot) {
        let queue = Arc::new(SlotQueue { slots: OnceLock::from(1), ..SlotQueue::default() });
        let held = Arc::clone(&queue).turn(None, 9).await.expect("a free slot");
        (queue, held)
    }

    /// Lines a call of this level up, and returns once it waits.
    async fn lined_up(queue: &Arc<SlotQueue>, level: u128) -> JoinHandle<Option<ComputingSlot>> {
        let before = queue.lock().calls.len();
        let call = tokio::spawn(Arc::clone(queue).turn(None, level));
        while queue.lock().calls.len() == before {
            tokio::task::yield_now().await;
        }
        call
    }

    #[tokio::test]
    async fn a_slot_goes_to_the_call_that_has_computed_least() {
        let (queue, held) = one_slot().await;
        let long = lined_up(&queue, 5).await;
        let short = lined_up(&queue, 0).await;
        drop(held);
        let slot = short.await.expect("runs").expect("a slot");
        assert!(!long.is_finished());
        drop(slot);
        assert!(long.await.expect("runs").is_some());
        assert_eq!(queue.lock().taken, 0);
    }

    #[tokio::test]
    async fn a_holder_goes_on_where_all_that_wait_have_computed_more_and_takes_turns_with_its_equals() {
        let (queue, held) = one_slot().await;
        let longer = lined_up(&queue, 8).await;
        let held = Arc::clone(&queue).turn(Some(held), 3).await.expect("it goes on");
        assert!(!longer.is_finished());
        let equal = lined_up(&queue, 3).await;
        let stepped_back = tokio::spawn(Arc::clone(&queue).turn(Some(held), 3));
        let slot = equal.await.expect("runs").expect("its turn");
        assert!(!stepped_back.is_finished());
        drop(slot);
        drop(stepped_back.await.expect("runs").expect("its turn again"));
        assert!(longer.await.expect("runs").is_some());
    }

    #[tokio::test]
    async fn a_call_that_has_waited_too_long_has_its_turn_now_and_then() {
        let (queue, held) = one_slot().await;
        let long = lined_up(&queue, 16).await;
        let short = lined_up(&queue, 0).await;
        queue.lock().calls[0].since = Instant::now().checked_sub(PATIENCE).expect("the clock has run for a while");
        queue.lock().decisions = RESERVED;
        let stepped_back = tokio::spawn(Arc::clone(&queue).turn(Some(held), 0));
        let slot = long.await.expect("runs").expect("a slot");
        assert_eq!(queue.lock().decisions, 0, "the next turns are for short calls");
        drop(slot);
        drop(short.await.expect("runs").expect("a slot"));
        assert!(stepped_back.await.expect("runs").is_some());
    }

    #[tokio::test]
    async fn calls_that_ended_while_they_waited_take_no_slot_with_them() {
        let (queue, held) = one_slot().await;
        let gone = lined_up(&queue, 0).await;
        let next = lined_up(&queue, 1).await;
        gone.abort();
        assert!(gone.await.is_err());
        drop(held);
        drop(next.await.expect("runs").expect("a slot"));
        let waiting = queue.lock();
        assert_eq!((waiting.taken, waiting.calls.len()), (0, 0));
    }
}
