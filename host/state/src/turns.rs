//! Turns at a scope that many calls change at once, in the order in which the calls came.
//!
//! Compare-and-swap alone lets one writer through while all others fail, read
//! again and fail again. Where that happens, a call that failed waits for its
//! turn before its conflict returns, and then has the scope for as long as it takes to
//! read, change and write again. While calls wait, a call of the same tool waits
//! before its first read: the value would be old by the time it writes. Calls of tools
//! that only read never wait.
//!
//! A turn is advice and no lock. It ends with the next write, with the call, or
//! after [`LEASE`], so that no call holds others up. A call whose patience is over goes
//! on without a turn, and other processes know nothing of turns. The revisions alone
//! decide which write is right.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::{sync::oneshot, time};
use wharf_core::ScopeKey;

use crate::{ScopePolicy, StateChange, StateError, StateStore};

/// The longest turn: time to read, change and write a document of some size.
const LEASE: Duration = Duration::from_millis(10);
/// How long a call waits for its turn. Past it, the call goes on without one.
const PATIENCE: Duration = Duration::from_millis(500);

/// The turns at all scopes of one store in this process.
#[derive(Debug, Default)]
pub struct WriteTurns {
    // Held for a look-up and a change of a queue, never across an await.
    scopes: Mutex<HashMap<ScopeKey, TurnQueue>>,
    /// Numbers turns; no two have the same number, whatever their scope.
    last_turn: AtomicU64,
}

/// The call that has the turn at a scope, and the calls that wait for it.
#[derive(Debug, Default)]
struct TurnQueue {
    holder: Option<TurnHolder>,
    waiting: VecDeque<oneshot::Sender<WriteTurn>>,
    /// Tools whose calls came into conflict here since the first turn.
    tools: HashSet<Arc<str>>,
    /// Whether a task ends turns that last too long. It runs only while calls wait.
    watched: bool,
}

#[derive(Debug, Clone, Copy)]
struct TurnHolder {
    number: u64,
    until: time::Instant,
}

/// The right to write next. Dropping it passes the turn on.
#[derive(Debug)]
struct WriteTurn {
    turns: Arc<WriteTurns>,
    scope: ScopeKey,
    number: u64,
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        self.turns.pass_on(&self.scope, self.number);
    }
}

impl WriteTurns {
    fn scopes(&self) -> MutexGuard<'_, HashMap<ScopeKey, TurnQueue>> {
        // Nothing panics between two changes that belong together.
        self.scopes.lock()
    }

    /// Whether a call has the turn.
    fn is_taken(&self, scope: &ScopeKey) -> bool {
        self.scopes().contains_key(scope)
    }

    /// Whether calls of this tool take turns here.
    fn is_contended(&self, scope: &ScopeKey, tool: &str) -> bool {
        self.scopes().get(scope).is_some_and(|queue| queue.tools.contains(tool))
    }

    fn is_held(&self, turn: &WriteTurn) -> bool {
        let holder = self.scopes().get(&turn.scope).and_then(|queue| queue.holder);
        holder.is_some_and(|holder| holder.number == turn.number && time::Instant::now() < holder.until)
    }

    /// Waits for a turn until `until`.
    async fn take(self: &Arc<Self>, scope: &ScopeKey, tool: &Arc<str>, until: Instant) -> Option<WriteTurn> {
        let coming = {
            let mut scopes = self.scopes();
            let queue = scopes.entry(scope.clone()).or_default();
            if !queue.tools.contains(tool) {
                queue.tools.insert(Arc::clone(tool));
            }
            if queue.holder.is_none() {
                return Some(self.grant(queue, scope));
            }
            let (sender, coming) = oneshot::channel();
            queue.waiting.push_back(sender);
            if !std::mem::replace(&mut queue.watched, true) {
                self.watch(scope.clone());
            }
            coming
        };
        // Dropping the receiver takes this call out of the queue, and drops, which passes
        // on, a turn that came at the last moment.
        tokio::time::timeout_at(until.into(), coming).await.ok()?.ok()
    }

    fn grant(self: &Arc<Self>, queue: &mut TurnQueue, scope: &ScopeKey) -> WriteTurn {
        let number = self.last_turn.fetch_add(1, Ordering::Relaxed) + 1;
        queue.holder = Some(TurnHolder { number, until: time::Instant::now() + LEASE });
        WriteTurn { turns: Arc::clone(self), scope: scope.clone(), number }
    }

    /// Ends a turn, if it has not ended yet, and gives it to the next call that still
    /// waits.
    fn pass_on(self: &Arc<Self>, scope: &ScopeKey, number: u64) {
        let (next, turn) = {
            let mut scopes = self.scopes();
            let Some(queue) = scopes.get_mut(scope) else { return };
            if queue.holder.is_none_or(|holder| holder.number != number) {
                return;
            }
            queue.waiting.retain(|waiting| !waiting.is_closed());
            let Some(next) = queue.waiting.pop_front() else {
                scopes.remove(scope);
                return;
            };
            (next, self.grant(queue, scope))
        };
        // A call that went away in this moment gives the turn back: the turn drops
        // here, where the lock is free, and passes on again.
        drop(next.send(turn));
    }

    /// Ends turns that last too long while calls wait.
    fn watch(self: &Arc<Self>, scope: ScopeKey) {
        let turns = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let Some(turns) = turns.upgrade() else { return };
                let holder = {
                    let mut scopes = turns.scopes();
                    let Some(queue) = scopes.get_mut(&scope) else { return };
                    match queue.holder {
                        Some(holder) if !queue.waiting.is_empty() => holder,
                        _ => {
                            queue.watched = false;
                            return;
                        }
                    }
                };
                if holder.until <= time::Instant::now() {
                    turns.pass_on(&scope, holder.number);
                } else {
                    drop(turns);
                    time::sleep_until(holder.until).await;
                }
            }
        });
    }
}

/// One of the calls that change state. Its turn ends with it.
#[derive(Debug)]
pub struct Contender {
    turns: Arc<WriteTurns>,
    tool: Arc<str>,
    held: Option<WriteTurn>,
}

/// Takes the turn out of a slot that a call shares with the callback of its write.
fn taken(slot: &Mutex<Option<WriteTurn>>) -> Option<WriteTurn> {
    slot.lock().take()
}

impl Contender {
    /// A call of `tool` without a turn.
    #[must_use]
    pub fn new(turns: Arc<WriteTurns>, tool: Arc<str>) -> Self {
        Self { turns, tool, held: None }
    }

    /// Waits before a call reads the entries that it will change, where other calls
    /// of its tool take turns.
    pub async fn before_reading(&mut self, scope: &ScopeKey, until: Instant) {
        if self.turns.is_contended(scope, &self.tool) {
            self.step_up(scope, until).await;
        }
    }

    /// As [`StateStore::apply`], but a conflict returns once this call has its turn
    /// at the scope: reading and applying again at once then succeeds,
    /// unless another process writes. Where another call has the turn,
    /// changes that expect a revision queue up behind it.
    ///
    /// # Errors
    /// As [`StateStore::apply`].
    pub async fn apply(
        &mut self,
        store: &dyn StateStore,
        scope: &ScopeKey,
        policy: &ScopePolicy,
        changes: Vec<StateChange>,
        until: Instant,
    ) -> Result<Vec<u64>, StateError> {
        if changes.iter().all(|change| change.if_revision.is_none()) {
            return store.apply(scope, policy, changes, until).await;
        }
        if self.turns.is_taken(scope) {
            self.step_up(scope, until).await;
        }
        let Some(turn) = self.held.take() else {
            let applied = store.apply(scope, policy, changes, until).await;
            if let Err(StateError::Conflict { .. }) = &applied {
                self.step_up(scope, until).await;
            }
            return applied;
        };
        // The turn passes on the moment the changes are made, and does not wait
        // until this call runs again. After a conflict it comes back.
        let turn = Arc::new(Mutex::new(Some(turn)));
        let shared = Arc::clone(&turn);
        let pass_on = Box::new(move || drop(taken(&shared)));
        let applied = store.apply_and_notify(scope, policy, changes, until, pass_on).await;
        if let Err(StateError::Conflict { .. }) = &applied {
            self.held = taken(&turn);
            self.step_up(scope, until).await;
        }
        applied
    }

    /// Waits for the turn at this scope, unless this call has it already.
    async fn step_up(&mut self, scope: &ScopeKey, until: Instant) {
        // Only one turn at a time: two calls must not wait for each other.
        self.held = self.held.take().filter(|turn| turn.scope == *scope && self.turns.is_held(turn));
        if self.held.is_none() {
            let until = until.min(Instant::now() + PATIENCE);
            self.held = self.turns.take(scope, &self.tool, until).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use wharf_core::ScopeKind;
    use wharf_test_support::{let_time_pass, soon};

    use super::*;
    use crate::MemoryStore;

    fn scope(session: &str) -> ScopeKey {
        ScopeKey {
            tenant: "local".parse().expect("legal"),
            plugin: "planning".parse().expect("legal"),
            kind: ScopeKind::Session,
            session: session.parse().ok(),
            assistant: None,
            thread: None,
            bucket: "main".parse().expect("legal"),
        }
    }

    fn policy() -> ScopePolicy {
        ScopePolicy { quota_bytes: 1 << 30, quota_entries: 1_000, idle_expiry: None }
    }

    /// Adds 1 to a number as one call; returns the number of its conflicts.
    async fn increment(turns: &Arc<WriteTurns>, store: &MemoryStore) -> u32 {
        let mut contender = Contender::new(Arc::clone(turns), "increment".into());
        let (scope, keys) = (scope("s"), ["number".to_owned()]);
        let mut conflicts = 0;
        loop {
            contender.before_reading(&scope, soon()).await;
            let read = store.get_many(&scope, &policy(), &keys, 100).await.expect("a read").remove(0);
            let (number, revision) = read.map_or((0, 0), |entry| (entry.value[0], entry.revision));
            // Others run between every read and its write.
            tokio::task::yield_now().await;
            let change =
                StateChange { key: keys[0].clone(), value: Some(vec![number + 1]), if_revision: Some(revision) };
            match contender.apply(store, &scope, &policy(), vec![change], soon()).await {
                Ok(_) => return conflicts,
                Err(StateError::Conflict { .. }) => conflicts += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
    }

    // Nobody loses a turn to a machine that is busy: the clock stands still.
    #[tokio::test(start_paused = true)]
    async fn every_writer_comes_through_after_one_conflict_at_most_and_nothing_is_lost() {
        let (turns, store) = (Arc::<WriteTurns>::default(), Arc::new(MemoryStore::default()));
        let writers: Vec<_> = (0..200)
            .map(|_| {
                let (turns, store) = (Arc::clone(&turns), Arc::clone(&store));
                tokio::spawn(async move { increment(&turns, &store).await })
            })
            .collect();
        for writer in writers {
            assert!(writer.await.expect("a writer") <= 1);
        }
        let keys = ["number".to_owned()];
        let number = store.get_many(&scope("s"), &policy(), &keys, 100).await.expect("a read").remove(0);
        assert_eq!(number.expect("there").value, [200]);
        assert!(turns.scopes().is_empty(), "nothing is kept once nobody waits");
    }

    #[tokio::test]
    async fn who_sits_on_a_turn_loses_it_and_its_end_takes_nothing_from_the_next() {
        let (turns, scope, tool) = (Arc::<WriteTurns>::default(), scope("s"), Arc::<str>::from("tool"));
        let idle = turns.take(&scope, &tool, soon()).await.expect("the first");
        let served = Arc::new(AtomicU32::new(0));
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let (turns, scope, tool, served) = (Arc::clone(&turns), scope.clone(), tool.clone(), served.clone());
                tokio::spawn(async move {
                    let turn = turns.take(&scope, &tool, soon()).await;
                    served.fetch_add(1, Ordering::SeqCst);
                    // Each of them sits on it, too.
                    let_time_pass(LEASE * 5, "nothing else ends its turn").await;
                    turn.is_some()
                })
            })
            .collect();
        for waiter in waiting {
            assert!(waiter.await.expect("it does not panic"));
        }
        assert_eq!(served.load(Ordering::SeqCst), 3);
        assert!(!turns.is_held(&idle));
        let next = turns.take(&scope, &tool, soon()).await.expect("free again");
        drop(idle);
        assert!(turns.is_held(&next), "a turn that was over ended another one");
    }

    #[tokio::test]
    async fn who_goes_away_is_passed_over_and_who_waits_elsewhere_is_not_concerned() {
        let (turns, tool) = (Arc::<WriteTurns>::default(), Arc::<str>::from("tool"));
        let (here, there) = (scope("here"), scope("there"));
        let first = turns.take(&here, &tool, soon()).await.expect("the first");
        {
            let mut gone = std::pin::pin!(turns.take(&here, &tool, soon()));
            assert!(std::future::Future::poll(gone.as_mut(), &mut noop()).is_pending());
        }
        let mut second = std::pin::pin!(turns.take(&here, &tool, soon()));
        assert!(std::future::Future::poll(second.as_mut(), &mut noop()).is_pending());
        assert!(turns.take(&there, &tool, soon()).await.is_some());
        drop(first);
        assert!(second.await.is_some());
        assert!(turns.scopes().is_empty());
    }

    #[tokio::test]
    async fn calls_of_tools_that_never_change_it_do_not_wait() {
        let (turns, scope) = (Arc::<WriteTurns>::default(), scope("s"));
        let _held = turns.take(&scope, &"writer".into(), soon()).await.expect("the first");
        let mut reader = Contender::new(Arc::clone(&turns), "reader".into());
        {
            let mut reading = std::pin::pin!(reader.before_reading(&scope, soon()));
            assert!(std::future::Future::poll(reading.as_mut(), &mut noop()).is_ready());
        }
        assert!(reader.held.is_none());
    }

    fn noop() -> std::task::Context<'static> {
        std::task::Context::from_waker(std::task::Waker::noop())
    }
}
