//! `[http]`: who may call over HTTP, by which names, and how much.
//!
//! A token itself never stands here: a file or a variable holds it, or its
//! digest is enough.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::Deserialize;
use wharf_core::{
    HttpLimits, InvalidToken, TenantId, Token, grant::Expiry, service::ClientRights, tool::ToolSelection,
};

use super::{
    limits::WrittenLimits,
    oauth::{CertificateBinding, OAuthSettings, WrittenOAuth},
};
use crate::secret;

/// `[http]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenHttp {
    /// Limits of connections, requests and sessions.
    #[schemars(schema_with = "super::limits::of_http")]
    limits: WrittenLimits,
    /// Names by which clients may call the host beside those of the loopback.
    hosts: Vec<String>,
    /// Origins of pages that may call it from a browser.
    origins: Vec<String>,
    /// Who may call; the token of the data directory where there is none.
    tokens: Vec<WrittenToken>,
    /// What makes the connections private.
    tls: Option<TlsFiles>,
    /// An authorization server that issues tokens for this host.
    oauth: Option<WrittenOAuth>,
}

/// `[[http.tokens]]`, as it is written.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenToken {
    /// For the operator: 1 to 64 bytes of [A-Za-z0-9._-].
    name: String,
    /// The file that holds it.
    file: Option<PathBuf>,
    /// The variable of the environment that holds it.
    variable: Option<String>,
    /// Its digest: `wharf token new` prints it.
    digest: Option<String>,
    /// Until when it holds: a day, which it still holds in UTC, or a time with its zone; for ever where absent.
    expires: Option<Expiry>,
    /// On whose behalf its calls are; `local` where absent.
    tenant: Option<TenantId>,
    /// Patterns of the plugins whose tools, prompts and resources it sees; all where absent.
    plugins: Option<Vec<String>>,
    /// Patterns of the tools that it sees, by their listed names such as `planning__add_todo`; all where absent.
    tools: Option<Vec<String>>,
    /// Patterns of tools that it does not see.
    #[serde(default)]
    skip_tools: Vec<String>,
    /// Whether it may read `/metrics`, which is of all tenants; `plugins` may then be empty.
    #[serde(default)]
    metrics: bool,
    /// Lower than the limit of this name.
    requests_per_second: Option<u64>,
    /// Calls in flight; lower than the limit `calls_per_client`.
    calls: Option<u64>,
    /// Whether it may connect front ends, whose tools its whole tenant sees; `plugins` may then be empty.
    #[serde(default)]
    front_ends: bool,
    /// Whether it operates the host: sees and steers what it does for all tenants, and answers calls that wait for a
    /// person; `plugins` may then be empty. Not for an agent.
    #[serde(default)]
    operator: bool,
    /// Whether its client is a middleware that writes `__sessionId`, `__assistantId` and `__threadId` into arguments
    /// itself: they are then the context of a call.
    #[serde(default)]
    trusted_middleware: bool,
}

/// `[http]`, checked.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HttpSection {
    /// How much is served.
    pub limits: HttpLimits,
    /// Names by which clients may call the host beside those of the loopback.
    pub hosts: Vec<String>,
    /// Origins of pages that may call it from a browser.
    pub origins: Vec<String>,
    /// Who may call. Where there is none, the token of the data directory is
    /// the only one.
    pub tokens: Vec<TokenSettings>,
    /// What makes the connections private.
    pub tls: Option<TlsFiles>,
    /// The server that issues tokens beside the operator.
    pub oauth: Option<OAuthSettings>,
}

/// `[[http.tokens]]`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenSettings {
    /// For the operator.
    pub name: String,
    /// On whose behalf its calls are; `local` where absent.
    pub tenant: Option<TenantId>,
    /// Until when it holds, if not for ever.
    pub expires: Option<Expiry>,
    /// What it may do.
    pub rights: ClientRights,
    source: TokenSource,
    is_of_cluster: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum TokenSource {
    File(PathBuf),
    Variable(String),
    Digest(Token),
}

/// `[http.tls]`: files in PEM.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TlsFiles {
    /// The certificate, and those of the authorities between it and a root.
    pub certificate: PathBuf,
    /// Its private key. Refused where others may read it.
    pub key: PathBuf,
    /// The authorities of clients, with `certificate_bound_tokens` under [http.oauth]: a client that shows a certificate
    /// of another one gets no connection. Where absent, a client may have signed its certificate itself.
    pub client_authorities: Option<PathBuf>,
    /// Whether the key is taken although others may read it.
    #[serde(default)]
    pub allow_unprotected: bool,
    /// Whether clients are asked for a certificate.
    #[serde(skip)]
    pub asks_clients: bool,
}

const NO_TLS: &str = "[http.oauth] `certificate_bound_tokens` needs [http.tls]: a host sees the certificates of its \
                      clients only where TLS ends at the host itself";
const NOT_ASKED: &str = "[http.tls] `client_authorities` is of no use without `certificate_bound_tokens` under \
                         [http.oauth]: no client is asked for a certificate";

impl WrittenHttp {
    pub(super) fn check(self, base: &Path) -> Result<HttpSection, String> {
        let mut limits = HttpLimits::default();
        self.limits.apply("http.limits", |name, value| limits.set(name, value))?;
        let tokens = checked(self.tokens, base)?;
        let oauth = self.oauth.map(|oauth| oauth.check(base)).transpose()?;
        let asks_clients = oauth.as_ref().is_some_and(|oauth| oauth.certificate_binding != CertificateBinding::Refused);
        let tls = match self.tls {
            None if asks_clients => return Err(NO_TLS.to_owned()),
            Some(TlsFiles { client_authorities: Some(_), .. }) if !asks_clients => return Err(NOT_ASKED.to_owned()),
            tls => tls.map(|tls| TlsFiles {
                certificate: base.join(tls.certificate),
                key: base.join(tls.key),
                client_authorities: tls.client_authorities.map(|authorities| base.join(authorities)),
                asks_clients,
                ..tls
            }),
        };
        Ok(HttpSection { limits, hosts: self.hosts, origins: self.origins, tokens, tls, oauth })
    }
}

fn checked(tokens: Vec<WrittenToken>, base: &Path) -> Result<Vec<TokenSettings>, String> {
    let mut names = BTreeSet::new();
    let tokens = tokens.into_iter().map(|token| {
        let token = token.check(base)?;
        if names.insert(token.name.clone()) {
            return Ok(token);
        }
        Err(format!("[[http.tokens]] has two entries of the name {:?}; give each its own", token.name))
    });
    tokens.collect()
}

/// The tokens that all hosts of a cluster have.
pub(super) fn tokens_of_cluster(written: toml::Value) -> Result<Vec<TokenSettings>, String> {
    let written: Vec<WrittenToken> = written.try_into().map_err(|error: toml::de::Error| error.to_string())?;
    if let Some(token) = written.iter().find(|token| token.digest.is_none()) {
        return Err(format!(
            "[[http.tokens]] {:?} of all hosts needs a `digest`: a file or a variable is of one machine",
            token.name
        ));
    }
    let mut tokens = checked(written, Path::new("/"))?;
    tokens.iter_mut().for_each(|token| token.is_of_cluster = true);
    Ok(tokens)
}

impl WrittenToken {
    fn check(self, base: &Path) -> Result<TokenSettings, String> {
        let name = self.name;
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if !(1..=64).contains(&name.len()) || !name.bytes().all(legal) {
            return Err("[[http.tokens]] needs a `name` of 1 to 64 bytes of [A-Za-z0-9._-]".to_owned());
        }
        let told = |problem: &str| format!("[[http.tokens]] {name:?} {problem}");
        let source = match (self.file, self.variable, self.digest) {
            (Some(file), None, None) => TokenSource::File(base.join(file)),
            (None, Some(variable), None) if !variable.is_empty() => TokenSource::Variable(variable),
            (None, None, Some(digest)) => {
                TokenSource::Digest(Token::of_digest(&digest).map_err(|error| told(&error.to_string()))?)
            }
            _ => {
                return Err(told(
                    "needs one of `file`, `variable` (of the environment) and `digest`; `wharf token new` makes one",
                ));
            }
        };
        if self.plugins.as_ref().is_some_and(Vec::is_empty) && !self.metrics && !self.front_ends && !self.operator {
            return Err(told("may use nothing: `plugins` is empty; leave it out to allow all of them"));
        }
        if self.requests_per_second == Some(0) || self.calls == Some(0) {
            return Err(told("may do nothing: `requests_per_second` and `calls` are at least 1"));
        }
        let mut rights = ClientRights::tools_alone();
        rights.tools = ToolSelection::new(self.tools, self.skip_tools)
            .map_err(|error| told(&format!("selects no tools: {error}")))?;
        rights.plugins = self.plugins;
        (rights.requests_per_second, rights.calls) = (self.requests_per_second, self.calls);
        (rights.metrics, rights.front_ends) = (self.metrics, self.front_ends);
        rights.operator = self.operator;
        rights.trusted_middleware = self.trusted_middleware;
        Ok(TokenSettings { name, tenant: self.tenant, expires: self.expires, rights, source, is_of_cluster: false })
    }
}

impl TokenSettings {
    /// Whether it is one that all hosts of a cluster have.
    pub(super) fn is_of_cluster(&self) -> bool {
        self.is_of_cluster
    }

    /// The file that holds it, where one does.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.source {
            TokenSource::File(path) => Some(path),
            TokenSource::Variable(_) | TokenSource::Digest(_) => None,
        }
    }

    /// Whether it holds no more at this time: nobody is to be let in by it then.
    #[must_use]
    pub fn is_over(&self, now: SystemTime) -> bool {
        self.expires.as_ref().is_some_and(|expires| expires.is_over(now))
    }

    /// The token itself. `variable` finds a variable of the environment.
    ///
    /// # Errors
    /// Where its file or variable holds no token, in words for a person.
    pub fn token(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Token, TokenUnavailable> {
        let of = || self.name.clone();
        match &self.source {
            TokenSource::Digest(token) => Ok(token.clone()),
            TokenSource::File(path) => secret::read_token(path).map_err(|error| TokenUnavailable::File {
                token: of(),
                path: path.clone(),
                error,
            }),
            TokenSource::Variable(name) => variable(name)
                .ok_or_else(|| TokenUnavailable::NoVariable { token: of(), variable: name.clone() })
                .and_then(|text| {
                    Token::new(text.trim()).map_err(|error| TokenUnavailable::Variable {
                        token: of(),
                        variable: name.clone(),
                        error,
                    })
                }),
        }
    }

    /// The client that shows this token. `variable` finds a variable of the environment.
    ///
    /// # Errors
    /// As [`TokenSettings::token`].
    #[cfg(feature = "http")]
    pub fn client(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<wharf_http::HttpClient, TokenUnavailable> {
        let mut client = wharf_http::HttpClient::new(&self.name, self.token(variable)?);
        client.tenant.clone_from(&self.tenant);
        client.rights.clone_from(&self.rights);
        Ok(client)
    }
}

/// Why there is no token where `[[http.tokens]]` says that it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenUnavailable {
    /// Its file cannot be read, may be read by others, or holds none.
    #[error("[[http.tokens]] {token:?}: {path}: {error}{}", what_to_do(error))]
    File {
        /// The name of the token.
        token: String,
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The environment has no variable of this name.
    #[error(
        "[[http.tokens]] {token:?}: the variable {variable} is not set; set it for the host, or take the token out"
    )]
    NoVariable {
        /// The name of the token.
        token: String,
        /// The name of the variable.
        variable: String,
    },
    /// What the variable holds is no token.
    #[error("[[http.tokens]] {token:?}: the variable {variable}: {error}")]
    Variable {
        /// The name of the token.
        token: String,
        /// The name of the variable.
        variable: String,
        /// Why.
        error: InvalidToken,
    },
}

/// The rest of the errors say it themselves.
fn what_to_do(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; `wharf token new` makes a token and the entry for it",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Configuration, *};

    fn parse(text: &str) -> Result<Configuration, String> {
        Configuration::parse(text, Path::new("/etc/wharf")).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_token_is_what_its_file_variable_or_digest_says() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("token");
        let text = secret::make(&path).expect("made");
        let digest = Token::new(&text).expect("legal").digest();
        let written = format!(
            "[[http.tokens]]\nname = \"a\"\nfile = {path:?}\ntenant = \"t\"\nplugins = [\"plan*\"]\ncalls = 3\n\
             [[http.tokens]]\nname = \"b\"\nvariable = \"TOKEN\"\nrequests_per_second = 5\n\
             [[http.tokens]]\nname = \"c\"\ndigest = \"{digest}\"\nmetrics = true\nplugins = []"
        );
        let http = parse(&written).expect("parses").http;
        let clients: Vec<_> = http.tokens.iter().map(|token| token.client(|_| Some(text.to_string()))).collect();
        let clients: Vec<_> = clients.into_iter().map(|client| client.expect("usable")).collect();
        assert!(clients.iter().all(|client| client.token.digest() == digest));
        assert_eq!(clients[0].tenant.as_ref().map(TenantId::as_str), Some("t"));
        assert_eq!((clients[0].rights.calls, clients[1].rights.requests_per_second), (Some(3), Some(5)));
        assert_eq!(clients[0].rights.plugins.as_deref(), Some(&["plan*".to_owned()][..]));
        assert!(http.tokens[1].client(|_| None).expect_err("absent").to_string().contains("TOKEN is not set"));
        assert!(http.tokens[1].client(|_| Some("short".into())).expect_err("none").to_string().contains("16 to 1024"));
        assert_eq!(clients.iter().map(|client| client.rights.metrics).collect::<Vec<_>>(), [false, false, true]);
        std::fs::remove_file(&path).expect("removed");
        assert!(http.tokens[0].client(|_| None).expect_err("gone").to_string().contains("token"));
    }

    #[test]
    fn a_mistake_is_named_with_what_to_do() {
        for (text, word) in [
            ("[http.limits]\nreader = 1", "reader"),
            ("[[http.tokens]]\nname = \"a\"", "wharf token new"),
            ("[[http.tokens]]\nname = \"a\"\ntoken = \"secret\"", "token"),
            ("[[http.tokens]]\nname = \"a\"\nfile = \"f\"\nvariable = \"V\"", "one of"),
            ("[[http.tokens]]\nname = \"a b\"\nfile = \"f\"", "name"),
            ("[[http.tokens]]\nname = \"a\"\ndigest = \"00\"", "64 hexadecimal digits"),
            ("[[http.tokens]]\nname = \"a\"\nfile = \"f\"\nplugins = []", "leave it out"),
            ("[[http.tokens]]\nname = \"a\"\nfile = \"f\"\ncalls = 0", "at least 1"),
            ("[[http.tokens]]\nname = \"a\"\nfile = \"f\"\n[[http.tokens]]\nname = \"a\"\nfile = \"g\"", "two entries"),
            ("[http.tls]\ncertificate = \"c\"", "key"),
        ] {
            let problem = parse(text).expect_err(text);
            assert!(problem.contains(word), "{text}: {problem}");
        }
        let http = parse("[http.tls]\ncertificate = \"c.pem\"\nkey = \"/k.pem\"").expect("parses").http;
        let tls = http.tls.expect("written");
        assert_eq!((tls.certificate, tls.key), ("/etc/wharf/c.pem".into(), "/k.pem".into()));
    }
}
