//! Turns at a scope that many calls change at once: who goes next, in the order
//! in which they came.
//!
//! Compare-and-swap alone lets one writer through while all others fail, read
//! again and fail again. Where that happens, a call that failed waits for its
//! turn before it is told, and then has the scope for as long as it takes to
//! read, change and write again. While some wait, a call of the same tool waits
//! before it reads for the first time: what it read now would be old by the
//! time it writes. Calls of tools that only read never wait.
//!
//! A turn is advice and no lock. It ends with the next write, with the call, or
//! after [`LEASE`], so that nobody holds others up; who does not want to wait
//! any more goes on without one; other processes know nothing of it. What is
//! right is decided by the revisions alone.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::oneshot;
use wharf_core::ScopeKey;

use crate::{Change, Policy, StateError, StateStore};

/// How long a turn lasts where nothing ends it earlier: time to read, change
/// and write a document of some size.
const LEASE: Duration = Duration::from_millis(10);
/// How long a call waits for its turn. Past it, it is as without turns.
const PATIENCE: Duration = Duration::from_millis(500);

/// The turns at all scopes of one store in this process.
#[derive(Debug, Default)]
pub struct Turns {
    // Held for a look-up and a change of a queue, never across an await.
    scopes: Mutex<HashMap<ScopeKey, Queue>>,
    /// No two turns have one number, whatever their scope.
    last_turn: AtomicU64,
}

/// Who has the turn at a scope, and who waits for it.
#[derive(Debug, Default)]
struct Queue {
    holder: Option<Holder>,
    waiting: VecDeque<oneshot::Sender<Turn>>,
    /// Tools whose calls came into conflict here since somebody had the turn.
    tools: HashSet<Arc<str>>,
    /// Whether a task looks after turns that last too long: only while
    /// somebody waits.
    watched: bool,
}

#[derive(Debug, Clone, Copy)]
struct Holder {
    number: u64,
    until: Instant,
}

/// The right to go next. Passes on when it is dropped.
#[derive(Debug)]
struct Turn {
    turns: Arc<Turns>,
    scope: ScopeKey,
    number: u64,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.pass_on(&self.scope, self.number);
    }
}

impl Turns {
    fn scopes(&self) -> MutexGuard<'_, HashMap<ScopeKey, Queue>> {
        // Nothing panics between two changes that belong together.
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody has the turn.
    fn is_taken(&self, scope: &ScopeKey) -> bool {
        self.scopes().contains_key(scope)
    }

    /// Whether calls of this tool stand in line.
    fn is_contended(&self, scope: &ScopeKey, tool: &str) -> bool {
        self.scopes().get(scope).is_some_and(|queue| queue.tools.contains(tool))
    }

    fn is_held(&self, turn: &Turn) -> bool {
        let holder = self.scopes().get(&turn.scope).and_then(|queue| queue.holder);
        holder.is_some_and(|holder| holder.number == turn.number && Instant::now() < holder.until)
    }

    /// Waits for a turn until `until`.
    async fn take(self: &Arc<Self>, scope: &ScopeKey, tool: &Arc<str>, until: Instant) -> Option<Turn> {
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
        // Dropping the receiver takes this call out of the queue, and a turn
        // that came at the last moment passes on as it is dropped with it.
        tokio::time::timeout_at(until.into(), coming).await.ok()?.ok()
    }

    fn grant(self: &Arc<Self>, queue: &mut Queue, scope: &ScopeKey) -> Turn {
        let number = self.last_turn.fetch_add(1, Ordering::Relaxed) + 1;
        queue.holder = Some(Holder { number, until: Instant::now() + LEASE });
        Turn { turns: Arc::clone(self), scope: scope.clone(), number }
    }

    /// Ends a turn, if it has not ended yet, and gives it to the next who still
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
        // Who went away in this moment gives the turn back: it is dropped
        // here, where the lock is free, and passes on again.
        drop(next.send(turn));
    }

    /// Ends turns that last too long while somebody waits.
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
                if holder.until <= Instant::now() {
                    turns.pass_on(&scope, holder.number);
                } else {
                    drop(turns);
                    tokio::time::sleep_until(holder.until.into()).await;
                }
            }
        });
    }
}

/// One call among those that change state. Whatever it holds ends with it.
#[derive(Debug)]
pub struct Contender {
    turns: Arc<Turns>,
    tool: Arc<str>,
    held: Option<Turn>,
}

/// What is in a slot that two look into.
fn taken(slot: &Mutex<Option<Turn>>) -> Option<Turn> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Contender {
    /// A call of `tool` that has nothing yet.
    #[must_use]
    pub fn new(turns: Arc<Turns>, tool: Arc<str>) -> Self {
        Self { turns, tool, held: None }
    }

    /// Has a call wait that is about to read what it will change, if others
    /// that do the same stand in line.
    pub async fn before_reading(&mut self, scope: &ScopeKey, until: Instant) {
        if self.turns.is_contended(scope, &self.tool) {
            self.step_up(scope, until).await;
        }
    }

    /// As [`StateStore::apply`], but a conflict is told once it is this call's
    /// turn at the scope: reading and applying again at once then comes
    /// through, as far as this process goes. Where others have the turn,
    /// changes that expect a revision queue up behind them.
    ///
    /// # Errors
    /// As [`StateStore::apply`].
    pub async fn apply(
        &mut self,
        store: &dyn StateStore,
        scope: &ScopeKey,
        policy: &Policy,
        changes: Vec<Change>,
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
        // until this call runs again. Where they are not, it comes back.
        let turn = Arc::new(Mutex::new(Some(turn)));
        let given = Arc::clone(&turn);
        let made = Box::new(move || drop(taken(&given)));
        let applied = store.apply_and_tell(scope, policy, changes, until, made).await;
        if let Err(StateError::Conflict { .. }) = &applied {
            self.held = taken(&turn);
            self.step_up(scope, until).await;
        }
        applied
    }

    /// Waits for the turn at this scope, unless it is this call's already.
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

    fn policy() -> Policy {
        Policy { quota_bytes: 1 << 30, quota_entries: 1_000, idle_expiry: None }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// One call that adds 1 to a number; how often it was in conflict.
    async fn increment(turns: &Arc<Turns>, store: &MemoryStore) -> u32 {
        let mut contender = Contender::new(Arc::clone(turns), "increment".into());
        let (scope, keys) = (scope("s"), ["number".to_owned()]);
        let mut conflicts = 0;
        loop {
            contender.before_reading(&scope, soon()).await;
            let read = store.get_many(&scope, &policy(), &keys, 100).await.expect("a read").remove(0);
            let (number, revision) = read.map_or((0, 0), |entry| (entry.value[0], entry.revision));
            // Others run between every read and its write.
            tokio::task::yield_now().await;
            let change = Change { key: keys[0].clone(), value: Some(vec![number + 1]), if_revision: Some(revision) };
            match contender.apply(store, &scope, &policy(), vec![change], soon()).await {
                Ok(_) => return conflicts,
                Err(StateError::Conflict { .. }) => conflicts += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn every_writer_comes_through_after_one_conflict_at_most_and_nothing_is_lost() {
        let (turns, store) = (Arc::<Turns>::default(), Arc::new(MemoryStore::default()));
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
        let (turns, scope, tool) = (Arc::<Turns>::default(), scope("s"), Arc::<str>::from("tool"));
        let idle = turns.take(&scope, &tool, soon()).await.expect("the first");
        let served = Arc::new(AtomicU32::new(0));
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let (turns, scope, tool, served) = (Arc::clone(&turns), scope.clone(), tool.clone(), served.clone());
                tokio::spawn(async move {
                    let turn = turns.take(&scope, &tool, soon()).await;
                    served.fetch_add(1, Ordering::SeqCst);
                    // Each of them sits on it, too.
                    tokio::time::sleep(LEASE * 5).await;
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
        let (turns, tool) = (Arc::<Turns>::default(), Arc::<str>::from("tool"));
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
        let (turns, scope) = (Arc::<Turns>::default(), scope("s"));
        let _held = turns.take(&scope, &"writer".into(), soon()).await.expect("the first");
        let mut reader = Contender::new(Arc::clone(&turns), "reader".into());
        let began = Instant::now();
        reader.before_reading(&scope, soon()).await;
        assert!(reader.held.is_none() && began.elapsed() < PATIENCE);
    }

    fn noop() -> std::task::Context<'static> {
        std::task::Context::from_waker(std::task::Waker::noop())
    }
}
