//! `wharf.toml`, whatever somebody wrote into it.

use std::path::Path;

use wharf::{Configuration, limit::LimitInfo};

/// The text of a configuration. Either it is refused in words that say where, or every limit
/// that it comes to is within its ceiling.
pub fn configuration(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let configuration = match Configuration::parse(text, Path::new("/etc/wharf")) {
        Ok(configuration) => configuration,
        Err(problem) => return assert_says_where(text, &problem.to_string()),
    };
    within(configuration.host_limits.values());
    within(configuration.process_limits.values());
    within(configuration.stream_limits.values());
    within(configuration.terminal.limits.values());
    within(configuration.webview.limits.values());
    within(configuration.http.limits.values());
    within(configuration.call_limits.values());
    for (name, plugin) in &configuration.plugins {
        within(plugin.limits.values());
        assert!(!matches!(name.as_str(), "host" | "app"), "a plugin {name}");
        assert!(plugin.source.as_ref().is_none_or(|source| source.is_absolute()), "{:?}", plugin.source);
        assert!(plugin.settings.is_object(), "{}", plugin.settings);
        if let Some(grants) = &plugin.grants {
            let reasons = serde_json::to_value(grants).expect("grants are shown as JSON");
            for (capability, grant) in reasons.as_object().expect("an object") {
                let reason = grant.get("reason").and_then(|reason| reason.as_str());
                let told = grant.is_null() || reason.is_some_and(|reason| !reason.trim().is_empty());
                assert!(told, "{capability} is granted without a reason: {grant}");
            }
        }
    }
    let again = Configuration::parse(text, Path::new("/etc/wharf")).expect("it was accepted a moment ago");
    assert_eq!(format!("{:?}", again.plugins), format!("{:?}", configuration.plugins));
}

fn within(values: impl Iterator<Item = (&'static LimitInfo, u64)>) {
    for (limit, value) in values {
        assert!(value <= limit.ceiling, "{} is {value}, above {}", limit.name, limit.ceiling);
    }
}

/// A line, or the table and the key.
fn assert_says_where(text: &str, problem: &str) {
    assert!(!problem.trim().is_empty(), "refused without a word");
    assert!(problem.len() <= 4 * text.len() + (8 << 10), "{} bytes say what is wrong", problem.len());
    let line =
        problem.split_once("line ").is_some_and(|(_, rest)| rest.starts_with(|first: char| first.is_ascii_digit()));
    assert!(
        line || problem.contains("of no line")
            || problem.contains('[')
            || problem.contains('.')
            || problem.contains('`'),
        "nobody knows where: {problem}"
    );
}
