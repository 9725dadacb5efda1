//! Sandboxes that are made before a child needs them: nearly all that a
//! contained child costs is the making of its sandbox, and agents run one
//! command after the other in the same one.
//!
//! A waiting sandbox has a supervisor, which waits for its launch, and nothing
//! else; it ends when the host drops its socket or ends itself, as all others.
//! One child at most gets it. What it shows is looked at when that happens; the
//! copies of settings in it are at most as old as it may wait. Knows nothing of
//! what children are to be.

use std::{
    fs,
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::{task::JoinHandle, time::Instant};

use crate::{packet, wire::Charge};

/// How long a sandbox waits for a child.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many wait at most, whatever they are like. Where so many do, no other is
/// made: to end one for it would have many sessions take turns in making
/// sandboxes that nobody uses.
const MOST: usize = 8;

/// What two sandboxes have in common when a child could use either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Description {
    charge: Charge,
    /// Device and inode of what is shown; nothing where it is not there. While
    /// a sandbox shows something, its number goes to nothing else.
    shown: Vec<Option<(u64, u64)>>,
}

impl Description {
    /// What this charge makes, now that these paths are what they are.
    pub(crate) fn new<'a>(charge: Charge, shown: impl IntoIterator<Item = &'a Path>) -> Self {
        let identity = |path| fs::metadata(path).map(|about| (about.dev(), about.ino())).ok();
        Self { charge, shown: shown.into_iter().map(identity).collect() }
    }

    pub(crate) fn charge(&self) -> &Charge {
        &self.charge
    }
}

/// The sandboxes that wait.
#[derive(Debug)]
pub(crate) struct Waiting {
    patience: Duration,
    // Not an async lock: held for a look at a few sockets.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sandboxes: Vec<Sandbox>,
    /// The task that ends those for which nobody came, while there are any.
    sweeper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Sandbox {
    description: Description,
    /// The host's end of its supervisor's socket.
    control: OwnedFd,
    ends: Instant,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { patience: PATIENCE, state: Mutex::default() }
    }
}

impl Waiting {
    /// The socket of a sandbox of this description. It waits no longer; that of
    /// one which shows what is not there any more ends.
    pub(crate) fn take(&self, wanted: &Description) -> Option<OwnedFd> {
        let mut state = self.state();
        state.forget_those_that_ended();
        let sandboxes = &mut state.sandboxes;
        let found = sandboxes.iter().position(|sandbox| sandbox.description.charge == wanted.charge)?;
        let sandbox = sandboxes.swap_remove(found);
        (sandbox.description == *wanted).then_some(sandbox.control)
    }

    /// Has a place for one more of this description, unless one waits or there
    /// are enough: the socket to give to its supervisor. Where that comes to
    /// nothing, it is enough to drop it.
    pub(crate) fn add(self: &Arc<Self>, description: Description) -> Option<OwnedFd> {
        let mut state = self.state();
        state.forget_those_that_ended();
        let sandboxes = &mut state.sandboxes;
        if sandboxes.len() >= MOST || sandboxes.iter().any(|other| other.description.charge == description.charge) {
            return None;
        }
        let (control, other) = packet::pair().ok()?;
        sandboxes.push(Sandbox { description, control, ends: Instant::now() + self.patience });
        if state.sweeper.as_ref().is_none_or(JoinHandle::is_finished) {
            state.sweeper = Some(tokio::spawn(sweep(Arc::downgrade(self))));
        }
        Some(other)
    }

    /// When the next of them is to end, if any waits.
    fn next_end(&self) -> Option<Instant> {
        let mut state = self.state();
        state.forget_those_that_ended();
        let next = state.sandboxes.iter().map(|sandbox| sandbox.ends).min();
        if next.is_none() {
            // Under the same lock, so whoever adds one now starts another.
            state.sweeper = None;
        }
        next
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets those that have waited long enough, which ends them, and those
    /// that ended by themselves: a sandbox that waits says nothing.
    fn forget_those_that_ended(&mut self) {
        let (now, at_once) = (Instant::now(), Timespec { tv_sec: 0, tv_nsec: 0 });
        self.sandboxes.retain(|sandbox| {
            let mut watched = [PollFd::new(&sandbox.control, PollFlags::IN)];
            now < sandbox.ends && poll(&mut watched, Some(&at_once)) == Ok(0)
        });
    }
}

/// Ends those for which nobody came. Keeps none from ending earlier.
async fn sweep(waiting: Weak<Waiting>) {
    while let Some(next) = waiting.upgrade().and_then(|waiting| waiting.next_end()) {
        tokio::time::sleep_until(next).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Bounds, Task};

    fn waiting(patience: Duration) -> Arc<Waiting> {
        Arc::new(Waiting { patience, state: Mutex::default() })
    }

    fn description(number: u64) -> Description {
        let group = Some(Bounds { processes: Some(number), memory_bytes: None });
        Description::new(Charge { task: Task::Supervise, group }, [Path::new("/")])
    }

    fn count(waiting: &Waiting) -> usize {
        waiting.state().sandboxes.len()
    }

    #[tokio::test]
    async fn one_of_each_description_waits_and_one_child_gets_it() {
        let waiting = waiting(PATIENCE);
        let _supervisor = waiting.add(description(1)).expect("a place");
        assert!(waiting.add(description(1)).is_none(), "one is enough");
        assert!(waiting.take(&description(2)).is_none());
        assert!(waiting.take(&description(1)).is_some());
        assert!(waiting.take(&description(1)).is_none());
    }

    #[tokio::test]
    async fn no_more_than_a_few_wait() {
        let waiting = waiting(PATIENCE);
        let supervisors = (0..100).filter_map(|number| waiting.add(description(number))).collect::<Vec<_>>();
        assert_eq!((supervisors.len(), count(&waiting)), (MOST, MOST));
        drop(supervisors);
        // Those are gone, and take nobody's place.
        let _supervisor = waiting.add(description(200)).expect("a place");
        assert_eq!(count(&waiting), 1);
    }

    #[tokio::test]
    async fn one_for_which_nobody_comes_ends_and_so_does_the_sweeper() {
        let waiting = waiting(Duration::from_millis(50));
        let supervisor = waiting.add(description(1)).expect("a place");
        let told = tokio::task::spawn_blocking(move || packet::receive::<crate::wire::Order>(supervisor));
        assert!(told.await.expect("an answer").expect("the end of the socket").is_none());
        while waiting.state().sweeper.is_some() {
            tokio::task::yield_now().await;
        }
        assert_eq!(count(&waiting), 0);
        let _supervisor = waiting.add(description(1)).expect("a place");
        assert!(waiting.state().sweeper.is_some());
    }

    #[tokio::test]
    async fn one_that_shows_what_has_been_replaced_ends() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join("place");
        let described =
            || Description::new(Charge { task: Task::Supervise, group: None }, [place.as_path(), Path::new("/")]);
        fs::create_dir(&place).expect("a directory");
        let waiting = waiting(PATIENCE);
        let supervisor = waiting.add(described()).expect("a place");
        fs::rename(&place, directory.path().join("former")).expect("a new name");
        fs::create_dir(&place).expect("a directory");
        assert!(waiting.take(&described()).is_none());
        assert!(packet::receive::<crate::wire::Order>(supervisor).expect("the end of the socket").is_none());
    }
}
