//! Settings that all hosts of a cluster have, beside those of a host's own `wharf.toml`: limits, the
//! profile, tokens.

use std::path::Path;

use toml::{Table, Value};
#[cfg(feature = "postgres")]
use wharf_core::Digest;

use super::{
    document::{Configuration, Written},
    error::InvalidConfiguration,
    http::{self, TokenSettings},
    of_cluster::WrittenForAll,
    settings_name::name_of_settings,
};
use crate::added::AddedPlugins;

/// Tables and keys that may be set for all hosts, as a whole.
const WHOLE: [&str; 5] = ["ceilings", "context", "limits", "output_schemas", "profile"];
/// Tables of which the limits may be set for all hosts.
const LIMITS: [&str; 6] = ["host", "process", "request", "stream", "terminal", "webview"];
/// Keys of `[http]` that may be set for all hosts.
const HTTP: [&str; 5] = ["hosts", "limits", "oauth", "origins", "tokens"];

impl Configuration {
    /// The same with the settings that all hosts of the cluster have which it names, as the data
    /// directory has them; as it is where it names none. What its own text says goes before them.
    /// Most of them hold from the start of a host on, so this comes before the environment and the
    /// command line are applied, which go before both.
    ///
    /// # Errors
    /// Where they are not accepted. A data directory that cannot be read is said of whatever reads
    /// plugins from it.
    pub fn with_settings_of_cluster(&self, data: &Path) -> Result<Self, InvalidConfiguration> {
        match AddedPlugins::of(data).tables() {
            Ok(tables) if self.cluster.is_some() => {
                let settings = WrittenForAll::read(&tables)?.settings;
                let name = name_of_settings(settings.clone());
                let whole = self.merged(settings).map_err(|problem| InvalidConfiguration::Value { problem })?;
                Ok(Self { settings_of_cluster: name, ..whole })
            }
            _ => Ok(self.clone()),
        }
    }

    /// What the own text says, over these settings.
    pub(super) fn merged(&self, mut settings: Table) -> Result<Self, String> {
        check(&settings)?;
        let tokens = take_tokens(&mut settings)?;
        let mut merged = settings;
        put_over(&mut merged, &self.written.table);
        let written: Written = Value::Table(merged).try_into().map_err(|error: toml::de::Error| error.to_string())?;
        let mut whole = Self::checked(written, &self.written.base)?;
        whole.written = self.written.clone();
        whole.http.tokens = with_tokens(whole.http.tokens, tokens);
        Ok(whole)
    }
}

/// Names the settings that hold from the next start of a host on, of what all hosts of a cluster have.
#[cfg(feature = "postgres")]
pub(crate) fn settings_of(tables: &str) -> Result<Digest, InvalidConfiguration> {
    WrittenForAll::read(tables).map(|written| name_of_settings(written.settings))
}

/// Whether what all hosts of a cluster would have says more than of plugins.
#[cfg(feature = "postgres")]
pub(crate) fn has_settings(tables: &str) -> bool {
    WrittenForAll::read(tables).is_ok_and(|written| !written.settings.is_empty())
}

/// The tokens of a host, with those that all hosts have by now. One of the host's own goes before
/// one of the same name.
pub(super) fn with_tokens(mut tokens: Vec<TokenSettings>, of_cluster: Vec<TokenSettings>) -> Vec<TokenSettings> {
    tokens.retain(|token| !token.is_of_cluster());
    let others: Vec<_> =
        of_cluster.into_iter().filter(|other| !tokens.iter().any(|own| own.name == other.name)).collect();
    tokens.extend(others);
    tokens
}

/// What all hosts of a cluster have of one host alone is refused.
fn check(settings: &Table) -> Result<(), String> {
    for (name, value) in settings {
        if WHOLE.contains(&name.as_str()) {
            continue;
        }
        let keys: &[&str] = match name.as_str() {
            "http" => &HTTP,
            table if LIMITS.contains(&table) => &["limits"],
            _ => return Err(format!("[{name}] is for the wharf.toml of a host, and not for all hosts of a cluster")),
        };
        let Some(table) = value.as_table() else { return Err(format!("`{name}` is a table")) };
        if let Some(key) = table.keys().find(|key| !keys.contains(&key.as_str())) {
            let all = keys.join("`, `");
            return Err(format!(
                "[{name}] `{key}` is for the wharf.toml of a host: all hosts of a cluster may have `{all}` of it"
            ));
        }
    }
    Ok(())
}

fn take_tokens(settings: &mut Table) -> Result<Vec<TokenSettings>, String> {
    let tokens = settings.get_mut("http").and_then(Value::as_table_mut).and_then(|http| http.remove("tokens"));
    tokens.map_or_else(|| Ok(Vec::new()), http::tokens_of_cluster)
}

/// Writes what `over` says over what is there, key by key; lists are replaced.
fn put_over(table: &mut Table, over: &Table) {
    for (key, value) in over {
        match (table.get_mut(key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => put_over(under, over),
            _ => _ = table.insert(key.clone(), value.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn merged(own: &str, settings: &str) -> Result<Configuration, String> {
        let own = Configuration::parse(own, Path::new("/etc/wharf")).expect("usable");
        own.merged(settings.parse().expect("TOML"))
    }

    fn token(name: &str) -> String {
        format!("[[http.tokens]]\nname = \"{name}\"\ndigest = \"{DIGEST}\"\n")
    }

    #[test]
    fn what_a_host_says_itself_goes_before_what_all_hosts_have_key_by_key() {
        let all = "profile = \"developer\"\n[limits]\nwall_time_milliseconds = 7000\nargument_bytes = 5000\n\
                   [host.limits]\ncalls_in_flight = 9\n[http]\norigins = [\"https://a.example\"]\n[http.limits]\nreaders = 7\n";
        let whole = merged("data = \"/d\"\n[limits]\nwall_time_milliseconds = 8000\n", all).expect("usable");
        let limits = &whole.call_limits;
        assert_eq!((limits.wall_time_milliseconds, limits.argument_bytes), (8_000, 5_000));
        assert_eq!((whole.host_limits.calls_in_flight, whole.http.limits.readers), (9, 7));
        assert_eq!(whole.http.origins, ["https://a.example"]);
        assert_eq!((whole.profile, whole.data.as_deref()), (crate::Profile::Developer, Some(Path::new("/d"))));
        let own = merged("profile = \"default\"\n[http]\norigins = []\n", all).expect("usable");
        assert!(own.profile == crate::Profile::Default && own.http.origins.is_empty());
        // What they take back is gone: nothing of it stays in what the host says itself.
        let later = whole.merged(Table::new()).expect("usable");
        assert_eq!((later.call_limits.wall_time_milliseconds, later.profile), (8_000, crate::Profile::Default));
    }

    #[test]
    fn tokens_of_all_hosts_stand_beside_those_of_a_host() {
        let names = |configuration: &Configuration| -> Vec<_> {
            configuration.http.tokens.iter().map(|token| (token.name.clone(), token.is_of_cluster())).collect()
        };
        let whole = merged(&token("own"), &(token("all") + &token("own"))).expect("usable");
        assert_eq!(names(&whole), [("own".to_owned(), false), ("all".to_owned(), true)]);
        let later = with_tokens(whole.http.tokens.clone(), Vec::new());
        assert_eq!(later.len(), 1, "a token that all hosts have no more is gone here");
        let file = "[[http.tokens]]\nname = \"a\"\nfile = \"f\"\n";
        assert!(merged("", file).expect_err("of one machine").contains("digest"), "{file}");
        assert!(merged("", &(token("a") + &token("a"))).expect_err("twice").contains("two entries"));
    }

    #[test]
    fn what_is_of_one_host_is_no_setting_of_a_cluster() {
        for (settings, word) in [
            ("[state]\ndurability = \"power\"\n", "state"),
            ("data = \"/d\"\n", "data"),
            ("[cluster]\nname = \"x\"\n", "cluster"),
            ("[http.tls]\ncertificate = \"c\"\nkey = \"k\"\n", "tls"),
            ("[webview]\nbrowser = \"/bin/x\"\n", "browser"),
            ("[plugins]\nfolder = \"f\"\n", "plugins"),
            ("[host.limits]\nnothing = 1\n", "nothing"),
            ("[limits]\nwall_time_milliseconds = \"x\"\n", "wall_time"),
            ("host = 1\n", "table"),
        ] {
            let refused = merged("", settings).expect_err(settings);
            assert!(refused.contains(word), "{settings}: {refused}");
        }
    }
}
