//! How something was built, by the predicates of SLSA.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wharf_core::text::line;

/// Bytes of a word that is shown.
const MAX_WORD_BYTES: usize = 512;

/// How something was built, as far as it is said. Each word is one line that a stranger chose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BuildProvenance {
    /// What built it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builder: Option<String>,
    /// The repository of its source, without the way to fetch it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The commit of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl BuildProvenance {
    /// Of a predicate of SLSA, version 1 or 0.2.
    pub(crate) fn of(predicate: &Value) -> Self {
        let at = |pointer: &str| predicate.pointer(pointer).and_then(Value::as_str);
        let word = |word: Option<&str>| word.map(|word| line(word, MAX_WORD_BYTES)).filter(|word| !word.is_empty());
        let builder = at("/runDetails/builder/id").or_else(|| at("/builder/id"));
        let dependency = "/buildDefinition/resolvedDependencies/0";
        let repository = at("/buildDefinition/externalParameters/workflow/repository")
            .or_else(|| at(&format!("{dependency}/uri")))
            .or_else(|| at("/invocation/configSource/uri"));
        let commit = at(&format!("{dependency}/digest/gitCommit"))
            .or_else(|| at(&format!("{dependency}/digest/sha1")))
            .or_else(|| at("/invocation/configSource/digest/sha1"));
        Self { builder: word(builder), repository: word(repository.map(address)), commit: word(commit) }
    }
}

/// `git+https://host/path@refs/heads/main` without its ends.
fn address(uri: &str) -> &str {
    let uri = uri.strip_prefix("git+").unwrap_or(uri);
    match uri.rsplit_once('@') {
        Some((address, reference)) if reference.starts_with("refs/") => address,
        _ => uri,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn builder_source_and_commit_are_read_in_both_versions() {
        let expected = BuildProvenance {
            builder: Some("https://github.com/acme/build@v1".to_owned()),
            repository: Some("https://github.com/acme/tool".to_owned()),
            commit: Some("c0ffee".to_owned()),
        };
        let first = json!({
            "buildDefinition": {
                "externalParameters": {"workflow": {"repository": "https://github.com/acme/tool"}},
                "resolvedDependencies": [{"uri": "git+https://github.com/acme/tool@refs/heads/main", "digest": {"gitCommit": "c0ffee"}}],
            },
            "runDetails": {"builder": {"id": "https://github.com/acme/build@v1"}},
        });
        assert_eq!(BuildProvenance::of(&first), expected);
        let earlier = json!({
            "builder": {"id": "https://github.com/acme/build@v1"},
            "invocation": {"configSource": {"uri": "git+https://github.com/acme/tool@refs/tags/v1", "digest": {"sha1": "c0ffee"}}},
        });
        assert_eq!(BuildProvenance::of(&earlier), expected);
        let hostile = json!({"builder": {"id": "x\u{1b}[2J\ny"}, "invocation": [1]});
        assert_eq!(BuildProvenance::of(&hostile).builder.as_deref(), Some("x[2Jy"));
        assert_eq!(BuildProvenance::of(&json!(null)), BuildProvenance::default());
    }
}
