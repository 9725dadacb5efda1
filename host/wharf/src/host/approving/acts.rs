//! Commands and origins that a person has to allow in the course of a call.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use tokio::sync::Mutex;
use wharf_core::{
    Code, Digest, Error, Origin, OriginPattern, PluginName,
    audit::{ApprovedAct, CallAudit},
    origin::OriginRules,
    service::{Approver, Approving, Caller, GuardedAct},
};

use super::{Host, telling};
use crate::{
    approvals::{Approval, AskedCall, WantedAct},
    configuration::ActRules,
    host::WeakHost,
    installed::Installed,
};

/// Asks for one running call of a plugin.
struct CallApprover {
    host: Host,
    /// What is called, in the words of its line of audit or of clients.
    tool: Box<str>,
    plugin: PluginName,
    digest: Digest,
    caller: Arc<Caller>,
    audit: Arc<CallAudit>,
    arguments: Arc<str>,
    /// Held while a person is asked: a call asks for one thing at a time.
    asking: Mutex<()>,
    /// Nobody has answered in time. Then the call asks no more, so that it ends.
    is_deserted: AtomicBool,
}

/// The rules about origins as they are at each moment, for pages that outlive their calls.
struct PresentRules(WeakHost);

impl fmt::Debug for PresentRules {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PresentRules")
    }
}

impl OriginRules for PresentRules {
    fn asking(&self, origin: &Origin) -> Vec<OriginPattern> {
        // Its pages end with the host.
        let Some(host) = self.0.upgrade() else { return Vec::new() };
        let configuration = host.shared.sources.configuration();
        configuration.approvals.acts.asking(origin).cloned().collect()
    }
}

/// Whether a person has to allow it.
fn asks(rules: &ActRules, act: GuardedAct<'_>) -> bool {
    match act {
        GuardedAct::Start(line) => rules.asks_command(line),
        GuardedAct::Open { origin, .. } | GuardedAct::Request { origin, .. } => rules.asks_origin(origin),
    }
}

impl Host {
    /// Who asks a person for a call of this plugin; nobody where no rule names anything to ask about.
    pub(in crate::host) fn approver(
        &self,
        tool: &str,
        owner: &Installed,
        caller: &Arc<Caller>,
        audit: &Arc<CallAudit>,
        arguments: impl FnOnce() -> Arc<str>,
    ) -> Option<Arc<dyn Approver>> {
        // Nearly no host has any.
        if !self.shared.sources.asks_about_acts() {
            return None;
        }
        Some(Arc::new(CallApprover {
            host: self.clone(),
            tool: tool.into(),
            plugin: owner.plugin.name().clone(),
            digest: owner.plugin.digest(),
            caller: Arc::clone(caller),
            audit: Arc::clone(audit),
            arguments: arguments(),
            asking: Mutex::new(()),
            is_deserted: AtomicBool::new(false),
        }))
    }
}

impl Approver for CallApprover {
    fn approve<'a>(&'a self, act: GuardedAct<'a>) -> Option<Approving<'a>> {
        let configuration = self.host.shared.sources.configuration();
        asks(&configuration.approvals.acts, act).then(|| -> Approving<'a> { Box::pin(self.allowed(act)) })
    }

    fn origin_rules(&self) -> Arc<dyn OriginRules> {
        Arc::new(PresentRules(self.host.downgrade()))
    }
}

impl CallApprover {
    async fn allowed(&self, act: GuardedAct<'_>) -> Result<(), Error> {
        let wanted = WantedAct::of(act);
        let _asking = self.asking.lock().await;
        let configuration = self.host.shared.sources.configuration();
        // A rule may have been written while another question was answered.
        if !asks(&configuration.approvals.acts, act) {
            return Ok(());
        }
        let asked = AskedCall {
            tool: &self.tool,
            plugin: self.plugin.clone(),
            digest: Some(self.digest),
            caller: &self.caller,
            arguments: &self.arguments,
            act: Some(&wanted),
            wait: configuration.approvals.wait,
        };
        let approvals = &self.host.shared.approvals;
        if self.is_deserted.load(Relaxed) && !approvals.is_remembered(&asked) {
            let told = "nobody answered what this call asked for before, so nobody is asked again; ask the person to look at \
                        `wharf approvals`, and call again then";
            return Err(Error::new(Code::Denied, told));
        }
        let tell = telling(&self.audit, ApprovedAct { name: Some(&wanted.name), bytes: wanted.bytes });
        let told = |outcome| {
            if outcome == Some(Approval::TimedOut) {
                self.is_deserted.store(true, Relaxed);
            }
            tell(outcome);
        };
        approvals.wait(asked, told).await
    }
}
