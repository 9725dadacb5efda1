//! Logins for registries, as operators keep them already: `auths` in Docker's
//! `config.json`. Credential helpers are programs, and none is started.
//!
//! A login goes to the host that it is written for and to no other, whichever registry asks for it.

use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use directories::BaseDirs;
use serde::Deserialize;
use url::Url;
use wharf_core::text::for_shell;
use wharf_files::{private_files, regular_file};
use zeroize::{Zeroize, Zeroizing};

use super::error::OciError;

/// What the file may have.
const MOST_BYTES: u64 = 1 << 20;
/// Docker's registry, the server that gives out its tokens, and the names that its logins are written under.
const DOCKER: ([&str; 2], [&str; 2]) = (["index.docker.io", "auth.docker.io"], ["index.docker.io", "docker.io"]);

/// Where logins for registries are looked up, when a registry asks for one.
#[derive(Debug, Clone, Default)]
pub struct RegistryLogins {
    file: Option<PathBuf>,
}

/// A login as it is sent. Never shown.
pub(super) struct Login(Zeroizing<String>);

impl Login {
    /// The value of `Authorization`.
    pub(super) fn header(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Login(..)")
    }
}

#[derive(Deserialize)]
struct LoginsFile {
    #[serde(default)]
    auths: BTreeMap<String, LoginEntry>,
}

#[derive(Deserialize)]
struct LoginEntry {
    #[serde(default)]
    auth: String,
    #[serde(default)]
    username: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    identitytoken: String,
}

impl RegistryLogins {
    /// No logins: only what is public.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Those of a file of the form of Docker's `config.json`, which may not be there.
    #[must_use]
    pub fn in_file(path: &Path) -> Self {
        Self { file: Some(path.to_owned()) }
    }

    /// Those of `$DOCKER_CONFIG/config.json`, or of `~/.docker/config.json`.
    #[must_use]
    pub fn of_docker() -> Self {
        let named = std::env::var_os("DOCKER_CONFIG").filter(|named| !named.is_empty()).map(PathBuf::from);
        let directory = named.or_else(|| BaseDirs::new().map(|directories| directories.home_dir().join(".docker")));
        Self { file: directory.map(|directory| directory.join("config.json")) }
    }

    /// The login for what is at this address, where one is written for it.
    pub(super) fn find(&self, at: &Url) -> Result<Option<Login>, OciError> {
        let Some(path) = &self.file else { return Ok(None) };
        let read = || -> io::Result<_> {
            let file = regular_file::open(path)?;
            let is_private = private_files::is_private(&file.metadata()?);
            Ok((Zeroizing::new(regular_file::read_all(file, MOST_BYTES)?), is_private))
        };
        let (bytes, is_private) = match read() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|source| OciError::Logins { path: path.clone(), problem: source.to_string() })?,
        };
        let refused = |problem: &str| OciError::Logins { path: path.clone(), problem: problem.to_owned() };
        if bytes.len() as u64 > MOST_BYTES {
            return Err(refused("it is too long"));
        }
        // What a parser says of it might quote a secret.
        let LoginsFile { auths } =
            serde_json::from_slice(&bytes).map_err(|_| refused("it is not what Docker writes"))?;
        let Some((_, entry)) = auths.iter().find(|(key, _)| is_for(key, at)) else { return Ok(None) };
        let login = entry.login().map_err(refused)?;
        // The rule of every secret in a file. Docker makes this one private; without a login in it, it may be open.
        if login.is_some() && is_private == Some(false) {
            let shown = for_shell(&path.display().to_string());
            return Err(refused(&format!("others may read it; take that away with `chmod 600 {shown}`")));
        }
        Ok(login)
    }

    /// Where they would be.
    pub(super) fn place(&self) -> String {
        match &self.file {
            Some(path) => path.display().to_string(),
            None => "Docker's config.json".to_owned(),
        }
    }
}

impl Drop for LoginEntry {
    fn drop(&mut self) {
        [&mut self.auth, &mut self.password, &mut self.identitytoken].into_iter().for_each(Zeroize::zeroize);
    }
}

impl LoginEntry {
    /// Nothing where a credential helper has it.
    fn login(&self) -> Result<Option<Login>, &'static str> {
        let Self { auth, username, password, identitytoken } = self;
        if !identitytoken.is_empty() {
            return Err("it has an identity token for this registry; write a user and a password or access token");
        }
        let pair = Zeroizing::new(match (auth.is_empty(), username.is_empty()) {
            (false, _) => STANDARD.decode(auth.trim()).map_err(|_| "an `auth` in it is no base64")?,
            (true, false) => format!("{username}:{password}").into_bytes(),
            (true, true) => return Ok(None),
        });
        if !pair.contains(&b':') {
            return Err("an `auth` in it is no USER:PASSWORD");
        }
        let encoded = Zeroizing::new(STANDARD.encode(&*pair));
        Ok(Some(Login(Zeroizing::new(format!("Basic {}", *encoded)))))
    }
}

/// Whether what is written under this key is for this address: the same host and port. A
/// key with a path other than that of the API is for a part of a registry, and not taken
/// for the whole.
fn is_for(key: &str, at: &Url) -> bool {
    let key = key.split_once("://").map_or(key, |(_, key)| key);
    let (authority, path) = key.split_once('/').unwrap_or((key, ""));
    if !["", "v1", "v2"].contains(&path.trim_end_matches('/')) {
        return false;
    }
    let host = at.host_str().unwrap_or_default();
    if DOCKER.0.contains(&host) && at.port().is_none() && DOCKER.1.contains(&authority) {
        return true;
    }
    // Parsed as the address is, so that a default port counts as none.
    let named = Url::parse(&format!("{}://{authority}", at.scheme()));
    named.is_ok_and(|named| named.host_str() == Some(host) && named.port() == at.port())
}
