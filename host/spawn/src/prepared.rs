//! Sandboxes that are made before a child needs them: making the sandbox is nearly the whole
//! cost of a contained child, and agents run one command after the other in equal ones.
//!
//! A prepared sandbox has only a supervisor, which waits for its launch and
//! ends when the host drops its socket or ends itself, as all supervisors do.
//! At most one child gets it. The host compares the files that it shows at that moment; the
//! copies of settings in it are at most as old as it may wait. Knows nothing of
//! the programs of children.

use std::{
    fs,
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::Path,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::{task::JoinHandle, time::Instant};

use crate::{packet, wire::SupervisorSpec};

/// How long a sandbox waits for a child.
const PATIENCE: Duration = Duration::from_secs(30);
/// A child that takes a sandbox so soon is one of a row: while it runs, one sandbox cannot be
/// made in time for the next child.
const YOUNG: Duration = Duration::from_millis(20);
/// How many equal sandboxes wait while children come in a row. Each is made by one processor.
const MOST_EQUAL: usize = 2;
/// Most prepared sandboxes. While so many wait, the spawner prepares no other: ending one
/// for another would have many sessions take turns in making sandboxes that no child uses.
const MOST: usize = 8;

/// Describes a sandbox; a child could use either of two sandboxes with equal descriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SandboxDescription {
    spec: SupervisorSpec,
    /// Device and inode of each shown path; none for an absent path. While
    /// a sandbox shows a file, no other file gets its inode.
    shown: Vec<Option<(u64, u64)>>,
}

impl SandboxDescription {
    /// Describes the sandbox that this spec makes now, which shows these paths.
    pub(crate) fn new<'a>(spec: SupervisorSpec, shown: impl IntoIterator<Item = &'a Path>) -> Self {
        let identity = |path| fs::metadata(path).map(|about| (about.dev(), about.ino())).ok();
        Self { spec, shown: shown.into_iter().map(identity).collect() }
    }

    pub(crate) fn spec(&self) -> &SupervisorSpec {
        &self.spec
    }
}

/// The prepared sandboxes of one spawner and its clones.
#[derive(Debug)]
pub(crate) struct PreparedSandboxes {
    patience: Duration,
    // Not an async lock: held for a look at a few sockets.
    state: Mutex<PreparedState>,
}

#[derive(Debug, Default)]
struct PreparedState {
    sandboxes: Vec<PreparedSandbox>,
    /// The task that ends sandboxes which no child took, while there are any.
    sweeper: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct PreparedSandbox {
    description: SandboxDescription,
    /// The host's end of its supervisor's socket.
    control: OwnedFd,
    began: Instant,
}

/// A sandbox that a child takes.
#[derive(Debug)]
pub(crate) struct TakenSandbox {
    /// The host's end of its supervisor's socket.
    pub(crate) control: OwnedFd,
    /// How many equal ones should wait for the next children.
    pub(crate) next: usize,
}

impl Default for PreparedSandboxes {
    fn default() -> Self {
        Self { patience: PATIENCE, state: Mutex::default() }
    }
}

impl PreparedSandboxes {
    /// Takes the oldest sandbox of this description. Ends those of the same spec that show
    /// files which were replaced since.
    pub(crate) fn take(&self, description: &SandboxDescription) -> Option<TakenSandbox> {
        let mut state = self.state();
        state.forget_ended(self.patience);
        let sandboxes = &mut state.sandboxes;
        sandboxes.retain(|other| other.description.spec != description.spec || other.description == *description);
        let equal = sandboxes.iter().enumerate().filter(|(_, sandbox)| sandbox.description == *description);
        let (found, _) = equal.min_by_key(|(_, sandbox)| sandbox.began)?;
        let PreparedSandbox { control, began, .. } = sandboxes.swap_remove(found);
        Some(TakenSandbox { control, next: if began.elapsed() < YOUNG { MOST_EQUAL } else { 1 } })
    }

    /// Makes room for a sandbox of this description, unless `equal` such wait or there
    /// are enough of all, and returns the socket for its supervisor. Dropping the socket
    /// gives the room up.
    pub(crate) fn reserve(self: &Arc<Self>, description: &SandboxDescription, equal: usize) -> Option<OwnedFd> {
        let mut state = self.state();
        state.forget_ended(self.patience);
        let sandboxes = &mut state.sandboxes;
        let waiting = sandboxes.iter().filter(|other| other.description.spec == description.spec).count();
        if sandboxes.len() >= MOST || waiting >= equal {
            return None;
        }
        let (control, other) = packet::pair().ok()?;
        sandboxes.push(PreparedSandbox { description: description.clone(), control, began: Instant::now() });
        if state.sweeper.as_ref().is_none_or(JoinHandle::is_finished) {
            state.sweeper = Some(tokio::spawn(sweep(Arc::downgrade(self))));
        }
        Some(other)
    }

    /// When the next sandbox ends, if any waits.
    fn next_end(&self) -> Option<Instant> {
        let mut state = self.state();
        state.forget_ended(self.patience);
        let next = state.sandboxes.iter().map(|sandbox| sandbox.began + self.patience).min();
        if next.is_none() {
            // Under the same lock, so the next reservation starts another sweeper.
            state.sweeper = None;
        }
        next
    }

    fn state(&self) -> MutexGuard<'_, PreparedState> {
        self.state.lock()
    }
}

impl PreparedState {
    /// Forgets sandboxes that have waited long enough, which ends them, and sandboxes
    /// that ended by themselves: the supervisor of a waiting sandbox sends nothing.
    fn forget_ended(&mut self, patience: Duration) {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        self.sandboxes.retain(|sandbox| {
            let mut watched = [PollFd::new(&sandbox.control, PollFlags::IN)];
            sandbox.began.elapsed() < patience && poll(&mut watched, Some(&at_once)) == Ok(0)
        });
    }
}

/// Ends sandboxes that no child took. Keeps none of them alive itself.
async fn sweep(prepared: Weak<PreparedSandboxes>) {
    while let Some(next) = prepared.upgrade().and_then(|prepared| prepared.next_end()) {
        tokio::time::sleep_until(next).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{SupervisorTask, TreeBounds};

    fn prepared(patience: Duration) -> Arc<PreparedSandboxes> {
        Arc::new(PreparedSandboxes { patience, state: Mutex::default() })
    }

    fn description(number: u64) -> SandboxDescription {
        let group = Some(TreeBounds { processes: Some(number), memory_bytes: None });
        SandboxDescription::new(SupervisorSpec { task: SupervisorTask::Supervise, group }, [Path::new("/")])
    }

    fn count(prepared: &PreparedSandboxes) -> usize {
        prepared.state().sandboxes.len()
    }

    #[tokio::test]
    async fn one_of_each_description_waits_and_one_child_gets_it() {
        let prepared = prepared(PATIENCE);
        let _supervisor = prepared.reserve(&description(1), 1).expect("a place");
        assert!(prepared.reserve(&description(1), 1).is_none(), "one is enough");
        assert!(prepared.take(&description(2)).is_none());
        assert!(prepared.take(&description(1)).is_some());
        assert!(prepared.take(&description(1)).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn children_in_a_row_have_two_made_and_others_one() {
        let prepared = prepared(PATIENCE);
        let first = prepared.reserve(&description(1), 1).expect("a place");
        let taken = prepared.take(&description(1)).expect("it waits");
        assert_eq!(taken.next, MOST_EQUAL, "it was taken at once");
        let row: Vec<_> = (0..3).filter_map(|_| prepared.reserve(&description(1), taken.next)).collect();
        assert_eq!(row.len(), MOST_EQUAL);
        tokio::time::advance(YOUNG).await;
        assert_eq!(prepared.take(&description(1)).map(|taken| taken.next), Some(1), "it waited for its child");
        assert!(prepared.reserve(&description(1), 1).is_none(), "the other one of the row waits");
        drop((first, row));
    }

    #[tokio::test]
    async fn no_more_than_a_few_wait() {
        let prepared = prepared(PATIENCE);
        let supervisors = (0..100).filter_map(|number| prepared.reserve(&description(number), 1)).collect::<Vec<_>>();
        assert_eq!((supervisors.len(), count(&prepared)), (MOST, MOST));
        drop(supervisors);
        // Sandboxes that are gone take no room.
        let _supervisor = prepared.reserve(&description(200), 1).expect("a place");
        assert_eq!(count(&prepared), 1);
    }

    #[tokio::test]
    async fn one_for_which_nobody_comes_ends_and_so_does_the_sweeper() {
        let prepared = prepared(Duration::from_millis(50));
        let supervisor = prepared.reserve(&description(1), 1).expect("a place");
        let told = tokio::task::spawn_blocking(move || packet::receive::<crate::wire::SupervisorOrder>(supervisor));
        assert!(told.await.expect("an answer").expect("the end of the socket").is_none());
        while prepared.state().sweeper.is_some() {
            tokio::task::yield_now().await;
        }
        assert_eq!(count(&prepared), 0);
        let _supervisor = prepared.reserve(&description(1), 1).expect("a place");
        assert!(prepared.state().sweeper.is_some());
    }

    #[tokio::test]
    async fn one_that_shows_what_has_been_replaced_ends() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join("place");
        let described = || {
            SandboxDescription::new(
                SupervisorSpec { task: SupervisorTask::Supervise, group: None },
                [place.as_path(), Path::new("/")],
            )
        };
        fs::create_dir(&place).expect("a directory");
        let prepared = prepared(PATIENCE);
        let supervisor = prepared.reserve(&described(), 1).expect("a place");
        fs::rename(&place, directory.path().join("former")).expect("a new name");
        fs::create_dir(&place).expect("a directory");
        assert!(prepared.take(&described()).is_none());
        assert!(packet::receive::<crate::wire::SupervisorOrder>(supervisor).expect("the end of the socket").is_none());
    }
}
