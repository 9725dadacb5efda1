//! What tells the settings of all hosts from those that they were before.

use toml::{Table, Value};
use wharf_core::Digest;

/// Names settings that all hosts of a cluster have. Tokens hold at once, and so the name is the same
/// without them.
pub(super) fn name_of_settings(mut settings: Table) -> Digest {
    if let Some(Value::Table(http)) = settings.get_mut("http") {
        http.remove("tokens");
        if http.is_empty() {
            settings.remove("http");
        }
    }
    // A table that was read can be written.
    Digest::of(toml::to_string(&settings).unwrap_or_default().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_makes_other_settings_and_a_token_does_not() {
        let name = |text: &str| name_of_settings(text.parse().expect("TOML"));
        let token = "[[http.tokens]]\nname = \"a\"\ndigest = \"d\"\n";
        assert_eq!(name(token), name(""));
        assert_eq!(name(&format!("[http.limits]\nreaders = 7\n{token}")), name("[http.limits]\nreaders = 7\n"));
        assert_ne!(name("[http.limits]\nreaders = 7\n"), name("[http.limits]\nreaders = 8\n"));
        assert_ne!(name("profile = \"developer\"\n"), name(""));
    }
}
