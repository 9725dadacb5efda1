//! Arguments that the operator has recorded.

use wharf_core::{audit::CallAudit, service::Arguments};

use super::Host;
use crate::recorder::arguments;

impl Host {
    /// Has the audit tell the arguments of a call, where it is to.
    pub(super) fn record_arguments(&self, name: &str, audit: &CallAudit, arguments: &Arguments) {
        if !self.shared.recorder.tells_arguments(name) {
            return;
        }
        let registry = self.registry();
        let granted = registry.installed().iter().flat_map(|installed| installed.policy.grants.secrets.iter());
        let secrets: Vec<_> = granted.cloned().collect();
        audit.tells_arguments(arguments::kept(arguments.values(), &secrets));
    }
}
