//! A host as a member of its cell.

mod beats;
mod files;
mod front_ends;
mod notices;
mod passing;
mod routing;
mod sessions;

pub use passing::{OtherHost, RequestHome};

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::RwLock;
use quick_cache::sync::Cache;
use tokio::{net::TcpListener, sync::watch, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wharf_core::{
    handle::{Handle, HandleMint},
    service::{HomeHost, Things},
};

use crate::{
    CellError, CellSettings, FrontEnds, Homes, HttpDoor, Incarnation, Members, NewMember, PeerTlsError,
    ProtocolSessions, SessionKey, StoreUnavailable,
    held::HeldHomes,
    notices::{Gathered, Heard},
    peer::{self, Links, Shown},
    roster::Roster,
    standing::Standing,
    suspicion::Suspicion,
};

/// Sessions of which it is remembered where they are.
const REMEMBERED: usize = 100_000;
/// How often joining is tried again where another host has the same incarnation.
const TRIES: usize = 4;

/// What the database of a cell keeps for its hosts.
pub struct CellStores {
    /// Who belongs to the cell.
    pub members: Arc<dyn Members>,
    /// Which host is the home of a session.
    pub homes: Arc<dyn Homes>,
    /// Which host goes on with a session of the protocol.
    pub sessions: Arc<dyn ProtocolSessions>,
    /// Which front ends are connected, and where.
    pub front_ends: Arc<dyn FrontEnds>,
}

impl CellStores {
    /// One database that keeps all of it.
    #[must_use]
    pub fn of<S: Members + Homes + ProtocolSessions + FrontEnds>(store: &Arc<S>) -> Self {
        Self {
            members: Arc::clone(store) as _,
            homes: Arc::clone(store) as _,
            sessions: Arc::clone(store) as _,
            front_ends: Arc::clone(store) as _,
        }
    }
}

/// A host as a member of its cell: it finds the homes of sessions, passes calls on, takes those
/// of others, and watches who lives. Clones are the same member.
#[derive(Clone)]
pub struct Cell {
    shared: Arc<Membership>,
}

struct Membership {
    settings: CellSettings,
    members: Arc<dyn Members>,
    homes: Arc<dyn Homes>,
    sessions: Arc<dyn ProtocolSessions>,
    front_ends: Arc<dyn FrontEnds>,
    handles: HandleMint,
    standing: Arc<Standing>,
    held: Arc<HeldHomes>,
    away: Cache<SessionKey, Incarnation>,
    /// Who goes on with sessions of the protocol whose hosts have ended.
    adopted: Cache<Handle, Incarnation>,
    roster: Arc<Roster>,
    links: Arc<Links>,
    shown: Arc<Shown>,
    suspicion: Suspicion,
    /// The revision of what is installed at all hosts.
    plugins: watch::Sender<i64>,
    /// The last change of the front ends of all hosts.
    connected: watch::Sender<i64>,
    host: OnceLock<Arc<dyn HomeHost>>,
    door: RwLock<Option<Arc<dyn HttpDoor>>>,
    /// What this host tells the others of changes, and what it has heard of theirs.
    gathered: Arc<Gathered>,
    heard: Heard,
    /// Batches that this host has told in its present life.
    told: AtomicU64,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl std::fmt::Debug for Cell {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CellSettings { cell, host, .. } = &self.shared.settings;
        formatter.debug_struct("Cell").field("cell", cell).field("host", host).finish_non_exhaustive()
    }
}

impl Cell {
    /// A member to be. Nothing is asked of the database and nobody reaches it before
    /// [`Cell::join`].
    ///
    /// # Errors
    /// `Randomness`; `Tls` where the certificates cannot be used.
    pub fn new(settings: CellSettings, stores: CellStores) -> Result<Self, CellError> {
        let CellStores { members, homes, sessions, front_ends } = stores;
        let incarnation = Incarnation::random().map_err(CellError::Randomness)?;
        let tls = (settings.certificates)().map_err(PeerTlsError::Unreadable)?;
        let times = settings.times;
        let roster = Arc::new(Roster::new(times.beat + times.beat_patience));
        let links = Arc::new(Links::new(&tls, times.connecting, times.silence));
        let shared = Membership {
            handles: HandleMint::of(incarnation.number()),
            standing: Arc::new(Standing::new(incarnation, times.lost_contact)),
            held: Arc::default(),
            away: Cache::new(REMEMBERED),
            adopted: Cache::new(REMEMBERED),
            suspicion: Suspicion::new(Arc::clone(&members), Arc::clone(&roster), Arc::clone(&links), times),
            shown: Arc::new(Shown::new(&tls)),
            roster,
            links,
            plugins: watch::Sender::default(),
            // Not known before the first beat.
            connected: watch::Sender::new(-1),
            host: OnceLock::new(),
            door: RwLock::default(),
            gathered: Arc::default(),
            heard: Heard::default(),
            told: AtomicU64::new(0),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            settings,
            members,
            homes,
            sessions,
            front_ends,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// What makes the handles of this host: they begin with its life, so that another host knows
    /// that what they named is gone.
    #[must_use]
    pub fn handles(&self) -> HandleMint {
        self.shared.handles.clone()
    }

    /// The present life of this host.
    #[must_use]
    pub fn incarnation(&self) -> Incarnation {
        self.shared.standing.incarnation()
    }

    /// Tells when what is installed at all hosts has changed, within a beat: see
    /// [`PluginShelf`](crate::PluginShelf). It ends with this member.
    #[must_use]
    pub fn plugin_revisions(&self) -> watch::Receiver<i64> {
        self.shared.plugins.subscribe()
    }

    /// Whether this host takes no further session.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.shared.standing.is_draining()
    }

    /// Whether a balancer should send requests here: the host is in contact and is not draining.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.shared.standing.check().is_ok_and(|living| !living.is_draining)
    }

    /// How many sessions are at home here.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.shared.held.len()
    }

    /// Joins the cell: listens for the other hosts, enters the database and beats from then on.
    /// Calls that the others pass on are made by `host`. A cell is joined once.
    ///
    /// # Errors
    /// Where the address cannot be had, the database does not answer, or refuses this host.
    pub async fn join(&self, host: Arc<dyn HomeHost>) -> Result<(), CellError> {
        let shared = &self.shared;
        let listener = shared.bind().await?;
        shared.enter().await?;
        shared.suspicion.refresh().await?;
        let _ = shared.host.set(host);
        let server = Arc::new(routing::Served(Arc::downgrade(shared), shared.settings.message_bytes));
        let (shown, stop) = (Arc::clone(&shared.shown), shared.stop.clone());
        shared.tasks.spawn(peer::listen(listener, shown, server, stop));
        shared.tasks.spawn(beats::keep(Arc::clone(shared)));
        shared.follow_notices();
        let CellSettings { cell, host, address, .. } = &shared.settings;
        tracing::info!(
            target: "wharf::start",
            cell, host, %address, incarnation = %self.incarnation(), hosts = shared.roster.others(self.incarnation()).len() + 1,
            "this host serves as one of a cell"
        );
        Ok(())
    }

    /// Takes no further session, and lets go of those in which nothing runs any more. Returns
    /// once it has none, and at the latest after `patience`. Calls go on meanwhile.
    pub async fn drain(&self, patience: Duration) {
        let shared = &self.shared;
        shared.standing.ending();
        let emptied = async {
            loop {
                shared.let_go(Duration::ZERO, Things::Running).await;
                if shared.held.len() == 0 {
                    return;
                }
                tokio::time::sleep(shared.settings.times.beat).await;
            }
        };
        if tokio::time::timeout(patience, emptied).await.is_err() {
            tracing::warn!(target: "wharf::cell", sessions = shared.held.len(), "sessions still have something that runs, and lose it now");
        }
    }

    /// Makes no call any more that needs a home: what lives here ends next.
    pub fn stop(&self) {
        self.shared.standing.leaving();
    }

    /// The hosts that live, and those that died within the last hour.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn hosts(&self) -> Result<Vec<crate::HostRecord>, StoreUnavailable> {
        self.shared.members.list().await
    }

    /// Has the hosts of this name take no further session, or take some again. Whether one lives.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn drain_host(&self, host: &str, is_draining: bool) -> Result<bool, StoreUnavailable> {
        self.shared.members.drain(host, is_draining).await
    }

    /// Leaves the cell: its sessions are free at once, and no host asks this one any more. Those
    /// whose files were here find them lost.
    pub async fn leave(&self) {
        let shared = &self.shared;
        shared.standing.leaving();
        shared.stop.cancel();
        shared.tasks.close();
        shared.held.clear();
        // A beat on its way that hears of the end would take it for a death, and join anew.
        shared.tasks.wait().await;
        let leaving = shared.members.leave(self.incarnation());
        let leaving = tokio::time::timeout(shared.settings.times.beat_patience, leaving);
        if let Ok(Err(error)) = leaving.await {
            let error = wharf_core::text::with_causes(&error);
            tracing::warn!(error, "this host has left without a word; the others will find it dead");
        }
    }
}

#[cfg(test)]
impl Cell {
    /// Ends as a process that is killed: nobody listens any more, and the database hears nothing.
    pub(crate) async fn kill(&self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    pub(crate) fn address(&self) -> &crate::PeerAddress {
        &self.shared.settings.address
    }

    pub(crate) async fn let_go(&self, idle: std::time::Duration) {
        self.shared.let_go(idle, wharf_core::service::Things::Kept).await;
    }

    /// Whether this life is known here, and lives.
    pub(crate) fn knows(&self, other: Incarnation) -> bool {
        matches!(self.shared.roster.find(other), crate::roster::Known::Alive(_))
    }

    /// Whether nobody is known that is the home of a session.
    pub(crate) fn forgets(&self, tenant: &wharf_core::TenantId, session: &wharf_core::SessionId) -> bool {
        let key = SessionKey { tenant: tenant.clone(), session: session.clone() };
        let home = self.shared.away.get(&key);
        home.is_none_or(|home| !matches!(self.shared.roster.find(home), crate::roster::Known::Alive(_)))
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Membership {
    async fn bind(&self) -> Result<TcpListener, CellError> {
        let address = match self.settings.listen {
            Some(address) => address,
            None => {
                let own = self.settings.address.to_string();
                let failed = |source| CellError::Resolve { address: own.clone(), source };
                let mut found = tokio::net::lookup_host(self.settings.address.parts()).await.map_err(failed)?;
                found.next().ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?
            }
        };
        TcpListener::bind(address).await.map_err(|source| CellError::Listen { address, source })
    }

    /// Enters the database with a life that no other host has.
    async fn enter(&self) -> Result<(), CellError> {
        for _ in 1..TRIES {
            match self.enter_as(self.standing.incarnation()).await {
                Err(CellError::Refused(crate::JoinRefused::Taken)) => self.change_life()?,
                entered => return entered,
            }
        }
        self.enter_as(self.standing.incarnation()).await
    }

    /// Takes another life, before any handle of it is made.
    fn change_life(&self) -> Result<(), CellError> {
        let incarnation = Incarnation::random().map_err(CellError::Randomness)?;
        self.handles.change(incarnation.number());
        self.standing.renamed(incarnation);
        self.told.store(0, Ordering::Release);
        Ok(())
    }

    async fn enter_as(&self, incarnation: Incarnation) -> Result<(), CellError> {
        let CellSettings { cell, host, address, files, version, .. } = &self.settings;
        let member = NewMember {
            incarnation,
            cell: cell.clone(),
            host: host.clone(),
            address: address.to_string(),
            files: files.clone(),
            version: version.clone(),
        };
        let sent = Instant::now();
        self.members.join(&member).await??;
        self.standing.joined(incarnation, sent);
        Ok(())
    }

    /// The claim of the present life.
    async fn claim(&self, session: &SessionKey, incarnation: Incarnation) -> Result<crate::Claim, StoreUnavailable> {
        let claimant =
            crate::Claimant { incarnation, files: &self.settings.files, patience: self.settings.times.claim };
        self.homes.claim(session, claimant).await
    }
}
