//! The way to a child: checks the request, looks after the root of the
//! supervisors, and hands each child over to one.
//!
//! Never forks itself: the host has threads, and between fork and the program
//! nothing of it may run.

mod errors;
mod knowledge;

use std::{
    io,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    sync::Arc,
};

use rustix::process::geteuid;
use tokio::sync::Mutex;

use crate::{
    Child, Contained, Containment, Limits, SpawnError, SpawnRequest, handover, packet,
    probe::{Places, ProbePlace},
    root::Root,
    sandbox, supervisor, users,
    waiting::{Description, Waiting},
    wire::{Bounds, Charge, Order, Task, Walls},
};
use errors::Errors;
use knowledge::Knowledge;

/// Starts children, each below a supervisor of its own. Clones share one root.
///
/// After a child in bubblewrap it has one more sandbox made that is just the
/// same, for half a minute, so that the next such child starts in a fraction of
/// the time. Such a child may see files of settings, as `/etc/resolv.conf`, as
/// they were then. At most eight wait.
///
/// Children that live when the last clone is dropped live on: each ends with
/// its own [`Child`].
#[derive(Debug, Clone, Default)]
pub struct Spawner {
    // An async lock, so that those who come while the root is started wait for
    // that one. Held for a look-up otherwise.
    root: Arc<Mutex<Option<Arc<Root>>>>,
    knowledge: Arc<Knowledge>,
    waiting: Arc<Waiting>,
    each_anew: bool,
    forced: Option<Contained>,
    bubblewrap_required: bool,
    places: Option<Places>,
}

impl Spawner {
    /// A spawner that has started nothing yet: what it needs is started, and
    /// what this machine can do is tried, when that is first asked for.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A spawner that contains by this and by nothing else, for tests of both.
    #[doc(hidden)]
    #[must_use]
    pub fn with(contained: Contained) -> Self {
        Self { forced: Some(contained), ..Self::default() }
    }

    /// Has children contained by bubblewrap and by nothing else: where it does not
    /// work, all that are to be contained are refused, and no grant gives that up.
    #[must_use]
    pub fn requiring_bubblewrap(self) -> Self {
        Self { bubblewrap_required: true, ..self }
    }

    /// Has what contains children tried in places that this makes, as those of
    /// sessions are, too. It may wait for the disk.
    #[must_use]
    pub fn probing_in(self, places: impl Fn() -> io::Result<ProbePlace> + Send + Sync + 'static) -> Self {
        Self { places: Some(Places(Arc::new(places))), ..self }
    }

    /// Has every sandbox made when it is asked for, for tests of both.
    #[doc(hidden)]
    #[must_use]
    pub fn without_waiting(self) -> Self {
        Self { each_anew: true, ..self }
    }

    /// Starts a child. Dropping the future ends what it has started. Without
    /// containment it does not wait for what the machine can do.
    ///
    /// # Errors
    /// As [`SpawnError`] says; then nothing of the child is left.
    pub async fn spawn(&self, request: SpawnRequest) -> Result<Child, SpawnError> {
        let contained = match &request.containment {
            Containment::None => None,
            Containment::Required(_) => {
                let found = self.capabilities().await?;
                match &found.containment {
                    Ok(contained) => Some(*contained),
                    Err(missing) if found.settled => {
                        let required = found.bubblewrap_required;
                        return Err(SpawnError::Uncontainable { missing: missing.clone(), required });
                    }
                    Err(missing) => return Err(SpawnError::Unproven { missing: missing.clone() }),
                }
            }
        };
        self.start(request, contained, !self.each_anew).await
    }

    async fn start(
        &self,
        request: SpawnRequest,
        contained: Option<Contained>,
        ahead: bool,
    ) -> Result<Child, SpawnError> {
        request.check()?;
        supervisor::null().map_err(SpawnError::NullDevice)?;
        if let Some(user) = request.user
            && !geteuid().is_root()
        {
            return Err(SpawnError::User { user });
        }
        let (charge, walls) = charge_of(&request, contained)?;
        let description = match &request.containment {
            Containment::Required(sandbox) if ahead && contained == Some(Contained::Bubblewrap) => {
                Some(Description::new(charge.clone(), sandbox::shown(sandbox)))
            }
            _ => None,
        };
        let launch = handover::launch_of(&request, walls)?;
        let (pipes, streams) = handover::streams(&request)?;
        let mut given = vec![launch.as_fd(), streams[0].as_fd(), streams[1].as_fd(), streams[2].as_fd()];
        given.extend(request.descriptors.iter().map(|descriptor| descriptor.file.as_fd()));
        let ready = description.as_ref().and_then(|description| self.waiting.take(description));
        let (begun, waited) = match ready {
            Some(host) => match Self::begin(host, &given, &request, contained).await {
                // It ended just now, with nothing begun.
                Err(SpawnError::Sandbox { .. }) => (self.begin_anew(&charge, &given, &request, contained).await, false),
                begun => (begun, true),
            },
            None => (self.begin_anew(&charge, &given, &request, contained).await, false),
        };
        if let Some(description) = description
            && matches!(begun, Ok(_) | Err(SpawnError::Program { .. }))
        {
            self.make_ahead(description).await;
        }
        Ok(begun?.with(pipes, waited))
    }

    async fn begin_anew(
        &self,
        charge: &Charge,
        given: &[BorrowedFd<'_>],
        request: &SpawnRequest,
        contained: Option<Contained>,
    ) -> Result<Child, SpawnError> {
        let (host, other) = packet::pair().map_err(SpawnError::system("make a socket"))?;
        let (errors, written) = match charge.task {
            Task::Contain(_) => Errors::pipe().map(|(errors, written)| (Some(errors), Some(written)))?,
            Task::Supervise => (None, None),
        };
        self.charge(charge, &other, written.as_ref()).await?;
        drop((other, written));
        match (Self::begin(host, given, request, contained).await, errors) {
            // All that held its socket are gone, so what they wrote is there.
            (Err(SpawnError::Sandbox { .. }), Some(errors)) => Err(SpawnError::Sandbox { said: errors.last_line() }),
            (begun, _) => begun,
        }
    }

    /// Has the supervisor at the other end of this socket start the child.
    async fn begin(
        host: OwnedFd,
        given: &[BorrowedFd<'_>],
        request: &SpawnRequest,
        contained: Option<Contained>,
    ) -> Result<Child, SpawnError> {
        if let Err(error) = packet::send(&host, &Order::Launch, given)
            && !matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
        {
            return Err(SpawnError::System { action: "send a child's streams", source: error });
        }
        // Where the supervisor has ended, what it said of that is there.
        Child::begin(host, request, contained == Some(Contained::Bubblewrap)).await
    }

    /// Has one more sandbox of this description made. That it cannot be is no
    /// failure: the next child then has one made.
    async fn make_ahead(&self, description: Description) {
        let charge = description.charge().clone();
        let Ok(root) = self.root(None).await else { return };
        let Some(other) = self.waiting.add(description) else { return };
        if let Err(error) = root.charge(&charge, &other, None) {
            tracing::debug!(%error, "no sandbox is made ahead");
        }
    }

    /// Hands a child's socket to the root; starts another root where this one
    /// was killed.
    async fn charge(&self, charge: &Charge, child: &OwnedFd, errors: Option<&OwnedFd>) -> Result<(), SpawnError> {
        let root = self.root(None).await?;
        let Err(error) = root.charge(charge, child, errors) else { return Ok(()) };
        if error.kind() == io::ErrorKind::InvalidInput {
            return Err(SpawnError::System { action: "describe the sandbox in one packet", source: error });
        }
        tracing::warn!(%error, "the root of the supervisors is gone; starting another");
        self.root(Some(&root)).await?.charge(charge, child, errors).map_err(SpawnError::Supervisor)
    }

    /// The root, started where there is none but the one that is gone.
    async fn root(&self, gone: Option<&Arc<Root>>) -> Result<Arc<Root>, SpawnError> {
        let mut kept = self.root.lock().await;
        if let Some(root) = kept.as_ref()
            && gone.is_none_or(|gone| !Arc::ptr_eq(gone, root))
        {
            return Ok(Arc::clone(root));
        }
        let started = tokio::task::spawn_blocking(Root::start).await.map_err(io::Error::other);
        let root = Arc::new(started.and_then(|root| root).map_err(SpawnError::Supervisor)?);
        Ok(Arc::clone(kept.insert(root)))
    }
}

/// What the root is to do for this request, and what keeps its child in.
fn charge_of(request: &SpawnRequest, contained: Option<Contained>) -> Result<(Charge, Walls), SpawnError> {
    let (task, walls) = match (&request.containment, contained) {
        (Containment::Required(sandbox), Some(Contained::Bubblewrap)) => match sandbox::find() {
            Some(bubblewrap) => {
                let home = users::home(&request.environment, sandbox);
                (Task::Contain(sandbox::command(&bubblewrap, sandbox, request.user, &home)), Walls::Around)
            }
            None => {
                let missing = "bubblewrap is not there any more".into();
                return Err(SpawnError::Uncontainable { missing, required: false });
            }
        },
        (Containment::Required(sandbox), _) => (Task::Supervise, Walls::Landlock(sandbox::confinement(sandbox)?)),
        (Containment::None, _) => (Task::Supervise, Walls::None),
    };
    let Limits { processes, memory_bytes, .. } = request.limits;
    // There the user namespace counts. A group takes milliseconds to enter, so
    // it is for those that nothing else counts.
    let counted = contained == Some(Contained::Bubblewrap) && (request.user.is_some() || !geteuid().is_root());
    let bounds = Bounds {
        // The supervisor is in the group, and so is bubblewrap.
        processes: processes.filter(|_| !counted).map(|processes| processes.saturating_add(2)),
        memory_bytes,
    };
    let group = (bounds.processes.is_some() || memory_bytes.is_some()).then_some(bounds);
    Ok((Charge { task, group }, walls))
}
