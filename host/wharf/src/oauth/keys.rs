//! The keys of an issuer: fetched when a token first needs one, kept for an hour, and
//! fetched again for a key that is not known, since issuers change theirs.
//!
//! Strangers can name any key, so how often that is done does not depend on them.

use std::{
    io::Read as _,
    sync::{PoisonError, RwLock, RwLockReadGuard},
    time::Duration,
};

use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{Jwk, KeyOperations, PublicKeyUse},
};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::{sync::Mutex, time::Instant};
use url::Url;
use wharf_core::text::with_causes;
use wharf_mcp::http::TokenRefused;

use crate::fetch;

/// How long keys are believed.
const KEPT: Duration = Duration::from_secs(3_600);
/// How long after they were asked for they are asked for again, at the soonest.
const PAUSE: Duration = Duration::from_secs(30);
/// How long the issuer may take for one document.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a document may have; the largest issuers have some tens of kilobytes.
const MOST_BYTES: u64 = 1 << 20;

/// The keys of one issuer.
#[derive(Debug)]
pub(super) struct Keys {
    issuer: String,
    address: Option<Url>,
    // Apart from what is waited for while keys are fetched, so that a stranger who names
    // an unknown key never makes the bearer of a known one wait.
    known: RwLock<Known>,
    /// When they were last asked for. Whoever needs keys that are being fetched waits here.
    asked: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Known {
    keys: Vec<Jwk>,
    /// When these came.
    fetched: Option<Instant>,
}

/// What an issuer says of itself (RFC 8414, or OpenID Connect Discovery).
#[derive(Deserialize)]
struct Description {
    issuer: String,
    jwks_uri: String,
}

impl Keys {
    pub(super) fn new(issuer: String, address: Option<Url>) -> Self {
        Self { issuer, address, known: RwLock::default(), asked: Mutex::default() }
    }

    /// The key of this name for this algorithm. A token that names none may be by the
    /// only key that there is.
    pub(super) async fn find(&self, name: Option<&str>, algorithm: Algorithm) -> Result<DecodingKey, TokenRefused> {
        if let Some(key) = self.fresh(name, algorithm) {
            return Ok(key);
        }
        let mut asked = self.asked.lock().await;
        // They may have come while this waited.
        if let Some(key) = self.fresh(name, algorithm) {
            return Ok(key);
        }
        let mut is_away = false;
        if asked.is_none_or(|at| at.elapsed() > PAUSE) {
            *asked = Some(Instant::now());
            is_away = !self.fetch().await;
        }
        let known = self.known();
        match known.find(name, algorithm) {
            // Old ones are worth more than none while the issuer is away.
            Some(key) => Ok(key),
            None if is_away || known.fetched.is_none() => Err(TokenRefused::Unavailable),
            None => Err(TokenRefused::Invalid("its issuer has no such key".to_owned())),
        }
    }

    /// A key that is known and not old.
    fn fresh(&self, name: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let known = self.known();
        known.fetched.filter(|at| at.elapsed() <= KEPT)?;
        known.find(name, algorithm)
    }

    /// Whether the issuer answered.
    async fn fetch(&self) -> bool {
        let (issuer, address) = (self.issuer.clone(), self.address.clone());
        let fetching = tokio::task::spawn_blocking(move || fetch_keys(&issuer, address.as_ref()));
        match fetching.await.unwrap_or_else(|_| Err("the thread ended".to_owned())) {
            Ok(keys) => {
                let came = Known { keys, fetched: Some(Instant::now()) };
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = came;
                true
            }
            Err(problem) => {
                tracing::warn!(issuer = self.issuer, "the keys of the issuer cannot be had: {problem}");
                false
            }
        }
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn find(&self, name: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let mut fitting = self.keys.iter().filter(|key| fits(key, algorithm));
        let key = match name {
            Some(name) => fitting.find(|key| key.common.key_id.as_deref() == Some(name))?,
            None => fitting.next().filter(|_| fitting.next().is_none())?,
        };
        DecodingKey::from_jwk(key).ok().filter(|key| key.family() == algorithm.family())
    }
}

/// Whether this key is there to check this algorithm.
fn fits(key: &Jwk, algorithm: Algorithm) -> bool {
    let common = &key.common;
    common.key_algorithm.is_none_or(|named| named.to_string() == format!("{algorithm:?}"))
        && common.public_key_use.as_ref().is_none_or(|purpose| *purpose == PublicKeyUse::Signature)
        && common.key_operations.as_ref().is_none_or(|operations| operations.contains(&KeyOperations::Verify))
}

fn fetch_keys(issuer: &str, address: Option<&Url>) -> Result<Vec<Jwk>, String> {
    let address = match address {
        Some(address) => address.clone(),
        None => discover(issuer)?,
    };
    // Keys of kinds that nobody here knows do not keep the others from counting.
    #[derive(Deserialize)]
    struct Set {
        keys: Vec<serde_json::Value>,
    }
    let Set { keys } = document(&address)?;
    Ok(keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect())
}

/// Where the issuer says that its keys are.
fn discover(issuer: &str) -> Result<Url, String> {
    let base = Url::parse(issuer).map_err(|error| error.to_string())?;
    let path = base.path().trim_end_matches('/');
    // RFC 8414, section 3.1, and OpenID Connect Discovery, section 4.
    let places =
        [format!("/.well-known/oauth-authorization-server{path}"), format!("{path}/.well-known/openid-configuration")];
    let mut problem = String::new();
    for place in places {
        let mut address = base.clone();
        address.set_path(&place);
        match document::<Description>(&address) {
            Ok(description) if description.issuer != issuer => {
                problem = format!("{address} is of the issuer {}", wharf_core::text::line(&description.issuer, 200));
            }
            Ok(Description { jwks_uri, .. }) => match Url::parse(&jwks_uri) {
                Ok(keys) if is_protected(&keys) => return Ok(keys),
                _ => problem = format!("{address} names no place of keys that nobody on the way could change"),
            },
            Err(error) => problem = error,
        }
    }
    Err(problem)
}

/// Whether nobody on the way can change what comes from there.
pub(crate) fn is_protected(address: &Url) -> bool {
    address.scheme() == "https" || (address.scheme() == "http" && fetch::is_loopback(address))
}

fn document<T: DeserializeOwned>(address: &Url) -> Result<T, String> {
    let response = fetch::agent(address, PATIENCE).get(address.as_str()).call();
    let response = response.map_err(|error| format!("{address}: {}", with_causes(&error)))?;
    if response.status() != 200 {
        return Err(format!("{address} answers {}", response.status()));
    }
    let mut bytes = Vec::new();
    let mut body = response.into_body().into_reader().take(MOST_BYTES + 1);
    body.read_to_end(&mut bytes).map_err(|error| format!("{address}: {error}"))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("{address} has more than {MOST_BYTES} bytes"));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("{address}: {error}"))
}
