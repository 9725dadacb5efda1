//! Which settings hold for whose polls: the operator may set them apart for a
//! tenant, and for a session of one.

use std::collections::HashMap;

use wharf_core::{SessionId, TenantId};

use super::{Language, PollSettings};

/// What differs from the settings that hold otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PollOverride {
    /// See [`PollSettings::guidance`].
    pub guidance: Option<bool>,
    /// See [`PollSettings::threshold`].
    pub threshold: Option<u32>,
    /// See [`PollSettings::hasty_threshold`].
    pub hasty_threshold: Option<u32>,
    /// See [`PollSettings::language`].
    pub language: Option<Language>,
}

/// How the polls of all callers are judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PollRules {
    settings: PollSettings,
    // What the operator writes down: as many as a configuration has.
    tenants: HashMap<TenantId, PollOverride>,
    sessions: HashMap<(TenantId, SessionId), PollOverride>,
}

impl PollOverride {
    fn on(self, settings: PollSettings) -> PollSettings {
        PollSettings {
            guidance: self.guidance.unwrap_or(settings.guidance),
            threshold: self.threshold.unwrap_or(settings.threshold),
            hasty_threshold: self.hasty_threshold.or(settings.hasty_threshold),
            language: self.language.unwrap_or(settings.language),
        }
    }
}

impl PollRules {
    /// Sets apart what holds for a tenant.
    pub fn set_tenant(&mut self, tenant: TenantId, differs: PollOverride) {
        self.tenants.insert(tenant, differs);
    }

    /// Sets apart what holds for a session, on top of what holds for its tenant.
    pub fn set_session(&mut self, tenant: TenantId, session: SessionId, differs: PollOverride) {
        self.sessions.insert((tenant, session), differs);
    }

    /// What holds for the polls of a session.
    #[must_use]
    pub fn of(&self, tenant: &TenantId, session: &SessionId) -> PollSettings {
        let mut settings = self.settings;
        if let Some(differs) = self.tenants.get(tenant) {
            settings = differs.on(settings);
        }
        if self.sessions.is_empty() {
            return settings;
        }
        match self.sessions.get(&(tenant.clone(), session.clone())) {
            Some(differs) => differs.on(settings),
            None => settings,
        }
    }
}

impl From<PollSettings> for PollRules {
    fn from(settings: PollSettings) -> Self {
        Self { settings, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_goes_before_its_tenant_and_a_tenant_before_what_holds_for_all() {
        let mut rules = PollRules::from(PollSettings { threshold: 7, ..PollSettings::default() });
        let (tenant, session): (TenantId, SessionId) =
            ("acme".parse().expect("legal"), "night".parse().expect("legal"));
        rules.set_tenant(tenant.clone(), PollOverride { threshold: Some(9), ..PollOverride::default() });
        let differs = PollOverride { language: Some(Language::Korean), ..PollOverride::default() };
        rules.set_session(tenant.clone(), session.clone(), differs);
        let of = |tenant: &str, session: &str| {
            let settings = rules.of(&tenant.parse().expect("legal"), &session.parse().expect("legal"));
            (settings.threshold, settings.language)
        };
        assert_eq!(of("other", "night"), (7, Language::English));
        assert_eq!(of("acme", "day"), (9, Language::English));
        assert_eq!(of("acme", "night"), (9, Language::Korean));
        assert_eq!(rules.of(&tenant, &session).hasty_threshold, None);
    }
}
