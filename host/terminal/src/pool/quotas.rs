//! How many terminals each session, each tenant and the host as a whole may have
//! open, and how many that ended they keep.
//!
//! Owns which limits count. Never knows a terminal.

use std::sync::Arc;

use wharf_core::{Quota, TerminalLimits, quota::Bounds};

const SECTION: &str = "[terminal.limits]";

/// What all terminals of a host use.
#[derive(Debug)]
pub(super) struct TerminalQuotas {
    /// Open terminals.
    pub(super) open: Arc<Quota>,
    /// Ended ones that are kept to be read.
    pub(super) ended: Arc<Quota>,
}

impl TerminalQuotas {
    pub(super) fn new(limits: &TerminalLimits) -> Self {
        let open = Bounds {
            resource: "terminals",
            section: SECTION,
            session: Some(("open_per_session", limits.open_per_session)),
            tenant: ("open_per_tenant", limits.open_per_tenant),
            host: ("open", limits.open),
        };
        let ended = Bounds {
            resource: "ended terminals",
            section: SECTION,
            session: Some(("ended_per_session", limits.ended_per_session)),
            tenant: ("ended_per_tenant", limits.ended_per_tenant),
            host: ("ended", limits.ended),
        };
        Self { open: Quota::new(open), ended: Quota::new(ended) }
    }
}

#[cfg(test)]
mod tests {
    use wharf_core::quota::Level;

    use super::*;

    #[test]
    fn the_limits_of_open_and_ended_terminals_are_those_of_the_table() {
        let limits = TerminalLimits { open: 1, ended: 1, ..TerminalLimits::default() };
        let (tenant, session) = ("local".parse().expect("legal"), "s".parse().expect("legal"));
        let TerminalQuotas { open, ended } = TerminalQuotas::new(&limits);
        for quota in [open, ended] {
            let _held = quota.take(&tenant, &session, 1).expect("a place");
            let full = quota.take(&tenant, &session, 1).expect_err("none is left");
            assert_eq!((full.level, full.bound.1), (Level::Host, 1));
        }
    }
}
