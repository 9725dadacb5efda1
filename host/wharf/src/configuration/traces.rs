//! `[traces]`: where spans are sent, and how many of them.
//!
//! A secret of the collector never stands here: a file or a variable holds it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use url::Url;
use wharf_core::{RequestPattern, request::SecretRule, trace::Sampling};
use wharf_sources::is_protected;

use super::{request::SecretSettings, secret_source::WrittenSource};

/// The service that a collector knows hosts by, where nothing else is said.
const SERVICE: &str = "wharf";
const MAX_SERVICE_BYTES: usize = 128;

/// `[traces]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenTraces {
    /// Where an OpenTelemetry collector takes OTLP over HTTP, with the path, such as
    /// `http://127.0.0.1:4318/v1/traces`; nothing is sent where absent.
    endpoint: Option<String>,
    /// Which part of all requests is kept, from 0 to 1; all where absent.
    #[schemars(range(min = 0.0, max = 1.0))]
    ratio: Option<f64>,
    /// Whether a client that keeps its own trace has its requests kept here, whatever
    /// `ratio` says: only where all clients are the operator's own.
    trust_clients: bool,
    /// Whether spans may go over `http:` to another machine, where everybody on the way
    /// reads them and the headers, and a header's secret come from a file that others may
    /// read or a program that others may change.
    allow_unprotected: bool,
    /// The name by which the collector knows this host (`service.name`); `wharf` where
    /// absent.
    service: Option<String>,
    /// The page that shows a trace, with `{trace}` where its id goes, such as
    /// `https://jaeger.example/trace/{trace}`: the audit of the console leads there.
    page: Option<String>,
    /// Headers that the collector wants, by any name.
    headers: BTreeMap<String, WrittenHeader>,
}

/// `[traces.headers.NAME]`, as it is written.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenHeader {
    /// The variable of the host's environment that has the secret.
    environment: Option<String>,
    /// The file that has the secret, and nothing else.
    file: Option<PathBuf>,
    /// The credential of the host's systemd unit that has the secret, by its name under `LoadCredential=`.
    credential: Option<String>,
    /// The program that prints it, by its whole path, and its arguments; no shell is involved.
    command: Option<Vec<String>>,
    /// The key of the kernel's keyrings that has it, on Linux: `user:` and its description.
    keyring: Option<String>,
    /// The header, with `{}` where the secret goes: `Authorization: Bearer {}`.
    header: String,
}

/// `[traces]`, checked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TracesSettings {
    /// Where spans are sent; nowhere where absent.
    pub endpoint: Option<Url>,
    /// What is kept.
    pub sampling: Sampling,
    /// The name by which the collector knows this host.
    pub service: String,
    /// The page that shows a trace, with `{trace}` where its id goes.
    pub page: Option<String>,
    /// Headers with secrets that the collector wants.
    pub headers: Vec<SecretSettings>,
}

impl Default for TracesSettings {
    fn default() -> Self {
        Self {
            endpoint: None,
            sampling: Sampling::default(),
            service: SERVICE.to_owned(),
            page: None,
            headers: Vec::new(),
        }
    }
}

impl WrittenTraces {
    pub(super) fn check(self, base: &Path) -> Result<TracesSettings, String> {
        let endpoint = self.endpoint.as_deref().map(|text| endpoint(text, self.allow_unprotected)).transpose()?;
        let ratio = self.ratio.unwrap_or(1.0);
        if !(0.0..=1.0).contains(&ratio) {
            return Err(format!("[traces] `ratio` must be from 0 to 1, not {ratio}"));
        }
        let service = self.service.unwrap_or_else(|| SERVICE.to_owned());
        let visible = |byte: u8| (b' '..=b'~').contains(&byte);
        if !(1..=MAX_SERVICE_BYTES).contains(&service.len()) || !service.bytes().all(visible) {
            return Err(format!(
                "[traces] `service` must be 1 to {MAX_SERVICE_BYTES} bytes of visible ASCII characters"
            ));
        }
        let page = self.page.map(|page| checked_page(page, endpoint.is_some())).transpose()?;
        let headers = match &endpoint {
            None if self.headers.is_empty() => Vec::new(),
            None => return Err("[traces.headers] are for a collector: say where it is, in `endpoint`".to_owned()),
            Some(endpoint) => headers(self.headers, endpoint, (base, self.allow_unprotected))?,
        };
        let sampling = Sampling { ratio, trust_clients: self.trust_clients };
        Ok(TracesSettings { endpoint, sampling, service, page, headers })
    }
}

fn checked_page(page: String, is_sent: bool) -> Result<String, String> {
    let told = |problem: &str| Err(format!("[traces] `page` {problem}"));
    if !is_sent {
        return told("is for traces that are sent: say where a collector is, in `endpoint`");
    }
    if page.matches("{trace}").count() != 1 {
        return told("has `{trace}` once, where the id of a trace goes");
    }
    match Url::parse(&page.replace("{trace}", "0")) {
        Ok(address) if matches!(address.scheme(), "http" | "https") && address.host().is_some() => {}
        Ok(_) => return told("must begin with `https:` or `http:`"),
        Err(error) => return told(&format!("is no address: {error}")),
    }
    // The name of another machine is not the trace's to choose.
    match page.split("//").nth(1).and_then(|rest| rest.find('/').map(|end| rest[..end].contains("{trace}"))) {
        Some(false) => Ok(page),
        _ => told("has `{trace}` in its path or behind it"),
    }
}

fn endpoint(text: &str, allow_unprotected: bool) -> Result<Url, String> {
    let told = |problem: &str| Err(format!("[traces] `endpoint` {problem}"));
    let address = match Url::parse(text) {
        Ok(address) => address,
        Err(error) => return told(&format!("is no address: {error}")),
    };
    if !matches!(address.scheme(), "http" | "https") || address.host().is_none() {
        return told("must begin with `https:`, or with `http:` for this machine: spans are sent by OTLP over HTTP");
    }
    if !address.username().is_empty() || address.password().is_some() {
        return told("has a user or password in it; name the header that it goes to under [traces.headers]");
    }
    if address.fragment().is_some() {
        return told("has something behind its path");
    }
    if address.path() == "/" {
        return told("lacks the path; most collectors take spans at `/v1/traces`");
    }
    if !is_protected(&address) && !allow_unprotected {
        return told(
            "could be read on its way: begin it with `https:`, name an address of the loopback such as 127.0.0.1, or \
             say `allow_unprotected = true`",
        );
    }
    Ok(address)
}

fn headers(
    written: BTreeMap<String, WrittenHeader>,
    endpoint: &Url,
    (base, allow_unprotected): (&Path, bool),
) -> Result<Vec<SecretSettings>, String> {
    let mut headers: Vec<SecretSettings> = Vec::new();
    for (name, WrittenHeader { environment, file, credential, command, keyring, header }) in written {
        let from = WrittenSource { environment, file, credential, command, keyring };
        let table = format!("[traces.headers.{name}]");
        let to = format!("POST {}", endpoint.origin().ascii_serialization()).parse::<RequestPattern>();
        let to = to.map_err(|error| format!("{table} {error}"))?;
        let rule = SecretRule::new(&name, to, &header).map_err(|error| format!("{table} {error}"))?;
        if rule.header() == "content-type" {
            return Err(format!("{table} `header` may not be `content-type`, which the host sets itself"));
        }
        if let Some(other) = headers.iter().find(|other| other.rule.header() == rule.header()) {
            return Err(format!("{table} fills the header that `{}` fills; keep one", other.rule.name()));
        }
        let from = from.check(&table, base)?;
        headers.push(SecretSettings { rule, from, allow_unprotected });
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Configuration, SecretSource},
        *,
    };

    fn parse(lines: &str) -> Result<TracesSettings, String> {
        let parsed = Configuration::parse(&format!("[traces]\n{lines}"), Path::new("/etc/wharf"));
        parsed.map_err(|problem| problem.to_string()).map(|configuration| configuration.traces)
    }

    #[test]
    fn nothing_is_sent_unless_the_operator_names_a_collector() {
        assert_eq!(Configuration::parse("", Path::new("/")).expect("parses").traces, TracesSettings::default());
        assert_eq!(parse("ratio = 0.5").expect("parses").endpoint, None);
        let lines = "endpoint = \"http://127.0.0.1:4318/v1/traces\"\nratio = 0\ntrust_clients = true\nservice = \"s\"\n\
                     [traces.headers.token]\nfile = \"collector\"\nheader = \"Authorization: Bearer {}\"";
        let settings = parse(lines).expect("parses");
        assert_eq!(settings.endpoint.expect("said").as_str(), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(settings.sampling, Sampling { ratio: 0.0, trust_clients: true });
        assert_eq!(settings.headers[0].from, SecretSource::File("/etc/wharf/collector".into()));
        assert_eq!((settings.headers[0].rule.header(), &*settings.service), ("authorization", "s"));
    }

    #[test]
    fn spans_go_unprotected_to_this_machine_alone_unless_the_operator_says_otherwise() {
        for endpoint in ["http://collector:4318/v1/traces", "http://localhost/v1/traces", "http://10.0.0.1/v1/traces"] {
            let refused = parse(&format!("endpoint = {endpoint:?}")).expect_err(endpoint);
            assert!(refused.contains("allow_unprotected"), "{refused}");
            parse(&format!("endpoint = {endpoint:?}\nallow_unprotected = true")).expect(endpoint);
        }
        for endpoint in ["https://collector.example/v1/traces", "http://[::1]:4318/v1/traces"] {
            parse(&format!("endpoint = {endpoint:?}")).expect(endpoint);
        }
    }

    #[test]
    fn a_mistake_about_traces_is_named_with_what_to_do() {
        const AT: &str = "endpoint = \"https://c.example/v1/traces\"\n[traces.headers.a]\n";
        const HEADER: &str = "header = \"Authorization: Bearer {}\"\n";
        let page = |page: &str| format!("endpoint = \"https://c.example/v1/traces\"\npage = {page:?}");
        parse(&page("https://t.example/trace/{trace}?view=1")).expect("a page");
        for (lines, word) in [
            ("endpoints = 1".to_owned(), "endpoints"),
            ("ratio = 1.5".to_owned(), "from 0 to 1"),
            ("ratio = nan".to_owned(), "from 0 to 1"),
            ("service = \"\"".to_owned(), "`service`"),
            ("endpoint = \"127.0.0.1:4318\"".to_owned(), "no address"),
            ("page = \"https://t.example/{trace}\"".to_owned(), "`endpoint`"),
            (page("https://t.example/"), "`{trace}` once"),
            (page("https://t.example/{trace}/{trace}"), "`{trace}` once"),
            (page("javascript:{trace}"), "begin with `https:`"),
            (page("t.example/{trace}"), "no address"),
            (page("https://{trace}.example/"), "in its path"),
            (page("https://t.example:{trace}"), "in its path"),
            ("endpoint = \"grpc://127.0.0.1:4317/x\"".to_owned(), "OTLP over HTTP"),
            ("endpoint = \"http://127.0.0.1:4318\"".to_owned(), "`/v1/traces`"),
            ("endpoint = \"https://me:secret@c.example/v1/traces\"".to_owned(), "[traces.headers]"),
            ("[traces.headers.a]\nfile = \"f\"\nheader = \"A: {}\"".to_owned(), "`endpoint`"),
            (format!("{AT}{HEADER}"), "`environment`, a variable of the host, `file`"),
            (format!("{AT}{HEADER}file = \"f\"\nenvironment = \"E\""), "`environment`, a variable of the host, `file`"),
            (format!("{AT}{HEADER}text = \"hunter2\""), "text"),
            (format!("{AT}file = \"f\"\nheader = \"Content-Type: {{}}\""), "content-type"),
            (format!("{AT}file = \"f\"\nheader = \"Host: {{}}\""), "`host`"),
            (format!("{AT}{HEADER}file = \"f\"\n[traces.headers.b]\n{HEADER}file = \"g\""), "`a` fills"),
        ] {
            let problem = parse(&lines).expect_err(&lines);
            assert!(problem.contains(word), "{lines}: {problem}");
        }
    }
}
