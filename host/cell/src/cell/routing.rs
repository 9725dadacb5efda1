//! Where a call runs, and how it gets there.

use std::{
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    sync::{Arc, Weak},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Request, Response};
use tokio::time::timeout;
use wharf_core::{
    Code, Digest, Error, SessionId, TenantId,
    service::{Caller, HomeAnswer, HomeHold, HomeRequest, Place, ProposedPlugin, RemoteHome, SessionRouter},
    text::with_causes,
};

use super::{Cell, Membership};
use crate::{
    Claim, Incarnation, PassedBody, SessionKey, StoreUnavailable,
    held::HeldCall,
    notices::Batch,
    passed::PassedHead,
    peer::{self, Arrived, Arriving, NotConnected, PassedOn, PeerServer, Sender},
    roster::{Known, Peer},
    suspicion::Verdict,
    wire::{CallHead, Directed, Misdirected, ProbeRequest, Sight},
};

/// How often a call is directed anew that no host took up, before its caller hears of it.
const DIRECTIONS: usize = 4;

/// The home of a session, as far as this host knows.
pub(super) enum Home {
    Here(HeldCall),
    At(Peer, MayClaim),
}

/// Whether the receiver may become the home itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MayClaim {
    Yes,
    No,
}

#[async_trait]
impl SessionRouter for Cell {
    async fn place(&self, tenant: &TenantId, session: &SessionId, keeps_files: bool) -> Result<Place, Error> {
        let key = SessionKey { tenant: tenant.clone(), session: session.clone() };
        Ok(match self.shared.home_with_files(&key, keeps_files).await? {
            Home::Here(call) => Place::Here(Box::new(call)),
            Home::At(peer, may_claim) => {
                let shared = Arc::clone(&self.shared);
                Place::Elsewhere(Arc::new(Remote { shared, key, peer, may_claim, keeps_files }))
            }
        })
    }
}

impl Membership {
    /// The home of a session, whose files are entered here where the call may use them here.
    pub(super) async fn home_with_files(self: &Arc<Self>, key: &SessionKey, keeps_files: bool) -> Result<Home, Error> {
        let home = self.home(key).await?;
        if let Home::Here(call) = &home {
            self.with_files(key, call, keeps_files).await?;
        }
        Ok(home)
    }

    /// Begins what another host passes on here as to the home of a session: a call or a request,
    /// or the error that it ends with.
    async fn begin_passed(&self, key: &SessionKey, may_claim: bool) -> Result<Result<HeldCall, Error>, Misdirected> {
        let living = match self.standing.check() {
            Ok(living) => living,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(call) = self.held.begin(key, &self.standing, living) {
            return Ok(Ok(call));
        }
        if !may_claim || living.is_draining {
            return Err(Misdirected::NotHome);
        }
        match self.home(key).await {
            Ok(Home::Here(call)) => Ok(Ok(call)),
            Ok(Home::At(..)) => Err(Misdirected::NotHome),
            Err(error) => Ok(Err(error)),
        }
    }

    /// What a call that is passed on ends with: its outcome, `late` where it takes longer than any
    /// call may, or that it was cancelled.
    pub(super) async fn in_call_time(
        &self,
        request: &HomeRequest,
        passing: impl Future<Output = Result<HomeAnswer, Error>>,
        late: impl FnOnce() -> Error,
    ) -> Result<HomeAnswer, Error> {
        tokio::select! {
            biased;
            ended = timeout(self.settings.longest_call, passing) => ended.unwrap_or_else(|_| Err(late())),
            () = request.caller.cancel.cancelled() => Err(Error::new(Code::Cancelled, "the call was cancelled")),
        }
    }

    /// A connection to another host that has what a call or a request is about.
    pub(super) async fn reach(&self, peer: &Peer) -> Result<Sender, Error> {
        match self.links.get(peer).await {
            Ok(sender) => Ok(sender),
            Err(NotConnected::Refused | NotConnected::Broken(_)) => Err(self.without_answer(peer, false).await),
            Err(NotConnected::Unclear(why)) => {
                tracing::debug!(host = %peer.host, why, "another host of the cell is not reached");
                Err(unreached(peer))
            }
        }
    }

    /// Finds or becomes the home of a session.
    pub(super) async fn home(&self, key: &SessionKey) -> Result<Home, Error> {
        let living = self.standing.check()?;
        if let Some(call) = self.held.begin(key, &self.standing, living) {
            return Ok(Home::Here(call));
        }
        if let Some(incarnation) = self.away.get(key) {
            match self.roster.find(incarnation) {
                Known::Alive(peer) => return Ok(Home::At(peer, MayClaim::No)),
                Known::Dead(_) | Known::Unknown => _ = self.away.remove(key),
            }
        }
        if living.is_draining
            && let Some(peer) = self.another(key).await?
        {
            return Ok(Home::At(peer, MayClaim::Yes));
        }
        match self.claim(key, living.incarnation).await.map_err(unavailable)? {
            Claim::Mine { epoch } => {
                self.held.insert(key.clone(), epoch);
                let begun = self.held.begin(key, &self.standing, living);
                begun.map(Home::Here).ok_or_else(moving)
            }
            Claim::Held { by } => self.find(by).await.map(|peer| {
                self.away.insert(key.clone(), by);
                Home::At(peer, MayClaim::No)
            }),
            Claim::FilesAt { by } => self.find(by).await.map(|peer| Home::At(peer, MayClaim::Yes)),
            Claim::Dying { wait } => Err(Error::retryable(
                Code::Gone,
                format!(
                    "the host of this session has died, and with it the processes, terminals and pages of the \
                     session; another host takes its place in {} ms",
                    wait.as_millis().max(1)
                ),
            )),
            Claim::ClaimantDead => Err(moving()),
        }
    }

    /// A host that was named by the database, which this one may not have heard of yet.
    async fn find(&self, incarnation: Incarnation) -> Result<Peer, Error> {
        match self.suspicion.find(incarnation).await.map_err(unavailable)? {
            Known::Alive(peer) => Ok(peer),
            Known::Dead(_) | Known::Unknown => Err(moving()),
        }
    }

    /// The host that would be the home of a session which this one does not take: all hosts that
    /// drain choose the same.
    async fn another(&self, key: &SessionKey) -> Result<Option<Peer>, Error> {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let weight = |peer: &Peer| hasher.hash_one((key, peer.incarnation));
        let choose = || {
            let others = self.roster.others(self.standing.incarnation());
            others.into_iter().filter(|peer| !peer.is_draining).max_by_key(weight)
        };
        if let Some(peer) = choose() {
            return Ok(Some(peer));
        }
        // One may have joined, or serve again, since the last reading.
        self.suspicion.refresh().await.map_err(unavailable)?;
        Ok(choose())
    }

    /// What a call or a request ends with that another host did not answer.
    pub(super) async fn without_answer(&self, peer: &Peer, was_sent: bool) -> Error {
        match self.suspicion.of(peer, self.standing.incarnation()).await {
            Verdict::Dead => {
                let ran = if was_sent { "; the call may have run" } else { "" };
                Error::retryable(
                    Code::Gone,
                    format!(
                        "the host {} of this session has died, and with it the processes, terminals and pages of the \
                         session{ran}; another host takes its place in a moment",
                        peer.host
                    ),
                )
            }
            Verdict::NotDead if was_sent => no_answer(peer),
            Verdict::NotDead => unreached(peer),
        }
    }
}

/// A session's home on another host.
struct Remote {
    shared: Arc<Membership>,
    key: SessionKey,
    peer: Peer,
    may_claim: MayClaim,
    keeps_files: bool,
}

#[async_trait]
impl RemoteHome for Remote {
    fn host(&self) -> &str {
        &self.peer.host
    }

    async fn ask(&self, request: HomeRequest) -> Result<HomeAnswer, Error> {
        self.shared.in_call_time(&request, self.pass(&request), || no_answer(&self.peer)).await
    }
}

impl Remote {
    /// Passes a call on. What no host has taken up is directed anew; nothing else is sent twice.
    async fn pass(&self, request: &HomeRequest) -> Result<HomeAnswer, Error> {
        let shared = &self.shared;
        let (mut peer, mut may_claim) = (self.peer.clone(), self.may_claim);
        for _ in 0..DIRECTIONS {
            let (keeps_files, may_claims) = (self.keeps_files, may_claim == MayClaim::Yes);
            let body = CallHead::body(request, Directed::ToHome { keeps_files, may_claim: may_claims })?;
            let sender = shared.reach(&peer).await?;
            let passed =
                peer::pass_on(sender, &peer, body, &request.caller.events, shared.settings.message_bytes).await;
            match passed {
                PassedOn::Ended(outcome) => return outcome,
                PassedOn::Broken => return Err(shared.without_answer(&peer, true).await),
                PassedOn::Misdirected(why) => {
                    tracing::debug!(host = %peer.host, ?why, "a call was misdirected");
                    shared.away.remove(&self.key);
                    if why == Misdirected::OtherLife {
                        shared.suspicion.of(&peer, shared.standing.incarnation()).await;
                    }
                }
            }
            match shared.home(&self.key).await? {
                Home::At(other, claim) => (peer, may_claim) = (other, claim),
                // This host has become the home meanwhile.
                Home::Here(call) => return self.here(call, request).await,
            }
        }
        Err(moving())
    }

    async fn here(&self, call: HeldCall, request: &HomeRequest) -> Result<HomeAnswer, Error> {
        let shared = &self.shared;
        shared.with_files(&self.key, &call, self.keeps_files).await?;
        let host = shared.host.get().ok_or_else(moving)?;
        let answered = host.answer_here(request.clone()).await;
        call.confirm()?;
        answered
    }
}

/// What other hosts ask of this one. It does not keep the member alive.
pub(super) struct Served(pub(super) Weak<Membership>, pub(super) usize);

#[async_trait]
impl PeerServer for Served {
    fn incarnation(&self) -> Option<Incarnation> {
        self.0.upgrade().map(|shared| shared.standing.incarnation())
    }

    fn configured(&self) -> Option<Digest> {
        self.0.upgrade().map(|shared| shared.settings.configured)
    }

    fn message_bytes(&self) -> usize {
        self.1
    }

    async fn call(&self, arriving: Arriving) -> Arrived {
        let shared = self.0.upgrade().ok_or(Misdirected::NotReady)?;
        let host = shared.host.get().cloned().ok_or(Misdirected::NotReady)?;
        let Arriving { head, arguments, events, cancel } = arriving;
        let context = head.context();
        let key = SessionKey { tenant: context.tenant.clone(), session: context.session.clone() };
        let mut caller = Caller::new(context);
        (caller.events, caller.cancel) = (events, cancel);
        if head.of_host {
            return Ok(async move { host.answer_here(head.into_request(arguments, caller)).await }.boxed());
        }
        let held = match shared.begin_passed(&key, head.may_claim).await? {
            Ok(held) => held,
            Err(error) => return Ok(async { Err(error) }.boxed()),
        };
        let running = async move {
            shared.with_files(&key, &held, head.keeps_files).await?;
            let answered = host.answer_here(head.into_request(arguments, caller)).await;
            held.confirm()?;
            answered
        };
        Ok(running.boxed())
    }

    async fn request(&self, head: PassedHead, request: Request<Bytes>) -> Result<Response<PassedBody>, Misdirected> {
        let shared = self.0.upgrade().ok_or(Misdirected::NotReady)?;
        let door = shared.door.read().clone().ok_or(Misdirected::NotReady)?;
        let PassedHead { client, home, .. } = head;
        // What a handle names needs no home: it is there, or it is gone.
        let Some(home) = home else { return Ok(door.answer(client, request).await) };
        let key = home.key();
        let held = shared.begin_passed(&key, home.may_claim).await?.map_err(|_| Misdirected::NotReady)?;
        if let Err(error) = shared.with_files(&key, &held, home.keeps_files).await {
            return Ok(door.refuse(error));
        }
        let response = door.answer(client, request).await;
        Ok(held.confirm().map_or_else(|error| door.refuse(error), |()| response))
    }

    fn hear(&self, batch: Batch) {
        if let Some(shared) = self.0.upgrade() {
            shared.hear(batch);
        }
    }

    async fn consider(&self, tables: String) -> Option<String> {
        let host = self.0.upgrade()?.host.get().cloned()?;
        host.refuses(&tables).await
    }

    async fn consider_plugin(&self, plugin: ProposedPlugin) -> Option<String> {
        let host = self.0.upgrade()?.host.get().cloned()?;
        host.refuses_plugin(&plugin).await
    }

    async fn probe(&self, probe: ProbeRequest) -> Sight {
        let Some(shared) = self.0.upgrade() else { return Sight::Unclear };
        // By its own list: a witness that took the address from who asks would see what that one sees.
        match shared.suspicion.find(probe.incarnation).await {
            Ok(Known::Alive(peer)) => peer::look(&shared.links, &peer, shared.settings.times.connecting).await,
            Ok(Known::Dead(_)) => Sight::Ended,
            Ok(Known::Unknown) | Err(_) => Sight::Unclear,
        }
    }
}

pub(super) fn unavailable(error: StoreUnavailable) -> Error {
    tracing::debug!(error = with_causes(&error), "the home of a session cannot be found");
    Error::retryable(
        Code::Unavailable,
        "the database of the cell does not answer, so that the host of this session cannot be found; try again later",
    )
}

fn no_answer(peer: &Peer) -> Error {
    let told = format!("the host {} of this session does not answer; the call may have run", peer.host);
    Error::retryable(Code::Unavailable, told)
}

pub(super) fn unreached(peer: &Peer) -> Error {
    let told = format!("the host {} of this session is not reached now; nothing has run: try again", peer.host);
    Error::retryable(Code::Unavailable, told)
}

pub(super) fn moving() -> Error {
    Error::retryable(Code::Unavailable, "this session moves from one host to another; try again in a moment")
}
