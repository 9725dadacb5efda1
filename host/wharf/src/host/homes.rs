//! What needs the home of its session, where several hosts serve as one.

use std::{sync::Arc, time::Duration};

use wharf_core::{
    CallLimits, Error, InputGiven,
    audit::{AuditOutcome, RunningCall},
    grant::Capability,
    service::{Caller, HomeAnswer, HomeHold, HomeRequest, Place, RemoteHome},
};

use super::{Host, calling};
use crate::installed::Installed;

/// What a plugin keeps on its host between calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    Nothing,
    /// Pages or streams.
    Things,
    /// Files, and perhaps things.
    Files,
}

/// How a call came to this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From a client or an app: it may belong to another host.
    Arrived,
    /// From another host, which has passed it on to the home of its session.
    #[cfg(feature = "postgres")]
    PassedOn,
}

/// Where a plugin answers.
pub(super) enum At {
    Here(Hold),
    There(Arc<dyn RemoteHome>),
}

/// Keeps the session at home, where it has to be.
pub(super) struct Hold(Option<Box<dyn HomeHold>>);

impl Hold {
    /// What was answered, unless another host may have acted meanwhile.
    pub(super) fn confirmed<A>(self, answered: Result<A, Error>) -> Result<A, Error> {
        self.0.map_or(Ok(()), |hold| hold.confirm())?;
        answered
    }
}

impl Keeps {
    pub(super) fn of(plugin: &Installed) -> Self {
        let names = |capability| plugin.policy.grants.names(capability);
        // Programs run in the files of their session.
        if [Capability::Workspace, Capability::Process, Capability::Terminal].into_iter().any(names) {
            return Self::Files;
        }
        let has_streams = names(Capability::Events) && plugin.plugin.opens_streams();
        if names(Capability::WebView) || has_streams { Self::Things } else { Self::Nothing }
    }
}

impl Host {
    /// Whether a balancer should send requests here: not where the host drains, or has lost
    /// contact with its cluster. A host that stands alone always is.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.shared.clustered.is_ready()
    }

    /// What makes the handles of this host.
    #[cfg(feature = "http")]
    pub(crate) fn handles(&self) -> wharf_core::handle::HandleMint {
        self.shared.clustered.handles()
    }

    /// The keys of `[cluster] secret_files`: what clients carry from one round of input to the
    /// next is sealed with them, so that they may answer at any host. Nothing where the host
    /// stands alone, or its operator has written none.
    #[must_use]
    pub fn state_keys(&self) -> Option<wharf_mcp::StateKeys> {
        self.shared.clustered.state_keys()
    }

    /// Where sessions of the protocol of 2025-11-25 are written down, so that another host goes on
    /// with those of a host that has ended; nothing where the host stands alone.
    #[cfg(feature = "http")]
    pub(crate) fn session_shelf(&self) -> Option<Arc<dyn wharf_core::service::SessionShelf>> {
        self.shared.clustered.session_shelf()
    }

    /// Knows what the other hosts of a cluster have, for the HTTP server of this one; nothing
    /// where the host stands alone.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn elsewhere(&self) -> Option<Arc<dyn wharf_http::Elsewhere>> {
        self.shared.clustered.elsewhere()
    }

    /// Has a host of a cluster take no further session, and waits until those whose home it is
    /// have nothing that runs any more, at most for `patience`. Calls go on meanwhile. A host
    /// that stands alone returns at once.
    pub async fn drain(&self, patience: Duration) {
        self.shared.clustered.drain(patience).await;
    }

    /// Where a plugin answers a call of this caller.
    pub(super) async fn home_of(&self, owner: &Installed, caller: &Caller, way: Way) -> Result<At, Error> {
        let nothing = At::Here(Hold(None));
        let (Some(router), Way::Arrived) = (self.shared.clustered.router(), way) else { return Ok(nothing) };
        let keeps = Keeps::of(owner);
        if keeps == Keeps::Nothing {
            return Ok(nothing);
        }
        let context = &caller.context;
        Ok(match router.place(&context.tenant, &context.session, keeps == Keeps::Files).await? {
            Place::Here(hold) => At::Here(Hold(Some(hold))),
            Place::Elsewhere(home) => At::There(home),
        })
    }

    /// Asks the home of the session, on another host. The line of audit here says that a call was
    /// made; the home has one of its own.
    pub(super) async fn ask_home(
        &self,
        home: &dyn RemoteHome,
        owner: &Installed,
        running: RunningCall,
        request: HomeRequest,
    ) -> Result<HomeAnswer, Error> {
        let plugin = owner.plugin.name();
        tracing::debug!(target: "wharf::cell", %plugin, host = home.host(), "a call is passed on to the home of its session");
        let answered = self.ask_other(home, &owner.policy.limits, request).await;
        running.ended(match &answered {
            Ok(HomeAnswer::Call(answer)) => AuditOutcome::of_answer(answer),
            Ok(_) => AuditOutcome::Ok,
            Err(error) => AuditOutcome::Failed(error.code),
        });
        answered
    }

    /// Asks another host.
    pub(super) async fn ask_other(
        &self,
        other: &dyn RemoteHome,
        limits: &CallLimits,
        request: HomeRequest,
    ) -> Result<HomeAnswer, Error> {
        let (caller, bytes) = (Arc::clone(&request.caller), request.asked.bytes());
        // Before anything is sent: another host takes no more of a call than this one does.
        calling::argument_bytes(bytes, limits)?;
        let none = InputGiven::default();
        let input = request.asked.input().unwrap_or(&none);
        let bytes = calling::request_bytes(&caller, input, limits)?.saturating_add(bytes);
        let _place = self.admit(&caller, bytes).await?;
        let mut answer = other.ask(request).await?;
        answer.charge(self.shared.engine.answer_memory(), &caller.context.tenant, limits)?;
        Ok(answer)
    }
}
