//! Starts children: checks the request, looks after the root of the
//! supervisors, and hands each child over to a supervisor.
//!
//! Never forks itself: the host has threads, and none of its code may run between fork
//! and the program.

mod probing;

use std::{
    io,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    sync::Arc,
};

use rustix::process::geteuid;
use tokio::sync::Mutex;
use wharf_core::grant::AllowedCommand;

use crate::{
    Child, ChildLimits, Containment, ProbeWorkspace, SandboxMechanism, SpawnError, SpawnRequest, StandIn, StandIns,
    handover, packet,
    policy::PolicyError,
    prepared::{PreparedSandboxes, SandboxDescription},
    probe::ProbeWorkspaces,
    root::RootSupervisor,
    sandbox,
    stand_in::ChosenStandIns,
    supervisor, users,
    wire::{Enclosure, SupervisorOrder, SupervisorSpec, SupervisorTask, TreeBounds},
};
use probing::CapabilityCache;

/// Starts children, each below a supervisor of its own. Clones share one root.
///
/// After a child in namespaces the spawner keeps two empty sandboxes ready for half a minute, so
/// that the next children, of whatever session, start in a fraction of
/// the time. That child may see older copies of settings, such as `/etc/resolv.conf`. At
/// most eight sandboxes wait.
///
/// Children that live when the last clone is dropped live on: each ends with
/// its own [`Child`].
#[derive(Debug, Clone, Default)]
pub struct Spawner {
    // An async lock, so that requests which come while the root starts wait for
    // it. Held for a look-up otherwise.
    root: Arc<Mutex<Option<Arc<RootSupervisor>>>>,
    capabilities: Arc<CapabilityCache>,
    prepared: Arc<PreparedSandboxes>,
    never_prepares: bool,
    only_mechanism: Option<SandboxMechanism>,
    namespaces_required: bool,
    probe_workspaces: Option<ProbeWorkspaces>,
    stand_ins: ChosenStandIns,
}

impl Spawner {
    /// A spawner that has started nothing yet. The first request starts the root, and the
    /// first contained one probes this machine.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A spawner that uses this mechanism and no other, for tests of both.
    #[doc(hidden)]
    #[must_use]
    pub fn with(mechanism: SandboxMechanism) -> Self {
        Self { only_mechanism: Some(mechanism), ..Self::default() }
    }

    /// Contains children by namespaces alone: where they do not
    /// work, the spawner refuses all contained children, and no grant gives that up.
    #[must_use]
    pub fn requiring_namespaces(self) -> Self {
        Self { namespaces_required: true, ..self }
    }

    /// Also tries mechanisms in workspaces that `make` makes, as those of
    /// sessions are made. `make` may wait for the disk.
    #[must_use]
    pub fn probing_in(self, make: impl Fn() -> io::Result<ProbeWorkspace> + Send + Sync + 'static) -> Self {
        Self { probe_workspaces: Some(ProbeWorkspaces(Arc::new(make))), ..self }
    }

    /// Has programs played by others. Children of the host itself are always what they are.
    #[must_use]
    pub fn standing_in(self, stand_ins: Arc<dyn StandIns>) -> Self {
        Self { stand_ins: ChosenStandIns::new(stand_ins), ..self }
    }

    /// The program that plays the part of an allowed command, for [`CommandRequest::stand_in`].
    ///
    /// # Errors
    /// Why the command may not run at all.
    ///
    /// [`CommandRequest::stand_in`]: crate::policy::CommandRequest::stand_in
    pub fn stand_in(&self, command: &AllowedCommand<'_>, arguments: &[String]) -> Result<Option<StandIn>, PolicyError> {
        self.stand_ins.find(command, arguments)
    }

    /// Makes every sandbox for its request, for tests of both ways.
    #[doc(hidden)]
    #[must_use]
    pub fn without_prepared_sandboxes(self) -> Self {
        Self { never_prepares: true, ..self }
    }

    /// Starts a child. Dropping the future ends what it has started. A request without
    /// containment does not wait for a probe of the machine.
    ///
    /// # Errors
    /// [`SpawnError`]; then nothing of the child is left.
    pub async fn spawn(&self, request: SpawnRequest) -> Result<Child, SpawnError> {
        let mechanism = match &request.containment {
            Containment::None | Containment::Files(_) => None,
            Containment::Required(_) => {
                let found = self.capabilities().await?;
                match &found.containment {
                    Ok(mechanism) => Some(*mechanism),
                    Err(missing) if found.settled => {
                        let required = found.namespaces_required;
                        return Err(SpawnError::Uncontainable { missing: missing.to_string(), required });
                    }
                    Err(missing) => return Err(SpawnError::Unproven { missing: missing.to_string() }),
                }
            }
        };
        self.start(request, mechanism, !self.never_prepares).await
    }

    async fn start(
        &self,
        request: SpawnRequest,
        mechanism: Option<SandboxMechanism>,
        ahead: bool,
    ) -> Result<Child, SpawnError> {
        request.check()?;
        supervisor::null().map_err(SpawnError::NullDevice)?;
        if let Some(user) = request.user
            && !geteuid().is_root()
        {
            return Err(SpawnError::User { user });
        }
        let (spec, enclosure) = supervisor_spec(&request, mechanism)?;
        let description = match &request.containment {
            Containment::Required(_) if ahead && mechanism == Some(SandboxMechanism::Namespaces) => {
                Some(SandboxDescription::new(spec.clone(), sandbox::shown()))
            }
            _ => None,
        };
        let launch = handover::launch_of(&request, enclosure)?;
        let (pipes, streams) = handover::streams(&request)?;
        let mut given = vec![launch.as_fd(), streams[0].as_fd(), streams[1].as_fd(), streams[2].as_fd()];
        given.extend(request.descriptors.iter().map(|descriptor| descriptor.file.as_fd()));
        let ready = description.as_ref().and_then(|description| self.prepared.take(description));
        let Some(host) = ready else {
            let begun = self.begin_anew(&spec, &given, &request, mechanism).await;
            if let Some(description) = description
                && matches!(begun, Ok(_) | Err(SpawnError::Program { .. }))
            {
                self.make_ahead(description).await;
            }
            return Ok(begun?.with(pipes, false));
        };
        if let Some(description) = description {
            // Beside the start of this child: another processor may do it.
            self.make_ahead(description).await;
        }
        let (begun, prepared) = match Self::begin(host, &given, &request, mechanism).await {
            // The prepared sandbox ended just now, before it began anything.
            Err(SpawnError::Sandbox { .. }) => (self.begin_anew(&spec, &given, &request, mechanism).await, false),
            begun => (begun, true),
        };
        Ok(begun?.with(pipes, prepared))
    }

    async fn begin_anew(
        &self,
        spec: &SupervisorSpec,
        given: &[BorrowedFd<'_>],
        request: &SpawnRequest,
        mechanism: Option<SandboxMechanism>,
    ) -> Result<Child, SpawnError> {
        let (host, other) = packet::pair().map_err(SpawnError::system("make a socket"))?;
        self.fork_supervisor(spec, &other).await?;
        drop(other);
        Self::begin(host, given, request, mechanism).await
    }

    /// Orders the supervisor at the other end of this socket to start the child.
    async fn begin(
        host: OwnedFd,
        given: &[BorrowedFd<'_>],
        request: &SpawnRequest,
        mechanism: Option<SandboxMechanism>,
    ) -> Result<Child, SpawnError> {
        if let Err(error) = packet::send(&host, &SupervisorOrder::Launch, given)
            && !matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
        {
            return Err(SpawnError::System { action: "send a child's streams", source: error });
        }
        // Where the supervisor has ended, its last report is in the socket.
        Child::begin(host, request, mechanism).await
    }

    /// Prepares sandboxes of this description. A failure is harmless: the next child
    /// makes its own.
    async fn make_ahead(&self, description: SandboxDescription) {
        let Ok(root) = self.root(None).await else { return };
        while let Some(other) = self.prepared.reserve(description.clone()) {
            if let Err(error) = root.fork_supervisor(description.spec(), &other) {
                tracing::debug!(%error, "no sandbox is made ahead");
                return;
            }
        }
    }

    /// Hands a child's socket to the root; starts another root where this one
    /// was killed.
    async fn fork_supervisor(&self, spec: &SupervisorSpec, child: &OwnedFd) -> Result<(), SpawnError> {
        let root = self.root(None).await?;
        let Err(error) = root.fork_supervisor(spec, child) else { return Ok(()) };
        if error.kind() == io::ErrorKind::InvalidInput {
            return Err(SpawnError::System { action: "describe the sandbox in one packet", source: error });
        }
        tracing::warn!(%error, "the root of the supervisors is gone; starting another");
        self.root(Some(&root)).await?.fork_supervisor(spec, child).map_err(SpawnError::Supervisor)
    }

    /// The root; starts one where there is none, or only the one that is gone.
    async fn root(&self, gone: Option<&Arc<RootSupervisor>>) -> Result<Arc<RootSupervisor>, SpawnError> {
        let mut current = self.root.lock().await;
        if let Some(root) = current.as_ref()
            && gone.is_none_or(|gone| !Arc::ptr_eq(gone, root))
        {
            return Ok(Arc::clone(root));
        }
        let started = tokio::task::spawn_blocking(RootSupervisor::start).await.map_err(io::Error::other);
        let root = Arc::new(started.and_then(|root| root).map_err(SpawnError::Supervisor)?);
        Ok(Arc::clone(current.insert(root)))
    }
}

/// The supervisor that this request needs, and the enclosure of its child.
fn supervisor_spec(
    request: &SpawnRequest,
    mechanism: Option<SandboxMechanism>,
) -> Result<(SupervisorSpec, Enclosure), SpawnError> {
    let (task, enclosure) = match (&request.containment, mechanism) {
        (Containment::Required(sandbox), Some(SandboxMechanism::Namespaces)) => {
            let home = users::home(&request.environment, sandbox);
            let view = sandbox::view(sandbox, request.user, &home);
            (SupervisorTask::Contain { network: sandbox.network }, Enclosure::Around(view))
        }
        (Containment::Required(sandbox), _) => {
            (SupervisorTask::Supervise, Enclosure::Landlock(sandbox::confinement(sandbox)?))
        }
        (Containment::Files(sandbox), _) => {
            (SupervisorTask::Supervise, Enclosure::Files(sandbox::confinement(sandbox)?))
        }
        (Containment::None, _) => (SupervisorTask::Supervise, Enclosure::None),
    };
    let ChildLimits { processes, memory_bytes, tree_memory_bytes, .. } = request.limits;
    let memory_bytes = tree_memory_bytes.or(memory_bytes);
    // A user namespace counts by itself. A group takes milliseconds to enter, so
    // it is for trees that nothing else counts.
    let counted = mechanism == Some(SandboxMechanism::Namespaces) && (request.user.is_some() || !geteuid().is_root());
    let bounds = TreeBounds {
        // The supervisor is in the group.
        processes: processes.filter(|_| !counted).map(|processes| processes.saturating_add(1)),
        memory_bytes,
    };
    let group = (bounds.processes.is_some() || memory_bytes.is_some()).then_some(bounds);
    Ok((SupervisorSpec { task, group }, enclosure))
}
