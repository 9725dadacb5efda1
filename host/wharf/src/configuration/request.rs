//! `[request]`, which bounds the HTTP requests of plugins, and
//! `[plugin.NAME.secrets]`: what the host adds to them, and where it has it from.
//!
//! A secret's text never stands in the configuration. It is read when its plugin is
//! loaded.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use url::Url;
use wharf_core::{Grants, PluginName, RequestLimits, RequestPattern, Secret, Secrets, request::SecretRule};
use wharf_sources::is_protected;

use super::{
    limits::{self, WrittenLimits},
    secret_source::{MissingSecret, SecretSource, SecretUnavailable, WrittenSource, read_text},
};

/// `[request]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenRequest {
    /// Limits of each request, and of all.
    #[schemars(schema_with = "limits::of_requests")]
    limits: WrittenLimits,
}

impl WrittenRequest {
    pub(super) fn check(&self) -> Result<RequestLimits, String> {
        let mut limits = RequestLimits::default();
        self.limits.apply("request.limits", |name, value| limits.set(name, value))?;
        Ok(limits)
    }
}

/// `[plugin.NAME.secrets.SECRET]`, as it is written.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenSecret {
    /// The variable of the host's environment that has it.
    environment: Option<String>,
    /// The file that has it, and nothing else.
    file: Option<PathBuf>,
    /// The credential of the host's systemd unit that has it, by its name under `LoadCredential=` or
    /// `LoadCredentialEncrypted=`.
    credential: Option<String>,
    /// The program that prints it, by its whole path, and its arguments; no shell is involved.
    command: Option<Vec<String>>,
    /// The key of the kernel's keyrings that has it, on Linux: `user:` and its description.
    keyring: Option<String>,
    /// The requests that it is added to, of one server: `* https://api.example.com`.
    to: RequestPattern,
    /// The header that has it, with `{}` where it goes: `Authorization: Bearer {}`.
    header: String,
    /// Whether it may go over `http:` to another machine, where everybody on the way reads
    /// it, and come from a file that others may read or a program that others may change.
    #[serde(default)]
    allow_unprotected: bool,
}

/// A secret of a plugin: where it goes, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretSettings {
    /// Where it goes.
    pub rule: SecretRule,
    /// Where it comes from.
    pub from: SecretSource,
    /// Whether it may come from a file that others may read, or from a program that others may change.
    pub allow_unprotected: bool,
}

/// Checks what is written of the secrets of a plugin.
pub(super) fn secrets(
    plugin: &PluginName,
    written: BTreeMap<String, WrittenSecret>,
    base: &Path,
) -> Result<Vec<SecretSettings>, String> {
    let mut secrets: Vec<SecretSettings> = Vec::new();
    for (name, written) in written {
        let WrittenSecret { environment, file, credential, command, keyring, to, header, allow_unprotected } = written;
        let from = WrittenSource { environment, file, credential, command, keyring };
        let table = format!("[plugin.{plugin}.secrets.{name}]");
        // The HTTP client of plugins takes no name for this machine to another one.
        let is_near = |server: &Url| server.domain().is_some_and(wharf_network::is_localhost);
        let unprotected = Url::parse(to.origin()).is_ok_and(|server| !is_protected(&server) && !is_near(&server));
        if unprotected && !allow_unprotected {
            return Err(format!(
                "{table} could be read on its way to {}: begin `to` with an address of `https:`, name one of the \
                 loopback such as 127.0.0.1, or say `allow_unprotected = true`",
                to.origin()
            ));
        }
        let rule = SecretRule::new(&name, to, &header).map_err(|error| format!("{table} {error}"))?;
        let from = from.check(&table, base)?;
        let same = |other: &SecretSettings| {
            other.rule.header() == rule.header() && other.rule.to().as_str() == rule.to().as_str()
        };
        if let Some(other) = secrets.iter().find(|other| same(other)) {
            let other = other.rule.name();
            return Err(format!("{table} fills the header that `{other}` fills, of the same requests; keep one"));
        }
        secrets.push(SecretSettings { rule, from, allow_unprotected });
    }
    Ok(secrets)
}

/// Reads the secrets of a plugin.
///
/// # Errors
/// Which one cannot be had and why; never what it is.
pub(crate) fn read_secrets(plugin: &PluginName, secrets: &[SecretSettings]) -> Result<Secrets, SecretUnavailable> {
    let read = secrets
        .iter()
        .map(|secret| read(secret).map_err(|problem| SecretUnavailable::new(of_plugin(plugin, secret), problem)));
    Ok(Secrets::new(read.collect::<Result<_, _>>()?))
}

/// Whether the secrets of a plugin could be read, as far as that can be said without running a program.
///
/// # Errors
/// Which one cannot be had and why; never what it is.
pub(crate) fn look_at_secret(plugin: &PluginName, secret: &SecretSettings) -> Result<(), SecretUnavailable> {
    look_at(secret, || of_plugin(plugin, secret))
}

/// The same of the secret of a header of the collector.
///
/// # Errors
/// Why it cannot be had; never what it is.
pub(crate) fn look_at_header(secret: &SecretSettings) -> Result<(), SecretUnavailable> {
    look_at(secret, || of_header(secret))
}

/// Reads the secret of a header of the collector.
///
/// # Errors
/// Why it cannot be had; never what it is.
pub(crate) fn read_header(secret: &SecretSettings) -> Result<Secret, SecretUnavailable> {
    read(secret).map_err(|problem| SecretUnavailable::new(of_header(secret), problem))
}

fn of_plugin(plugin: &PluginName, secret: &SecretSettings) -> String {
    format!("plugin.{plugin}.secrets.{}", secret.rule.name())
}

fn of_header(secret: &SecretSettings) -> String {
    format!("traces.headers.{}", secret.rule.name())
}

fn look_at(secret: &SecretSettings, table: impl Fn() -> String) -> Result<(), SecretUnavailable> {
    let looked = match &secret.from {
        SecretSource::Command(command) => command.check(secret.allow_unprotected).map_err(MissingSecret::from),
        _ => read(secret).map(drop),
    };
    looked.map_err(|problem| SecretUnavailable::new(table(), problem))
}

fn read(secret: &SecretSettings) -> Result<Secret, MissingSecret> {
    let (text, from) = read_text(&secret.from, secret.allow_unprotected)?;
    secret.rule.with_text(&text).map_err(|error| MissingSecret::Unfit(from, error))
}

/// Checks what a grant names.
pub(super) fn check_grant(name: &PluginName, grants: &Grants) -> Result<(), String> {
    match &grants.http {
        Some(grant) if grant.requests.is_empty() => Err(format!(
            "[plugin.{name}.grants.http] grants no request: name some in `requests`, as in \
             [\"GET https://api.example.com/v1/*\"]"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Configuration, *};

    fn parse(text: &str) -> Result<Configuration, String> {
        Configuration::parse(text, Path::new("/etc/wharf")).map_err(|problem| problem.to_string())
    }

    fn with_secret(lines: &str) -> String {
        format!("[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.secrets.token]\n{lines}")
    }

    const TO: &str = "to = \"* https://api.example.com\"\nheader = \"Authorization: Bearer {}\"\n";

    fn plugin() -> PluginName {
        "x".parse().expect("legal")
    }

    #[test]
    fn what_is_written_of_requests_and_secrets_is_read() {
        let text = "[request.limits]\nper_call = 3\n[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.grants.http]\n\
                    reason = \"r\"\nrequests = [\"GET,POST https://api.example.com/v1/*\"]\n";
        let configuration = parse(text).expect("parses");
        assert_eq!(configuration.request_limits.per_call, 3);
        let grants = configuration.plugins[&plugin()].grants.as_ref().expect("written");
        assert_eq!(
            grants.http.as_ref().expect("granted").requests[0].as_str(),
            "GET,POST https://api.example.com/v1/*"
        );
        let configuration = parse(&with_secret(&format!("{TO}file = \"token\""))).expect("parses");
        let from = &configuration.plugins[&plugin()].secrets[0].from;
        assert_eq!(*from, SecretSource::File("/etc/wharf/token".into()));
    }

    #[test]
    fn a_mistake_about_requests_or_secrets_is_named_with_its_table() {
        let grant =
            |lines: &str| format!("[plugin.x]\nsource = \"x.wasm\"\n[plugin.x.grants.http]\nreason = \"r\"\n{lines}");
        for (text, word) in [
            ("[request.limits]\nper_call = 0".to_owned(), "per_call"),
            ("[request]\nlimit = 1".to_owned(), "limit"),
            (grant(""), "[plugin.x.grants.http] grants no request"),
            (grant("requests = [\"get https://example.com\"]"), "GET https://api.example.com/v1/*"),
            (grant("requests = [\"https://example.com\"]\nprivate = true"), "private"),
            (with_secret(TO), "[plugin.x.secrets.token] names where the secret is"),
            (
                with_secret(&format!("{TO}credential = \"../token\"")),
                "[plugin.x.secrets.token] names where the secret is",
            ),
            (with_secret(&format!("{TO}credential = \"\"")), "[plugin.x.secrets.token] names where the secret is"),
            (
                with_secret(&format!("{TO}file = \"a\"\nenvironment = \"A\"")),
                "`environment`, a variable of the host, `file`",
            ),
            (with_secret(&format!("{TO}text = \"hunter2\"")), "text"),
            (with_secret("environment = \"A\"\nto = \"* https://*.a.b\"\nheader = \"A: {}\""), "one server"),
            (with_secret("environment = \"A\"\nto = \"* https://a.b\"\nheader = \"Host: {}\""), "`host`"),
            (
                with_secret(&format!("{TO}file = \"a\"\n[plugin.x.secrets.two]\n{TO}file = \"b\"")),
                "[plugin.x.secrets.two] fills the header that `token` fills",
            ),
            (format!("[plugin.host.secrets.token]\n{TO}file = \"a\""), "nothing but `grants`"),
        ] {
            let problem = parse(&text).expect_err(&text);
            assert!(problem.contains(word), "{text}: {problem}");
        }
    }

    fn write_private(file: &Path, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(file, text).expect("written");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).expect("changed");
    }

    #[test]
    fn a_secret_that_others_could_read_is_refused_unless_the_operator_says_so() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("token");
        write_private(&file, "hunter2hunter2\n");
        let read = |lines: &str| {
            let configuration = Configuration::parse(&with_secret(lines), directory.path()).expect("parses");
            read_secrets(&plugin(), &configuration.plugins[&plugin()].secrets)
                .map(drop)
                .map_err(|error| error.to_string())
        };
        let of_file = format!("{TO}file = \"token\"\n");
        assert_eq!(read(&of_file), Ok(()));
        for mode in [0o640, 0o604] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("changed");
            let problem = read(&of_file).expect_err("open to others");
            assert!(problem.contains("[plugin.x.secrets.token] others may read it"), "{problem}");
            assert!(problem.contains("chmod 600") && problem.contains("allow_unprotected = true"), "{problem}");
            assert_eq!(read(&format!("{of_file}allow_unprotected = true")), Ok(()));
        }
        for (server, refused) in [
            ("http://api.example.com", true),
            ("http://192.168.0.7:8080/v1/*", true),
            ("http://127.0.0.1:8080", false),
            ("http://localhost", false),
            ("https://api.example.com", false),
        ] {
            let lines = format!("environment = \"A\"\nto = \"* {server}\"\nheader = \"X-Key: {{}}\"\n");
            let problem = parse(&with_secret(&lines)).err();
            assert_eq!(problem.is_some(), refused, "{server}: {problem:?}");
            if let Some(problem) = problem {
                assert!(problem.contains("[plugin.x.secrets.token]") && problem.contains("`https:`"), "{problem}");
                parse(&with_secret(&format!("{lines}allow_unprotected = true"))).expect("the operator says so");
            }
        }
    }

    #[test]
    fn a_secret_that_is_empty_or_not_there_is_an_error_that_names_it_and_shows_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("token");
        let configuration = Configuration::parse(&with_secret(&format!("{TO}file = \"token\"")), directory.path());
        let secrets = configuration.expect("parses").plugins[&plugin()].secrets.clone();
        let problem = || read_secrets(&plugin(), &secrets).expect_err("refused").to_string();
        assert!(problem().contains("[plugin.x.secrets.token] cannot read"), "{}", problem());
        for (text, word) in [("\n", "empty"), ("short", "fewer than"), ("hunter2\nhunter2", "one line")] {
            write_private(&file, text);
            assert!(problem().contains(word) && !problem().contains("hunter2"), "{}", problem());
        }
        write_private(&file, "hunter2hunter2\n");
        let read = read_secrets(&plugin(), &secrets).expect("read");
        assert_eq!(read.iter().next().expect("one").text().reveal(), "hunter2hunter2");
        let unset = with_secret(&format!("{TO}environment = \"WHARF_TEST_THAT_NOBODY_SETS\""));
        let secrets = parse(&unset).expect("parses").plugins[&plugin()].secrets.clone();
        let problem = read_secrets(&plugin(), &secrets).expect_err("unset").to_string();
        assert!(problem.contains("no variable WHARF_TEST_THAT_NOBODY_SETS"), "{problem}");
    }
}
