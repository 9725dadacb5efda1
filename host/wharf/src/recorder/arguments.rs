//! Arguments of calls whose tools the operator names, as the audit may have them: short, and without what looks
//! like a secret.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use wharf_core::{Secret, audit::MAX_ARGUMENT_BYTES, text};
use wharf_network::SecretMask;

/// In place of a secret.
const MASKED: &str = "***";
/// Bytes of values that are looked at: more than a line has, so that no secret is cut in two before it is found.
const LOOKED_AT: usize = 8 * MAX_ARGUMENT_BYTES;
/// Parts of the names of members that have secrets, without `-` and `_`.
const SECRET_NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "credential",
    "cookie",
    "bearer",
];
/// Forms of secrets within texts, and what takes the place of each.
static FORMS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)", "***"),
        (r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}", "$1 ***"),
        (r"://[^/\s@]*@", "://***@"),
        // `API_KEY=x`, `"token": "x"`, and `--password x`.
        (
            r#"(?i)((?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[a-z0-9_-]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s"',;&|]+)"#,
            "$1***",
        ),
        (
            r#"(?i)(\s-{1,2}[a-z0-9_-]*(?:password|passwd|passphrase|secret|token|key)[a-z0-9_-]*\s+)("[^"]*"|'[^']*'|[^\s"',;&|]+)"#,
            "$1***",
        ),
        // As GitHub, GitLab, npm, Slack, AWS and makers of models write theirs.
        (r"\b(gh[pousr]_|github_pat_|glpat-|npm_|xox[abeprs]-|AKIA|ASIA|sk-)[A-Za-z0-9_-]{8,}", "$1***"),
        // A JSON Web Token.
        (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*", "***"),
    ]
    .into_iter()
    // Each is one of the above.
    .filter_map(|(form, instead)| Some((Regex::new(form).ok()?, instead)))
    .collect()
});

/// The arguments as a line may have them; the secrets are all that the operator gave to plugins.
pub(crate) fn kept(arguments: &Map<String, Value>, secrets: &[Secret]) -> Box<str> {
    let mut left = LOOKED_AT;
    let masked = Value::Object(members(arguments, &mut left)).to_string();
    let masked = SecretMask::new(secrets).whole(masked.as_bytes());
    text::line(&String::from_utf8_lossy(&masked), MAX_ARGUMENT_BYTES).into()
}

/// The text without what has the form of a secret.
pub(crate) fn without_secrets(text: &str) -> String {
    FORMS.iter().fold(text.to_owned(), |text, (form, instead)| form.replace_all(&text, *instead).into_owned())
}

fn members(members: &Map<String, Value>, left: &mut usize) -> Map<String, Value> {
    let mut kept = Map::new();
    for (name, value) in members {
        if *left == 0 {
            break;
        }
        let name = within(name, left).to_owned();
        let value = if is_secret(&name) { MASKED.into() } else { masked(value, left) };
        kept.insert(name, value);
    }
    kept
}

fn masked(value: &Value, left: &mut usize) -> Value {
    match value {
        Value::String(text) => without_secrets(within(text, left)).into(),
        Value::Array(all) => {
            let mut kept = Vec::new();
            // An option of a command and its value may be two of them.
            let mut follows_secret = false;
            for one in all {
                if *left == 0 {
                    break;
                }
                *left = left.saturating_sub(1);
                let is_option =
                    one.as_str().is_some_and(|text| text.starts_with('-') && !text.contains('=') && is_secret(text));
                kept.push(if follows_secret { MASKED.into() } else { masked(one, left) });
                follows_secret = is_option;
            }
            kept.into()
        }
        Value::Object(object) => members(object, left).into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            *left = left.saturating_sub(1);
            value.clone()
        }
    }
}

/// As much of a text as is looked at.
fn within<'t>(text: &'t str, left: &mut usize) -> &'t str {
    let cut = text::cut(text, *left);
    // A name or a text of no length is one more that is looked at.
    *left = left.saturating_sub(cut.len().max(1));
    cut
}

fn is_secret(name: &str) -> bool {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|character| character.to_ascii_lowercase()).collect();
    SECRET_NAMES.iter().any(|part| plain.contains(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(arguments: Value) -> String {
        kept(arguments.as_object().expect("an object"), &[]).into()
    }

    #[test]
    fn what_looks_like_a_secret_is_masked_and_the_rest_is_there() {
        for (arguments, expected) in [
            (json!({"command": "git push"}), r#"{"command":"git push"}"#),
            (json!({"apiKey": "abc", "user": "ada"}), r#"{"apiKey":"***","user":"ada"}"#),
            (json!({"headers": {"X-Auth-Token": ["a", "b"]}}), r#"{"headers":{"X-Auth-Token":"***"}}"#),
            (
                json!({"command": "curl -H 'Authorization: Bearer abcdef123'"}),
                r#"{"command":"curl -H 'Authorization: Bearer ***'"}"#,
            ),
            (json!({"url": "https://ada:hunter2@example.com/x"}), r#"{"url":"https://***@example.com/x"}"#),
            (json!({"command": "API_KEY=abc make"}), r#"{"command":"API_KEY=*** make"}"#),
            (json!({"command": "login --password hunter2 now"}), r#"{"command":"login --password *** now"}"#),
            (json!({"args": ["--password", "hunter2", "x"]}), r#"{"args":["--password","***","x"]}"#),
            (json!({"text": "ghp_abcdefghijklmnop and AKIAABCDEFGHIJKL"}), r#"{"text":"ghp_*** and AKIA***"}"#),
            (json!({"key": "-----BEGIN PRIVATE KEY-----\nMC4CAQ"}), r#"{"key":"***"}"#),
            (json!({"text": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln"}), r#"{"text":"***"}"#),
            (json!({"text": "the token is a secret one"}), r#"{"text":"the token is a secret one"}"#),
            (json!({"limit": 3, "all": true}), r#"{"all":true,"limit":3}"#),
        ] {
            assert_eq!(of(arguments), expected);
        }
    }

    #[test]
    fn what_is_long_is_cut_and_costs_no_more_than_that() {
        let long = of(json!({"text": "x".repeat(1 << 20)}));
        assert_eq!(long.len(), MAX_ARGUMENT_BYTES);
        let many: Vec<_> = (0..1_000_000).collect();
        assert!(of(json!({"numbers": many})).len() <= MAX_ARGUMENT_BYTES);
        // The end of a secret that is cut off tells nothing of its beginning.
        let late = format!("{} password={}", "x".repeat(MAX_ARGUMENT_BYTES - 30), "s3cr3t".repeat(100));
        assert!(!of(json!({"text": late})).contains("s3cr3t"));
    }

    #[test]
    fn a_line_has_no_line_break_of_an_argument() {
        assert_eq!(of(json!({"text": "a\nb\u{202e}"})), r#"{"text":"a\nb"}"#);
    }
}
