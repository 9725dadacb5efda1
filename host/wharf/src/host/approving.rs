//! Calls that a person has to allow: which they are by what is configured now, and what the audit
//! hears of them.

use std::{sync::Arc, time::Instant};

use wharf_core::{Code, Error, audit::AuditOutcome};

use super::{Host, calling::Called};
use crate::approvals::{Approval, Approvals, AskedCall};

/// That a call waits.
const ASKED: &str = "asked";

impl Host {
    /// The calls that wait until a person allows them. No tool and no client reaches this.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.shared.approvals
    }

    /// Waits until a person allows a call, where the configuration asks for one.
    pub(super) async fn allowed(&self, called: Called<'_>, arguments: impl FnOnce() -> Arc<str>) -> Result<(), Error> {
        let Called { name, callee, caller, audit } = called;
        let configuration = self.shared.sources.configuration();
        let settings = &configuration.approvals;
        // Nearly no host has any.
        if settings.is_off() || !callee.tool().is_some_and(|tool| settings.asks(name, &tool.definition)) {
            return Ok(());
        }
        let arguments = arguments();
        let asked = AskedCall {
            tool: name,
            plugin: callee.plugin(),
            digest: callee.digest(),
            caller,
            arguments: &arguments,
            wait: settings.wait,
        };
        let began = Instant::now();
        let told = |outcome: Option<Approval>| match outcome {
            None => audit.approval(ASKED, AuditOutcome::Ok, began.elapsed()),
            Some(outcome) => {
                let ended = match outcome {
                    Approval::Allowed | Approval::AllowedForSession | Approval::AllowedByRule => AuditOutcome::Ok,
                    Approval::Refused | Approval::TimedOut => AuditOutcome::Failed(Code::Denied),
                    Approval::Withdrawn => AuditOutcome::Failed(Code::Cancelled),
                };
                audit.approval(outcome.as_str(), ended, began.elapsed());
            }
        };
        self.shared.approvals.wait(asked, told).await
    }

    /// Lets calls run for which no rule asks for a person any more.
    pub(super) fn reconsider_approvals(&self) {
        let configuration = self.shared.sources.configuration();
        let registry = self.registry();
        self.shared.approvals.reconsider(|waiting| {
            let callee = registry.find(&waiting.tool);
            // A tool that is gone or another one by now: its call ends by itself, or a person ends it.
            callee
                .and_then(|callee| callee.tool())
                .is_none_or(|tool| configuration.approvals.asks(&waiting.tool, &tool.definition))
        });
    }
}
