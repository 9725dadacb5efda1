//! The parts that a build may leave out, and what is said where a configuration asks for one.
//!
//! Knows the names of features and of what a configuration writes for them; the parts
//! themselves know nothing of it.

use toml::Table;

/// Something that a configuration asks for and this build leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{setting}` asks for {part}, and this build of Wharf has none: build the crate `wharf` with the feature `{feature}`"
)]
pub struct MissingFeature {
    setting: &'static str,
    part: &'static str,
    feature: &'static str,
}

impl MissingFeature {
    /// The feature of the crate `wharf` that has it.
    #[must_use]
    pub fn feature(&self) -> &'static str {
        self.feature
    }
}

const fn needs(setting: &'static str, part: &'static str, feature: &'static str) -> MissingFeature {
    MissingFeature { setting, part, feature }
}

/// Where spans are sent.
pub(crate) const COLLECTOR: MissingFeature = needs("traces.endpoint", "a sender of spans", "traces");
const BROWSER: &str = "a browser of the host's own";

/// What a configuration writes for a part that a build may leave out. The innermost table
/// or key of one part comes last.
const SETTINGS: [(MissingFeature, bool); 11] = [
    (needs("http", "an HTTP server", "http"), cfg!(feature = "http")),
    (needs("http.oauth", "a check of issued tokens", "oauth"), cfg!(feature = "oauth")),
    (needs("encryption", "encryption at rest", "encryption"), cfg!(feature = "encryption")),
    (needs("state.database_file", "a client of PostgreSQL", "postgres"), cfg!(feature = "postgres")),
    (needs("cluster", "a way to other hosts", "postgres"), cfg!(feature = "postgres")),
    (needs("cluster.nats", "a client of NATS", "nats"), cfg!(feature = "nats")),
    (COLLECTOR, cfg!(feature = "traces")),
    (needs("webview.program", BROWSER, "chromium"), cfg!(feature = "chromium")),
    (needs("webview.user", BROWSER, "chromium"), cfg!(feature = "chromium")),
    (needs("webview.sandbox", BROWSER, "chromium"), cfg!(feature = "chromium")),
    (needs("webview.temporary", BROWSER, "chromium"), cfg!(feature = "chromium")),
];

/// Refuses a text that asks for what this build leaves out. The text was read as a
/// configuration before.
pub(crate) fn check(text: &str) -> Result<(), MissingFeature> {
    let mut missing = SETTINGS.iter().filter(|(_, is_built)| !is_built).map(|(missing, _)| *missing).peekable();
    if missing.peek().is_none() {
        return Ok(());
    }
    first_of(missing, text)
}

fn first_of(missing: impl IntoIterator<Item = MissingFeature>, text: &str) -> Result<(), MissingFeature> {
    let Ok(written) = text.parse::<Table>() else { return Ok(()) };
    missing.into_iter().find(|missing| is_written(&written, missing.setting)).map_or(Ok(()), Err)
}

fn is_written(written: &Table, setting: &str) -> bool {
    match setting.split_once('.') {
        None => written.contains_key(setting),
        Some((table, rest)) => {
            written.get(table).and_then(toml::Value::as_table).is_some_and(|table| is_written(table, rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_leaves_out_is_refused_with_the_feature_that_has_it() {
        let all = || SETTINGS.into_iter().map(|(missing, _)| missing);
        for (text, feature) in [
            ("[http]\nhosts = []", "http"),
            ("[http.limits]\nreaders = 3", "http"),
            ("traces.endpoint = \"https://collector.example/v1/traces\"", "traces"),
            ("[webview]\nsandbox = false", "chromium"),
            ("[webview]\nprogram = \"chromium\"", "chromium"),
        ] {
            let missing = first_of(all(), text).expect_err(text);
            assert_eq!(missing.feature(), feature, "{text}");
            assert!(missing.to_string().contains(&format!("with the feature `{feature}`")), "{missing}");
        }
        // An app's own WebViews and its own sink of spans have these without a feature.
        for text in ["", "[webview.limits]\npages = 3", "[traces]\nratio = 0.5", "[plugin.http]\nenabled = false"] {
            assert_eq!(first_of(all(), text), Ok(()), "{text}");
        }
        let without_oauth = || all().filter(|missing| missing.feature() == "oauth");
        assert_eq!(first_of(without_oauth(), "[http]\nhosts = []"), Ok(()));
        let missing = first_of(without_oauth(), "[http.oauth]\nissuer = \"https://login.example\"");
        assert_eq!(missing.map_err(|missing| missing.feature()), Err("oauth"));
    }
}
