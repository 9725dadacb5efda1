//! `[process.polls]`: when callers that poll too often are advised, for all of them
//! and apart for tenants and sessions.

use std::collections::BTreeMap;

use serde::Deserialize;
use wharf_core::{SessionId, TenantId};
use wharf_process::polls::{Language, PollOverride, PollRules, PollSettings};

/// `[process.polls]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PollGuidance {
    /// Whether who polls too often is advised.
    pub guidance: bool,
    /// Polls in a row that bring the first advice, however fast they come.
    #[schemars(range(min = 1))]
    pub threshold: u32,
    /// Polls in a row that are enough where they come within a second of each
    /// other; as many as `threshold` where absent.
    #[schemars(range(min = 1))]
    pub hasty_threshold: Option<u32>,
    /// The language of advice.
    pub language: GuidanceLanguage,
    /// What differs for a tenant.
    pub tenant: BTreeMap<TenantId, TenantPolls>,
}

/// `[process.polls.tenant.NAME]`: what is absent is as for all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct TenantPolls {
    /// Whether who polls too often is advised.
    pub guidance: Option<bool>,
    /// Polls in a row that bring the first advice.
    #[schemars(range(min = 1))]
    pub threshold: Option<u32>,
    /// Polls in a row that are enough where they are hasty.
    #[schemars(range(min = 1))]
    pub hasty_threshold: Option<u32>,
    /// The language of advice.
    pub language: Option<GuidanceLanguage>,
    /// What differs for a session of this tenant.
    pub session: BTreeMap<SessionId, SessionPolls>,
}

/// `[process.polls.tenant.NAME.session.ID]`: what is absent is as for the tenant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SessionPolls {
    /// Whether who polls too often is advised.
    pub guidance: Option<bool>,
    /// Polls in a row that bring the first advice.
    #[schemars(range(min = 1))]
    pub threshold: Option<u32>,
    /// Polls in a row that are enough where they are hasty.
    #[schemars(range(min = 1))]
    pub hasty_threshold: Option<u32>,
    /// The language of advice.
    pub language: Option<GuidanceLanguage>,
}

/// The language of advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, schemars::JsonSchema)]
#[non_exhaustive]
pub enum GuidanceLanguage {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Korean.
    #[serde(rename = "ko")]
    Korean,
}

impl GuidanceLanguage {
    /// The language of a locale, as systems write it: `ko_KR.UTF-8`, `en-US`, `C`.
    pub(super) fn of_locale(locale: &str) -> Option<Self> {
        let language = locale.split(['_', '-', '.', '@']).next().unwrap_or_default();
        match language.to_ascii_lowercase().as_str() {
            "en" | "c" | "posix" => Some(Self::English),
            "ko" => Some(Self::Korean),
            _ => None,
        }
    }
}

impl Default for PollGuidance {
    fn default() -> Self {
        let PollSettings { guidance, threshold, hasty_threshold, .. } = PollSettings::default();
        let language = GuidanceLanguage::English;
        Self { guidance, threshold, hasty_threshold, language, tenant: BTreeMap::new() }
    }
}

impl From<GuidanceLanguage> for Language {
    fn from(language: GuidanceLanguage) -> Self {
        match language {
            GuidanceLanguage::English => Self::English,
            GuidanceLanguage::Korean => Self::Korean,
        }
    }
}

impl TenantPolls {
    fn own(&self) -> SessionPolls {
        let Self { guidance, threshold, hasty_threshold, language, .. } = *self;
        SessionPolls { guidance, threshold, hasty_threshold, language }
    }
}

impl SessionPolls {
    fn check(self, table: &str) -> Result<(), String> {
        check(table, self.threshold, self.hasty_threshold)
    }

    fn differs(self) -> PollOverride {
        let Self { guidance, threshold, hasty_threshold, language } = self;
        PollOverride { guidance, threshold, hasty_threshold, language: language.map(Language::from) }
    }
}

fn check(table: &str, threshold: Option<u32>, hasty_threshold: Option<u32>) -> Result<(), String> {
    for (key, value) in [("threshold", threshold), ("hasty_threshold", hasty_threshold)] {
        if value == Some(0) {
            return Err(format!("[{table}] `{key}` must be at least 1"));
        }
    }
    Ok(())
}

impl PollGuidance {
    pub(super) fn check(&self) -> Result<(), String> {
        check("process.polls", Some(self.threshold), self.hasty_threshold)?;
        for (tenant, polls) in &self.tenant {
            let table = format!("process.polls.tenant.{tenant}");
            polls.own().check(&table)?;
            for (session, polls) in &polls.session {
                polls.check(&format!("{table}.session.{session}"))?;
            }
        }
        Ok(())
    }

    pub(crate) fn rules(&self) -> PollRules {
        let mut rules = PollRules::from(PollSettings {
            guidance: self.guidance,
            threshold: self.threshold,
            hasty_threshold: self.hasty_threshold,
            language: self.language.into(),
        });
        for (tenant, polls) in &self.tenant {
            rules.set_tenant(tenant.clone(), polls.own().differs());
            for (session, polls) in &polls.session {
                rules.set_session(tenant.clone(), session.clone(), polls.differs());
            }
        }
        rules
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{super::Configuration, *};

    fn parse(text: &str) -> Result<Configuration, String> {
        Configuration::parse(text, Path::new("/etc/wharf")).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_tenant_and_a_session_may_differ_and_a_mistake_is_named_with_its_table() {
        let text = "[process.polls]\nthreshold = 7\n[process.polls.tenant.acme]\nthreshold = 9\nhasty_threshold = 3\n\
                    [process.polls.tenant.acme.session.night]\nguidance = false\nlanguage = \"ko\"";
        let rules = parse(text).expect("parses").polls.rules();
        let of = |tenant: &str, session: &str| {
            let settings = rules.of(&tenant.parse().expect("legal"), &session.parse().expect("legal"));
            (settings.threshold, settings.hasty_threshold, settings.guidance, settings.language)
        };
        assert_eq!(of("local", "night"), (7, None, true, Language::English));
        assert_eq!(of("acme", "day"), (9, Some(3), true, Language::English));
        assert_eq!(of("acme", "night"), (9, Some(3), false, Language::Korean));
        for (text, word) in [
            ("[process.polls]\nhasty_threshold = 0", "[process.polls] `hasty_threshold`"),
            ("[process.polls.tenant.a]\nthreshold = 0", "[process.polls.tenant.a] `threshold`"),
            ("[process.polls.tenant.a.session.s]\nthreshold = 0", "[process.polls.tenant.a.session.s] `threshold`"),
            ("[process.polls.tenant.a]\ntreshold = 1", "treshold"),
            ("[process.polls.tenant.\"a b\"]\nthreshold = 1", "a b"),
        ] {
            let problem = parse(text).expect_err(text);
            assert!(problem.contains(word), "{text}: {problem}");
        }
    }
}
