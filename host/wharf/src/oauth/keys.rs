//! The keys of an issuer: fetched when a token first needs one, kept for an hour, and
//! fetched again for a key that is not known, since issuers change theirs.
//!
//! They are fetched on the side. A token by a known key waits for nothing but the first
//! answer after an hour, and not even for that where the issuer is known to be away. An issuer
//! that stays away for a day has its tokens refused: nobody knows then which keys are withdrawn.
//! Strangers can name any key, so how often keys are fetched does not depend on them, and
//! waiting for one that is not known has an end.

use std::{sync::Arc, time::Duration};

use jsonwebtoken::{
    Algorithm,
    jwk::{Jwk, KeyOperations, PublicKeyUse},
};
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
use serde::Deserialize;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};
use url::Url;
use wharf_http::TokenRefused;

use super::{discovery, signature::VerificationKey};

/// How long keys are believed.
const KEPT: Duration = Duration::from_secs(3_600);
/// How long keys are believed of an issuer that is away. An outage of a night or of a holiday
/// locks nobody out, and who keeps the issuer away keeps no withdrawn key alive for longer.
const UNCONFIRMED: Duration = Duration::from_secs(24 * 3_600);
/// From this age on they are fetched again, on the side.
const RENEWED: Duration = Duration::from_secs(1_800);
/// How long after they were asked for they are asked for again, at the soonest.
const PAUSE: Duration = Duration::from_secs(30);
/// How long a token waits for keys, from when they were asked for: less than a connection
/// may take until a token was shown.
const WAIT: Duration = Duration::from_secs(4);
/// ...and how long in any case, where they were asked for a moment ago.
const GLANCE: Duration = Duration::from_millis(250);

/// The keys of one issuer.
#[derive(Debug)]
pub(super) struct IssuerKeys(Arc<Issuer>);

#[derive(Debug)]
struct Issuer {
    name: String,
    address: Option<Url>,
    // Both are blocking locks, held for a look-up.
    known: RwLock<KnownKeys>,
    asking: Mutex<KeyRequest>,
}

#[derive(Debug, Default)]
struct KnownKeys {
    keys: Vec<Jwk>,
    /// When these came.
    fetched: Option<Instant>,
}

/// The last time that they were asked for.
#[derive(Debug, Default)]
struct KeyRequest {
    began: Option<Instant>,
    /// Fires when it is over; none where it is.
    over: Option<watch::Receiver<()>>,
    /// The issuer did not answer.
    failed: bool,
}

impl IssuerKeys {
    pub(super) fn new(issuer: String, address: Option<Url>) -> Self {
        let (known, asking) = (RwLock::default(), Mutex::default());
        Self(Arc::new(Issuer { name: issuer, address, known, asking }))
    }

    /// The key of this name for this algorithm. A token that names none may be by the
    /// only key that there is.
    pub(super) async fn find(&self, name: Option<&str>, algorithm: Algorithm) -> Result<VerificationKey, TokenRefused> {
        let (key, age) = {
            let known = self.0.known();
            (known.find(name, algorithm), known.fetched.map(|at| at.elapsed()))
        };
        if let (Some(key), Some(age)) = (&key, age)
            && age <= KEPT
        {
            if age > RENEWED {
                self.ask();
            }
            return Ok(key.clone());
        }
        let over = self.ask();
        let is_too_old = |age: Option<Duration>| age.is_none_or(|age| age > UNCONFIRMED);
        if let Some(key) = key.filter(|_| !is_too_old(age) && self.0.asking().is_away()) {
            // Old ones are worth more than none while the issuer is away.
            return Ok(key);
        }
        if let Some((mut over, until)) = over {
            // An error means that the task that asks has ended.
            let _ = timeout_at(until, over.changed()).await;
        }
        let known = self.0.known();
        let age = known.fetched.map(|at| at.elapsed());
        let is_current = age.is_some_and(|age| age <= KEPT);
        match known.find(name, algorithm) {
            Some(_) if is_too_old(age) => Err(TokenRefused::Unconfirmed),
            Some(key) => Ok(key),
            None if is_current && !self.0.asking().is_open() => {
                Err(TokenRefused::Invalid("its issuer has no such key".to_owned()))
            }
            None => Err(TokenRefused::Unavailable),
        }
    }

    /// Has the issuer asked, unless that was done a moment ago. Returns what tells the end
    /// of that, and until when it is worth waiting for, where it is still being done.
    fn ask(&self) -> Option<(watch::Receiver<()>, Instant)> {
        let mut asking = self.0.asking();
        let began = asking.began.filter(|at| at.elapsed() <= PAUSE || asking.over.is_some());
        if let Some(began) = began {
            let until = (began + WAIT).max(Instant::now() + GLANCE);
            return asking.over.clone().map(|over| (over, until));
        }
        let began = Instant::now();
        let (done, over) = watch::channel(());
        (asking.began, asking.over) = (Some(began), Some(over.clone()));
        drop(asking);
        // The caller may go away; the answer of the issuer counts all the same.
        tokio::spawn(Arc::clone(&self.0).fetch(done));
        Some((over, began + WAIT))
    }
}

impl KeyRequest {
    /// Whether the issuer has not said yet, or not at all, which keys there are.
    fn is_open(&self) -> bool {
        self.over.is_some() || self.failed
    }

    /// Whether the issuer did not answer the last time, or hangs.
    fn is_away(&self) -> bool {
        self.failed || (self.over.is_some() && self.began.is_some_and(|began| began.elapsed() > PAUSE))
    }
}

impl Issuer {
    async fn fetch(self: Arc<Self>, done: watch::Sender<()>) {
        let (issuer, address) = (self.name.clone(), self.address.clone());
        let fetching = tokio::task::spawn_blocking(move || fetch_keys(&issuer, address.as_ref()));
        let fetched = fetching.await.unwrap_or_else(|_| Err("the thread ended".to_owned()));
        let failed = fetched.is_err();
        match fetched {
            Ok(keys) => {
                let came = KnownKeys { keys, fetched: Some(Instant::now()) };
                *self.known.write() = came;
            }
            Err(problem) => {
                tracing::warn!(issuer = self.name, "the keys of the issuer cannot be had: {problem}");
            }
        }
        let mut asking = self.asking();
        (asking.over, asking.failed) = (None, failed);
        drop(asking);
        drop(done);
    }

    fn known(&self) -> RwLockReadGuard<'_, KnownKeys> {
        self.known.read()
    }

    fn asking(&self) -> MutexGuard<'_, KeyRequest> {
        self.asking.lock()
    }
}

impl KnownKeys {
    fn find(&self, name: Option<&str>, algorithm: Algorithm) -> Option<VerificationKey> {
        let mut fitting = self.keys.iter().filter(|key| fits(key, algorithm));
        let key = match name {
            Some(name) => fitting.find(|key| key.common.key_id.as_deref() == Some(name))?,
            None => fitting.next().filter(|_| fitting.next().is_none())?,
        };
        VerificationKey::new(key).filter(|key| key.is_of(algorithm))
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
        None => discovery::place_of(issuer, "jwks_uri")?,
    };
    // Keys of kinds that nobody here knows do not keep the others from counting.
    #[derive(Deserialize)]
    struct KeySet {
        keys: Vec<serde_json::Value>,
    }
    let KeySet { keys } = discovery::document(&address)?;
    Ok(keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect())
}
