//! What a plugin may use with one component: the one place where grants, pin and digest
//! meet, and the clock by which grants end.

use std::time::SystemTime;

use wharf_core::{
    Grants, PluginName,
    grant::{Capability, Expiry, GrantClock, Standing},
};

use super::{
    document::Configuration,
    pin::{EffectiveGrants, KnownComponent, Pin, Unconfirmed},
    plugin::PluginSettings,
};
use crate::bundled;

impl Configuration {
    /// What a plugin may use with this component. A loader asks with what is known of the very
    /// bytes that it loads.
    ///
    /// # Errors
    /// Where the component is not to be loaded at all (`pin = "refuse"`).
    pub fn effective_grants(
        &self,
        name: &PluginName,
        settings: &PluginSettings,
        component: KnownComponent<'_>,
    ) -> Result<EffectiveGrants, Unconfirmed> {
        let mut grants = self.grants(name, settings);
        grants.standing = self.standing();
        if let (Some(state), Some(scope)) = (grants.state.as_mut(), settings.default_scope) {
            state.default_scope = scope;
        }
        let confirmed = settings.confirmed();
        let changed = !confirmed.as_ref().is_some_and(|confirmed| confirmed.is(component));
        let pin = settings.effective_pin();
        let unconfirmed = || Unconfirmed {
            plugin: name.clone(),
            confirmed: confirmed.clone().map(Box::new),
            found: component.digest,
            signer: component.signer().cloned().map(Box::new),
        };
        let mut warnings = Vec::new();
        match pin {
            Some(Pin::Refuse) if changed => return Err(unconfirmed()),
            Some(Pin::Digest | Pin::Signer) if changed => {
                let withheld = unconfirmed();
                let standing = Standing { withheld: Some(withheld.to_string().into()), ..grants.standing };
                let grants = Grants { standing, ..Grants::default() };
                warnings.push(format!("has none of its grants: {withheld}"));
                return Ok(EffectiveGrants { grants, withheld: Some(withheld), warnings });
            }
            Some(Pin::None) if grants != Grants::default() => warnings.push(format!(
                "has `pin = \"none\"`: whatever its component becomes keeps its grants; without that line, `wharf grant \
                 {name} --confirm` binds them to this one"
            )),
            None if settings.source.is_none() && bundled::find(name.as_str()).is_some() => {}
            None if grants != Grants::default() => warnings.push(format!(
                "is not pinned: whatever its component becomes has its grants; `wharf grant {name} --confirm` binds them to \
                 this component"
            )),
            _ => {}
        }
        warnings.extend(self.expired(&grants).map(|(capability, expiry)| {
            format!(
                "was granted `{capability}` until {expiry}, which is over; change `expires` under \
                 [plugin.{name}.grants.{capability}]"
            )
        }));
        Ok(EffectiveGrants { grants, withheld: None, warnings })
    }

    /// The same for the clock that grants are checked by, in place of the
    /// system's.
    #[must_use]
    pub fn with_clock(self, clock: GrantClock) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// The same in a host that had another one until now: counts on what that one
    /// counted, by its clock unless this has one of its own.
    pub(crate) fn in_place_of(self, former: &Self) -> Self {
        Self { clock: self.clock.or_else(|| former.clock.clone()), denials: former.denials.clone(), ..self }
    }

    pub(crate) fn standing(&self) -> Standing {
        let clock = self.clock.clone().unwrap_or_else(|| GrantClock::new(SystemTime::now));
        Standing { clock: Some(clock), denials: self.denials.clone(), withheld: None }
    }

    fn expired<'g>(&self, grants: &'g Grants) -> impl Iterator<Item = (Capability, &'g Expiry)> {
        let now = self.clock.as_ref().map_or_else(SystemTime::now, GrantClock::now);
        expiries(grants).filter(move |(_, expiry)| expiry.is_over(now))
    }
}

/// Until when each granted capability holds that is not granted for ever.
fn expiries(grants: &Grants) -> impl Iterator<Item = (Capability, &Expiry)> {
    let Grants { state, events, process, terminal, webview, workspace, http, secrets: _, standing: _ } = grants;
    [
        (Capability::State, state.as_ref().and_then(|grant| grant.expires.as_ref())),
        (Capability::Events, events.as_ref().and_then(|grant| grant.expires.as_ref())),
        (Capability::Workspace, workspace.as_ref().and_then(|grant| grant.expires.as_ref())),
        (Capability::Http, http.as_ref().and_then(|grant| grant.expires.as_ref())),
        (Capability::Process, process.as_ref().and_then(|grant| grant.children.expires.as_ref())),
        (Capability::Terminal, terminal.as_ref().and_then(|grant| grant.expires.as_ref())),
        (Capability::WebView, webview.as_ref().and_then(|grant| grant.expires.as_ref())),
    ]
    .into_iter()
    .filter_map(|(capability, expiry)| Some((capability, expiry?)))
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use wharf_core::Digest;

    use super::{super::pin::Confirmed, *};

    const GRANTED: &str = "[plugin.x.grants.state]\nreason = \"r\"";

    fn decided(lines: &str, digest: Digest) -> Result<EffectiveGrants, Unconfirmed> {
        let text = format!("[plugin.x]\nsource = \"x.wasm\"\n{lines}\n{GRANTED}");
        let configuration = Configuration::parse(&text, Path::new("/")).expect("parses");
        let name = "x".parse().expect("legal");
        configuration.effective_grants(&name, &configuration.plugins[&name], KnownComponent::unsigned(digest))
    }

    #[test]
    fn a_component_keeps_its_grants_by_its_digest_or_by_an_explicit_word_that_is_warned_of() {
        let (confirmed, other) = (Digest::of(b"confirmed"), Digest::of(b"other"));
        let pinned = |pin: &str| format!("digest = \"{confirmed}\"\n{pin}");
        for lines in [pinned(""), pinned("pin = \"digest\""), pinned("pin = \"refuse\"")] {
            let decided = decided(&lines, confirmed).expect("loaded");
            assert!(decided.grants.state.is_some() && decided.withheld.is_none(), "{lines}");
            assert!(decided.warnings.is_empty(), "{:?}", decided.warnings);
        }
        for (lines, named) in [(pinned(""), Some(confirmed)), ("pin = \"digest\"".to_owned(), None)] {
            let decided = decided(&lines, other).expect("loaded");
            assert_eq!(decided.grants, Grants::default(), "{lines}");
            let withheld = decided.withheld.expect("held back");
            assert_eq!(
                (withheld.confirmed.as_deref(), withheld.found),
                (named.map(Confirmed::Component).as_ref(), other)
            );
            assert!(withheld.to_string().contains("wharf grant x --confirm"), "{withheld}");
            let denied = decided.grants.state(&"x".parse().expect("legal"), wharf_core::ScopeKind::Plugin);
            assert!(denied.expect_err("nothing").message.contains("wharf grant x --confirm"));
        }
        assert!(decided(&pinned("pin = \"refuse\""), other).is_err());
        assert!(decided("pin = \"refuse\"", other).is_err());
        for (lines, word) in [(pinned("pin = \"none\""), "pin = \"none\""), (String::new(), "not pinned")] {
            let decided = decided(&lines, other).expect("loaded");
            assert!(decided.grants.state.is_some() && decided.withheld.is_none(), "{lines}");
            assert!(decided.warnings.len() == 1 && decided.warnings[0].contains(word), "{:?}", decided.warnings);
        }
    }

    #[test]
    fn a_grant_that_is_over_is_warned_of_by_the_clock_that_checks_it() {
        let text = format!("[plugin.x]\nsource = \"x.wasm\"\npin = \"none\"\n{GRANTED}\nexpires = 1970-01-02");
        let name = "x".parse().expect("legal");
        for (day, warned) in [(1, false), (2, true)] {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(day * 24 * 3600);
            let configuration = Configuration::parse(&text, Path::new("/")).expect("parses");
            let configuration = configuration.with_clock(GrantClock::new(move || now));
            let decided = configuration.effective_grants(
                &name,
                &configuration.plugins[&name],
                KnownComponent::unsigned(Digest::of(b"")),
            );
            let warnings = decided.expect("loaded").warnings;
            assert_eq!(warnings.iter().any(|warning| warning.contains("until 1970-01-02")), warned, "{warnings:?}");
        }
        let decided = Configuration::parse(&text, Path::new("/")).expect("parses");
        let decided = decided
            .effective_grants(&name, &decided.plugins[&name], KnownComponent::unsigned(Digest::of(b"")))
            .expect("loaded");
        assert!(decided.warnings.iter().any(|warning| warning.contains("1970-01-02")), "the system's clock is later");
    }
}
