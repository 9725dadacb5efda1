//! The state of a plugin's grants while a host runs: what time it is, whether they are
//! held back, and what counts the refusals.
//!
//! Every refusal is made here, so none is made without being counted.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{
    denial::{Capability, Denials, Denied, Refusal},
    expiry::Expiry,
};
use crate::{Error, PluginName};

/// What time it is. Core itself has no clock; the host hands one in.
#[derive(Clone)]
pub struct GrantClock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl GrantClock {
    /// A clock that this function reads.
    #[must_use]
    pub fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// What time it is.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        (self.0)()
    }
}

impl fmt::Debug for GrantClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("GrantClock")
    }
}

/// How the grants of a plugin stand. No part of what was granted: two grants
/// that differ in it alone are equal.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    /// Without one, a grant that expires counts as expired.
    pub clock: Option<GrantClock>,
    /// Where refusals are counted.
    pub denials: Denials,
    /// Why the plugin has none of its grants, where that is so.
    pub withheld: Option<Arc<str>>,
}

impl PartialEq for Standing {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Standing {}

/// Proof that a capability was granted and still is, and how to refuse what
/// goes beyond it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder<'g> {
    pub(super) plugin: &'g PluginName,
    pub(super) capability: Capability,
    standing: &'g Standing,
    expires: Option<&'g Expiry>,
}

impl Standing {
    fn is_over(&self, expiry: &Expiry) -> bool {
        self.clock.as_ref().is_none_or(|clock| expiry.is_over(clock.now()))
    }

    /// Counts a refusal and makes its error.
    pub(crate) fn refuse(&self, plugin: &PluginName, capability: Capability, why: Refusal) -> Error {
        let denied = Denied { plugin: plugin.clone(), capability, why };
        self.denials.count(&denied);
        denied.into()
    }

    /// Checks that a grant still holds.
    pub(crate) fn holds(
        &self,
        plugin: &PluginName,
        capability: Capability,
        expires: Option<&Expiry>,
    ) -> Result<(), Error> {
        match expires.filter(|expiry| self.is_over(expiry)) {
            Some(expiry) => Err(self.refuse(plugin, capability, Refusal::Expired(expiry.clone()))),
            None => Ok(()),
        }
    }

    /// Checks that there is a grant, and that it still holds.
    pub(super) fn check<'h, 'g: 'h, G>(
        &'h self,
        plugin: &'h PluginName,
        capability: Capability,
        grant: Option<&'g G>,
        expires: impl FnOnce(&'g G) -> Option<&'g Expiry>,
    ) -> Result<(&'g G, Holder<'h>), Error> {
        let Some(grant) = grant else {
            let why = self.withheld.clone().map_or(Refusal::NotGranted, Refusal::Withheld);
            return Err(self.refuse(plugin, capability, why));
        };
        let expires = expires(grant);
        self.holds(plugin, capability, expires)?;
        Ok((grant, Holder { plugin, capability, standing: self, expires }))
    }
}

impl<'g> Holder<'g> {
    /// The refusal of something that the grant does not reach: `what` ends a
    /// sentence about the plugin, `change` is what to do in the grant's table.
    pub(super) fn beyond(&self, what: String, change: String) -> Error {
        self.standing.refuse(self.plugin, self.capability, Refusal::Beyond { what, change })
    }

    /// What may last so long lasts no longer than the grant.
    pub(super) fn lasting(&self, wanted: Duration) -> Duration {
        match (self.expires, &self.standing.clock) {
            (Some(expiry), Some(clock)) => wanted.min(expiry.left(clock.now())),
            _ => wanted,
        }
    }

    /// The same for what outlives the call that was granted it.
    pub(super) fn kept(&self) -> (Standing, Option<Expiry>) {
        (self.standing.clone(), self.expires.cloned())
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;
    use crate::{
        Code, Grants, Origin, ScopeKind,
        grant::{
            ChildGrant, EventsGrant, HttpGrant, ProcessGrant, StateGrant, TerminalGrant, WebViewGrant, WorkspaceGrant,
        },
        request::Secrets,
    };

    fn plugin() -> PluginName {
        "p".parse().expect("legal")
    }

    /// Every capability, each to hold to the end of the first day of 1970.
    fn expiring(standing: Standing) -> Grants {
        let expires = || Some("1970-01-01".parse().expect("a day"));
        Grants {
            state: Some(StateGrant { expires: expires(), ..StateGrant::with_reason("a test") }),
            events: Some(EventsGrant { expires: expires(), ..EventsGrant::with_reason("a test") }),
            process: Some(ProcessGrant::of(ChildGrant {
                expires: expires(),
                shell: true,
                ..ChildGrant::with_reason("a test")
            })),
            terminal: Some(TerminalGrant { expires: expires(), ..TerminalGrant::with_reason("a test") }),
            webview: Some(WebViewGrant {
                expires: expires(),
                origins: vec!["https://example.com".parse().expect("an origin")],
                ..WebViewGrant::with_reason("a test")
            }),
            workspace: Some(WorkspaceGrant { expires: expires(), ..WorkspaceGrant::with_reason("a test") }),
            http: Some(HttpGrant { expires: expires(), ..HttpGrant::with_reason("a test") }),
            secrets: Secrets::default(),
            standing,
        }
    }

    fn uses(grants: &Grants) -> [(Capability, Result<(), Error>); 7] {
        let plugin = plugin();
        [
            (Capability::State, grants.state(&plugin, ScopeKind::Session).map(drop)),
            (Capability::Events, grants.events(&plugin).map(drop)),
            (Capability::Workspace, grants.workspace(&plugin).map(drop)),
            (Capability::Process, grants.process(&plugin).map(drop)),
            (Capability::Terminal, grants.terminal(&plugin).map(drop)),
            (Capability::WebView, grants.webview(&plugin).map(drop)),
            (Capability::Http, grants.http(&plugin).map(drop)),
        ]
    }

    #[test]
    fn every_use_asks_the_clock_and_an_expired_grant_says_so() {
        let now = Arc::new(Mutex::new(SystemTime::UNIX_EPOCH));
        let read = Arc::clone(&now);
        let clock = GrantClock::new(move || *read.lock());
        let grants = expiring(Standing { clock: Some(clock), ..Standing::default() });
        for (capability, used) in uses(&grants) {
            assert_eq!(used, Ok(()), "{capability}");
        }
        let plugin = plugin();
        let (process, page) = (grants.process(&plugin).expect("granted"), grants.webview(&plugin).expect("granted"));
        let day = Duration::from_secs(24 * 3600);
        assert_eq!(process.children().lifetime(), day, "a child ends with the grant");
        let policy = page.policy();
        let origin = Origin::of(&"https://example.com/".parse().expect("a URL")).expect("an origin");
        assert_eq!(policy.origin(&origin), Ok(()));

        *now.lock() += day;
        for (capability, used) in uses(&grants) {
            let error = used.expect_err(capability.as_str());
            assert_eq!(error.code, Code::Denied);
            let table = format!("change `expires` under [plugin.p.grants.{capability}]");
            assert!(error.message.contains("until 1970-01-01") && error.message.contains(&table), "{error}");
        }
        // What was handed out before is over as well.
        assert_eq!(process.children().lifetime(), Duration::ZERO);
        let error = policy.origin(&origin).expect_err("over");
        assert!(error.message.contains("expires"), "{error}");
        assert!(policy.address("1.1.1.1".parse().expect("an address")).is_err());
        assert!(policy.tunnel("example.com", 443).is_err());
    }

    #[test]
    fn without_a_clock_a_grant_that_expires_is_over() {
        for (capability, used) in uses(&expiring(Standing::default())) {
            assert_eq!(used.expect_err(capability.as_str()).code, Code::Denied);
        }
    }

    #[test]
    fn each_refusal_is_counted_by_plugin_and_capability_wherever_it_is_made() {
        let denials = Denials::default();
        let standing = Standing { denials: denials.clone(), ..Standing::default() };
        let grants = Grants {
            process: Some(ProcessGrant::with_reason("a test")),
            webview: Some(WebViewGrant::with_reason("a test")),
            standing: standing.clone(),
            ..Grants::default()
        };
        let plugin = plugin();
        let (process, page) = (grants.process(&plugin).expect("granted"), grants.webview(&plugin).expect("granted"));
        assert!(process.program("git").is_err() && process.shell("true").is_err() && process.variable("A").is_err());
        assert!(page.uploads().is_err() && page.policy().url("https://example.com/").is_err());
        assert!(grants.state(&plugin, ScopeKind::Thread).is_err());
        let other: PluginName = "q".parse().expect("legal");
        assert!(Grants { standing, ..Grants::default() }.state(&other, ScopeKind::Thread).is_err());
        let counted: Vec<_> = denials.counts().into_iter().collect();
        assert_eq!(
            counted,
            [
                ((plugin.clone(), Capability::State), 1),
                ((plugin.clone(), Capability::Process), 3),
                ((plugin, Capability::WebView), 2),
                ((other, Capability::State), 1),
            ]
        );
    }

    #[test]
    fn grants_that_are_held_back_are_denied_with_the_reason() {
        let standing = Standing { withheld: Some("its component changed".into()), ..Standing::default() };
        let error = Grants { standing, ..Grants::default() }.events(&plugin()).map(drop).expect_err("withheld");
        assert!(error.message.ends_with("its component changed"), "{error}");
    }

    #[test]
    fn a_guest_that_asks_for_a_pattern_gets_no_line_that_grants_it() {
        let grants = Grants { process: Some(ProcessGrant::with_reason("a test")), ..Grants::default() };
        let plugin = plugin();
        let granted = grants.process(&plugin).expect("granted");
        let exact = granted.program("/usr/bin/git").expect_err("not granted").message;
        assert!(exact.contains("add \"/usr/bin/git\" to `programs` under [plugin.p.grants.process]"), "{exact}");
        for wanted in ["*", "gi?", "a\", \"*", "g\u{202e}it", "", &"x".repeat(4_096)] {
            let message = granted.program(wanted).expect_err("not granted").message;
            assert!(message.contains("change `programs`") && !message.contains("add \""), "{message}");
            assert!(message.len() < 600 && !message.contains('\u{202e}'), "{message}");
        }
    }
}
