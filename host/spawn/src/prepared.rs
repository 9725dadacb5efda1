//! Sandboxes that are made before a child needs them: making the sandbox is most of
//! the cost of a contained child, and agents run one command after the other.
//!
//! A prepared sandbox is blank: it shows what is the same for all children, and has only a
//! supervisor, which waits for its launch and ends when the host drops its socket or ends
//! itself, as all supervisors do. At most one child gets it, with the files and the user of
//! its own session. The host compares the system's files that it shows at that moment; the
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
/// Most prepared sandboxes. While so many wait, the spawner prepares no other: ending one
/// for another would have many sessions take turns in making sandboxes that no child uses.
const MOST: usize = 8;

/// Prepared sandboxes of one description: two processors make them at once for commands without
/// a pause, and commands at once find more than one.
const EACH: usize = 2;

/// Describes a blank sandbox; a child could use either of two with equal descriptions.
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
    ends: Instant,
}

impl Default for PreparedSandboxes {
    fn default() -> Self {
        Self { patience: PATIENCE, state: Mutex::default() }
    }
}

impl PreparedSandboxes {
    /// Takes a sandbox of this description and returns its socket. Ends a sandbox of the
    /// same spec that shows files which were replaced since.
    pub(crate) fn take(&self, description: &SandboxDescription) -> Option<OwnedFd> {
        let mut state = self.state();
        state.forget_ended();
        let sandboxes = &mut state.sandboxes;
        let found = sandboxes.iter().position(|sandbox| sandbox.description.spec == description.spec)?;
        let sandbox = sandboxes.swap_remove(found);
        (sandbox.description == *description).then_some(sandbox.control)
    }

    /// Makes room for a sandbox of this description, unless enough of it or of all
    /// wait, and returns the socket for its supervisor. Dropping the socket
    /// gives the room up.
    pub(crate) fn reserve(self: &Arc<Self>, description: SandboxDescription) -> Option<OwnedFd> {
        let mut state = self.state();
        state.forget_ended();
        let sandboxes = &mut state.sandboxes;
        let equal = sandboxes.iter().filter(|other| other.description.spec == description.spec).count();
        if sandboxes.len() >= MOST || equal >= EACH {
            return None;
        }
        let (control, other) = packet::pair().ok()?;
        sandboxes.push(PreparedSandbox { description, control, ends: Instant::now() + self.patience });
        if state.sweeper.as_ref().is_none_or(JoinHandle::is_finished) {
            state.sweeper = Some(tokio::spawn(sweep(Arc::downgrade(self))));
        }
        Some(other)
    }

    /// When the next sandbox ends, if any waits.
    fn next_end(&self) -> Option<Instant> {
        let mut state = self.state();
        state.forget_ended();
        let next = state.sandboxes.iter().map(|sandbox| sandbox.ends).min();
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
    fn forget_ended(&mut self) {
        let (now, at_once) = (Instant::now(), Timespec { tv_sec: 0, tv_nsec: 0 });
        self.sandboxes.retain(|sandbox| {
            let mut watched = [PollFd::new(&sandbox.control, PollFlags::IN)];
            now < sandbox.ends && poll(&mut watched, Some(&at_once)) == Ok(0)
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
    async fn two_of_each_description_wait_and_one_child_gets_one() {
        let prepared = prepared(PATIENCE);
        let _supervisors = [(); EACH].map(|()| prepared.reserve(description(1)).expect("a place"));
        assert!(prepared.reserve(description(1)).is_none(), "two are enough");
        assert!(prepared.take(&description(2)).is_none());
        assert!(prepared.take(&description(1)).is_some());
        assert!(prepared.take(&description(1)).is_some());
        assert!(prepared.take(&description(1)).is_none());
    }

    #[tokio::test]
    async fn no_more_than_a_few_wait() {
        let prepared = prepared(PATIENCE);
        let supervisors = (0..100).filter_map(|number| prepared.reserve(description(number))).collect::<Vec<_>>();
        assert_eq!((supervisors.len(), count(&prepared)), (MOST, MOST));
        drop(supervisors);
        // Sandboxes that are gone take no room.
        let _supervisor = prepared.reserve(description(200)).expect("a place");
        assert_eq!(count(&prepared), 1);
    }

    #[tokio::test]
    async fn one_for_which_nobody_comes_ends_and_so_does_the_sweeper() {
        let prepared = prepared(Duration::from_millis(50));
        let supervisor = prepared.reserve(description(1)).expect("a place");
        let told = tokio::task::spawn_blocking(move || packet::receive::<crate::wire::SupervisorOrder>(supervisor));
        assert!(told.await.expect("an answer").expect("the end of the socket").is_none());
        while prepared.state().sweeper.is_some() {
            tokio::task::yield_now().await;
        }
        assert_eq!(count(&prepared), 0);
        let _supervisor = prepared.reserve(description(1)).expect("a place");
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
        let supervisor = prepared.reserve(described()).expect("a place");
        fs::rename(&place, directory.path().join("former")).expect("a new name");
        fs::create_dir(&place).expect("a directory");
        assert!(prepared.take(&described()).is_none());
        assert!(packet::receive::<crate::wire::SupervisorOrder>(supervisor).expect("the end of the socket").is_none());
    }
}
