//! One call: what the host hands over, and what the adapters share while it runs.
//!
//! It knows neither the guest nor its store, nor which function is called.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;
use wharf_core::{
    CallLimits, Claims, CommandLine, Context, Error, Grants, InputGiven, PluginName, Quota, SessionId, TenantId,
    audit::CallAudit,
    grant::AllowedCommand,
    service::{Approver, Caller, GuardedAct},
};

use crate::{
    backends::Backends,
    budget::CallBudget,
    clock::CallClock,
    coarse::{ClockResolution, CoarseClock},
    isolation::HostLink,
};

/// What the operator gives a plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginPolicy {
    /// What the plugin may use.
    pub grants: Arc<Grants>,
    /// What each of its calls may use up.
    pub limits: Arc<CallLimits>,
    /// JSON text of what the operator set for the plugin.
    pub settings: Arc<str>,
    /// The steps in which the plugin sees time go on; as fine as the system's where there is none.
    pub clock_resolution: Option<ClockResolution>,
}

/// One call of a plugin, as the host has checked it.
pub struct Call {
    /// On whose behalf it runs. Members of [`Caller::meta`] that start with `dev.wharf/`
    /// never reach the plugin.
    pub caller: Arc<Caller>,
    /// What the caller gave to an earlier round of the same call.
    pub input: InputGiven,
    /// What the operator gives the plugin.
    pub policy: Arc<PluginPolicy>,
    /// Hears of the host calls, and of how much the plugin answers.
    pub audit: Option<Arc<CallAudit>>,
    /// Whom the call asks for what a person has to allow; nobody where nothing has to be.
    pub approver: Option<Arc<dyn Approver>>,
    /// How long the host has computed for the call already: it is part of the call's
    /// computing time.
    pub charged: Duration,
}

impl Call {
    /// One on nobody's behalf, with nothing granted.
    pub(crate) fn of_nobody(
        limits: CallLimits,
        settings: Arc<str>,
        clock_resolution: Option<ClockResolution>,
        cancel: CancellationToken,
    ) -> Self {
        let mut caller = Caller::new(Context::new(TenantId::local(), SessionId::default_session()));
        caller.cancel = cancel;
        let (grants, limits) = (Arc::new(Grants::default()), Arc::new(limits));
        Self {
            caller: Arc::new(caller),
            input: InputGiven::default(),
            policy: Arc::new(PluginPolicy { grants, limits, settings, clock_resolution }),
            audit: None,
            approver: None,
            charged: Duration::ZERO,
        }
    }
}

/// One call while it runs: the store, the adapters and the threads that work for them share
/// it. The engine makes it once; an adapter that hands work to a thread clones the `Arc`.
pub(crate) struct ActiveCall {
    pub(crate) plugin: PluginName,
    /// The addresses that are the plugin's own.
    pub(crate) claims: Arc<Claims>,
    /// What the host handed over.
    pub(crate) request: Call,
    pub(crate) backends: Arc<Backends>,
    /// The count of open handles, by session, tenant and host.
    pub(crate) open_handles: Arc<Quota>,
    pub(crate) clock: CallClock,
    /// How long the function says that it takes at most.
    pub(crate) declared: Option<Duration>,
    /// What the guest sees instead of the system's clocks.
    pub(crate) coarse: Option<CoarseClock>,
    pub(crate) budget: CallBudget,
    /// In a worker, the way to the host, which has the grants and the backends.
    pub(crate) host: Option<Arc<HostLink>>,
}

impl ActiveCall {
    /// Starts the clock.
    pub(crate) fn begin(
        call: Call,
        plugin: &PluginName,
        claims: &Arc<Claims>,
        backends: &Arc<Backends>,
        open_handles: &Arc<Quota>,
        declared: Option<Duration>,
    ) -> Self {
        let limits = &call.policy.limits;
        let cancel = call.caller.cancel.clone();
        let clock = CallClock::start(limits.wall_time(declared), limits.cpu_time(), call.charged, cancel);
        Self {
            plugin: plugin.clone(),
            claims: Arc::clone(claims),
            clock,
            declared,
            coarse: call.policy.clock_resolution.map(CoarseClock::start),
            budget: CallBudget::new(limits),
            request: call,
            backends: Arc::clone(backends),
            open_handles: Arc::clone(open_handles),
            host: None,
        }
    }

    /// On whose behalf it runs.
    pub(crate) fn context(&self) -> &Context {
        &self.request.caller.context
    }

    /// Who hears of its host calls.
    pub(crate) fn audit(&self) -> Option<&Arc<CallAudit>> {
        self.request.audit.as_ref()
    }

    /// What it may use up.
    pub(crate) fn limits(&self) -> &CallLimits {
        &self.request.policy.limits
    }

    /// What the plugin may use.
    pub(crate) fn grants(&self) -> &Grants {
        &self.request.policy.grants
    }

    /// Waits until a person allows this, where one has to. Says whether one was asked: what the call
    /// was granted may be over by then. The call's time stands still meanwhile.
    ///
    /// # Errors
    /// See [`Approving`](wharf_core::service::Approving).
    pub(crate) async fn approved(&self, act: GuardedAct<'_>) -> Result<bool, Error> {
        let Some(approver) = &self.request.approver else { return Ok(false) };
        let Some(approving) = approver.approve(act) else { return Ok(false) };
        let _pause = self.clock.pause();
        approving.await.map(|()| true)
    }

    /// The same for what is to be started.
    pub(crate) async fn approved_command(
        &self,
        command: &AllowedCommand<'_>,
        arguments: &[String],
    ) -> Result<bool, Error> {
        if self.request.approver.is_none() {
            return Ok(false);
        }
        self.approved(GuardedAct::Start(&CommandLine::of(command, arguments))).await
    }

    /// How long a wait of so many milliseconds lasts: it ends shortly before the call does.
    pub(crate) fn patience(&self, milliseconds: u64) -> Duration {
        let left = self.clock.wait_until().saturating_duration_since(Instant::now());
        Duration::from_millis(milliseconds).min(left)
    }

    /// How many bytes each of so many streams may return to a read that asks for `max_bytes`:
    /// all of them no more than the call may still move.
    pub(crate) fn readable_bytes(&self, max_bytes: u32, streams: u64) -> usize {
        usize::try_from(u64::from(max_bytes).min(self.budget.readable_bytes() / streams)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use wharf_core::quota::Bounds;
    use wharf_state::MemoryStore;

    use super::*;

    /// A call that is granted nothing, with backends of its own.
    pub(crate) fn active_call(limits: CallLimits, audit: Option<Arc<CallAudit>>) -> Arc<ActiveCall> {
        let backends = Arc::new(Backends::with_state(Arc::new(MemoryStore::default())));
        let open_handles = Quota::new(Bounds {
            resource: "handles",
            section: "[host.limits]",
            session: None,
            tenant: ("file_handles_per_tenant", 10),
            host: ("file_handles", 10),
        });
        let call = Call { audit, ..Call::of_nobody(limits, "{}".into(), None, CancellationToken::new()) };
        let plugin = "probe".parse().expect("legal");
        Arc::new(ActiveCall::begin(call, &plugin, &Arc::default(), &backends, &open_handles, None))
    }
}
