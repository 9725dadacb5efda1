//! Calls whose sessions have a home, where several hosts serve as one.

use std::{sync::Arc, time::Duration};

use wharf_core::{
    Answer, CallRequest, Error, InputGiven,
    audit::AuditOutcome,
    grant::Capability,
    service::{Arguments, Caller, Place, SessionRouter},
};

use super::{Host, calling};
use crate::{installed::Installed, registry::Callee};

/// What a plugin keeps on its host between calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    Nothing,
    /// Pages or streams.
    Things,
    /// Files, and perhaps things.
    Files,
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

    /// Runs a call of a plugin at the home of its session.
    pub(super) async fn run_at_home(
        &self,
        router: &dyn SessionRouter,
        (name, callee, owner): (&str, &Callee, &Installed),
        caller: &Arc<Caller>,
        arguments: Arguments,
        input: InputGiven,
    ) -> Result<Answer, Error> {
        let keeps = Keeps::of(owner);
        if keeps == Keeps::Nothing {
            return self.run_here(name, callee, caller, arguments, input).await;
        }
        let limits = &*owner.policy.limits;
        // Before anything is sent: another host takes no more of a call than this one does.
        calling::argument_bytes(arguments.bytes(), limits)?;
        let bytes = calling::request_bytes(caller, &input, limits)?.saturating_add(arguments.bytes());
        let context = &caller.context;
        let remote = match router.place(&context.tenant, &context.session, keeps == Keeps::Files).await? {
            Place::Here(hold) => {
                let answered = self.run_here(name, callee, caller, arguments, input).await;
                hold.confirm()?;
                return answered;
            }
            Place::Elsewhere(remote) => remote,
        };
        let running = self.shared.recorder.begin(caller, name, Some(callee));
        tracing::debug!(target: "wharf::cell", tool = name, host = remote.host(), "a call is passed on to the home of its session");
        let answered = async {
            let _place = self.admit(caller, bytes).await?;
            let mut request = CallRequest::of(Arc::clone(caller), name, serde_json::Map::new());
            (request.arguments, request.input) = (arguments, input);
            let mut answer = remote.call(request).await?;
            self.shared.engine.answer_memory().charge(&mut answer, &context.tenant, limits)?;
            Ok(answer)
        };
        let answered = answered.await;
        running.ended(AuditOutcome::of(&answered));
        answered
    }
}
