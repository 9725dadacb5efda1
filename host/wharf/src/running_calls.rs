//! The calls that run on this host now, for its operator.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    SessionId, TenantId,
    audit::CallAudit,
    service::{Caller, operator::CallReport},
};

/// What is told of at most.
const MOST_TOLD: usize = 1_000;

/// The calls that run.
#[derive(Default)]
pub(crate) struct RunningCalls {
    // Held to add or to remove one, and while they are listed.
    calls: Mutex<HashMap<u64, Running>>,
}

struct Running {
    audit: Arc<CallAudit>,
    /// Under which clients know the tool.
    tool: Box<str>,
    cancel: CancellationToken,
}

/// A call among those that run, as long as this lives.
pub(crate) struct ListedCall<'r> {
    running: &'r RunningCalls,
    number: u64,
}

impl Drop for ListedCall<'_> {
    fn drop(&mut self) {
        self.running.calls.lock().remove(&self.number);
    }
}

impl RunningCalls {
    pub(crate) fn enter(&self, audit: &Arc<CallAudit>, tool: &str, caller: &Caller) -> ListedCall<'_> {
        let number = audit.subject().id.number;
        let running = Running { audit: Arc::clone(audit), tool: tool.into(), cancel: caller.cancel.clone() };
        self.calls.lock().insert(number, running);
        ListedCall { running: self, number }
    }

    /// Those that began first before others.
    pub(crate) fn list(&self) -> Vec<CallReport> {
        let mut all: Vec<_> = {
            let calls = self.calls.lock();
            calls.values().map(|call| (Arc::clone(&call.audit), call.tool.clone())).collect()
        };
        all.sort_by_key(|(audit, _)| audit.began());
        all.truncate(MOST_TOLD);
        all.into_iter().map(|(audit, tool)| shown(&audit, &tool)).collect()
    }

    /// Ends the calls of a session. How many ran.
    pub(crate) fn cancel_session(&self, tenant: &TenantId, session: &SessionId) -> u64 {
        let calls = self.calls.lock();
        let is_of = |call: &&Running| {
            call.audit
                .subject()
                .context
                .as_ref()
                .is_some_and(|context| context.tenant == *tenant && context.session == *session)
        };
        calls.values().filter(is_of).inspect(|call| call.cancel.cancel()).count() as u64
    }

    /// Ends the call of this id. Whether it ran.
    pub(crate) fn cancel(&self, id: &str) -> bool {
        let calls = self.calls.lock();
        let found = calls.values().find(|call| call.audit.subject().id.to_string() == id);
        found.inspect(|call| call.cancel.cancel()).is_some()
    }
}

fn shown(audit: &CallAudit, tool: &str) -> CallReport {
    let subject = audit.subject();
    let context = subject.context.as_ref();
    let text = |of: Option<&dyn ToString>| of.map(ToString::to_string);
    CallReport {
        id: subject.id.to_string(),
        tool: tool.to_owned(),
        plugin: subject.plugin.as_ref().map(ToString::to_string).unwrap_or_default(),
        tenant: context.map(|context| context.tenant.to_string()).unwrap_or_default(),
        session: context.map(|context| context.session.to_string()).unwrap_or_default(),
        assistant: context.and_then(|context| text(context.assistant.as_ref().map(|id| id as _))),
        thread: context.and_then(|context| text(context.thread.as_ref().map(|id| id as _))),
        client: subject.client.as_deref().map(str::to_owned),
        milliseconds: u64::try_from(audit.began().elapsed().as_millis()).unwrap_or(u64::MAX),
        host_calls: audit.host_calls(),
        memory_bytes: audit.memory_bytes(),
    }
}
