//! Calls that a person has to allow: which they are by what is configured now, and what the audit
//! hears of them.

mod acts;

use std::{sync::Arc, time::Instant};

use wharf_core::{
    Answer, Code, Error, InputGiven,
    audit::{ApprovedAct, AuditOutcome, CallAudit},
};

use super::{Host, calling::Called};
use crate::{
    approvals::{
        Approval, Approvals, AskedCall,
        by_client::{self, Carried, ClientAnswer},
    },
    configuration::AskWhom,
};

/// That a call waits.
const ASKED: &str = "asked";

/// Whether a call may run.
pub(super) enum Permission {
    /// It may, with the tool's own input. `is_kept` says that its client carries that.
    Run { input: InputGiven, is_kept: bool },
    /// The person at the client is asked first.
    Ask(Answer),
}

impl Permission {
    fn free(input: InputGiven) -> Self {
        Self::Run { input, is_kept: false }
    }
}

fn ended(outcome: Approval) -> AuditOutcome {
    match outcome {
        Approval::Allowed | Approval::AllowedForSession | Approval::AllowedByRule | Approval::AllowedByClient => {
            AuditOutcome::Ok
        }
        Approval::Refused | Approval::RefusedByClient | Approval::TimedOut => AuditOutcome::Failed(Code::Denied),
        Approval::Withdrawn => AuditOutcome::Failed(Code::Cancelled),
    }
}

/// What the audit hears of a call that waits now.
fn telling<'a>(audit: &'a CallAudit, of: ApprovedAct<'a>) -> impl Fn(Option<Approval>) + 'a {
    let began = Instant::now();
    move |outcome| match outcome {
        None => audit.approval(ASKED, of, AuditOutcome::Ok, began.elapsed()),
        Some(outcome) => audit.approval(outcome.as_str(), of, ended(outcome), began.elapsed()),
    }
}

impl Host {
    /// The calls that wait until a person allows them. No tool and no client reaches this.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.shared.approvals
    }

    /// Waits until a person allows a call, where the configuration asks for one; or says what the
    /// person at the client has to be asked first.
    pub(super) async fn permitted(
        &self,
        called: Called<'_>,
        mut input: InputGiven,
        arguments: impl FnOnce() -> Arc<str>,
    ) -> Result<Permission, Error> {
        let Called { name, callee, caller, audit } = called;
        let configuration = self.shared.sources.configuration();
        let settings = &configuration.approvals;
        // Nearly no host has any.
        if settings.is_off() {
            return Ok(Permission::free(input));
        }
        let carried = by_client::take(&mut input);
        if !callee.tool().is_some_and(|tool| settings.asks(name, &tool.definition)) {
            return Ok(Permission::Run { input, is_kept: carried == Carried::Allowed });
        }
        let arguments = arguments();
        let asked = AskedCall {
            tool: name,
            plugin: callee.plugin(),
            digest: callee.digest(),
            caller,
            arguments: &arguments,
            act: None,
            wait: settings.wait,
        };
        let told = telling(audit, ApprovedAct::default());
        let approvals = &self.shared.approvals;
        if settings.ask == AskWhom::Operator || !by_client::can_ask(caller.capabilities.as_ref()) {
            approvals.wait(asked, told).await?;
            return Ok(Permission::free(input));
        }
        match carried {
            Carried::Allowed => {}
            Carried::Nothing if approvals.is_remembered(&asked) => return Ok(Permission::free(input)),
            Carried::Nothing => {
                told(None);
                return Ok(Permission::Ask(by_client::question(&asked)));
            }
            Carried::Answered(ClientAnswer::Refused) => {
                told(Some(Approval::RefusedByClient));
                let refused = "the person at the client has refused this call, and it has not run";
                return Err(Error::new(Code::Denied, refused));
            }
            Carried::Answered(answer) => {
                if answer == ClientAnswer::Session {
                    approvals.allow_for_session(&asked);
                }
                told(Some(Approval::AllowedByClient));
            }
        }
        Ok(Permission::Run { input, is_kept: true })
    }

    /// Lets calls go on for which no rule asks for a person any more.
    pub(super) fn reconsider_approvals(&self) {
        let configuration = self.shared.sources.configuration();
        let registry = self.registry();
        let rules = &configuration.approvals.acts;
        self.shared.approvals.reconsider(|waiting| {
            if waiting.wants.is_some() {
                return !waiting.rule.as_ref().is_some_and(|rule| rules.frees(rule));
            }
            let callee = registry.find(&waiting.tool);
            // A tool that is gone or another one by now: its call ends by itself, or a person ends it.
            callee
                .and_then(|callee| callee.tool())
                .is_none_or(|tool| configuration.approvals.asks(&waiting.tool, &tool.definition))
        });
    }
}
