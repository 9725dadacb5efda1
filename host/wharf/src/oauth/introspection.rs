//! Asks the authorization server whether a token holds (RFC 7662): for tokens that say nothing themselves, and to hear of
//! ones that were revoked.
//!
//! What the server said counts for a few seconds. A flood of tokens that nobody knows reaches it by a few requests at a
//! time, and never pushes out what it said of others for longer than those seconds.

use std::{
    io::Read as _,
    sync::{Arc, OnceLock},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use quick_cache::sync::Cache;
use serde_json::{Map, Value};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};
use url::{Url, form_urlencoded};
use wharf_core::text::with_causes;
use wharf_http::TokenRefused;
use wharf_sources::agent;
use zeroize::Zeroizing;

use super::discovery;
use crate::configuration::IntrospectionSettings;

/// What the server said of so many tokens is remembered.
const MOST_ANSWERS: usize = 8_192;
/// Requests that wait for the server at once.
const AT_ONCE: usize = 16;
/// How long the server may take: less than a connection may take until a token was shown.
const PATIENCE: Duration = Duration::from_secs(4);

/// What an authorization server says of tokens.
#[derive(Debug)]
pub(super) struct Introspection {
    server: Arc<IntrospectionServer>,
    kept: Duration,
    /// By the digest of the token: the token itself is nobody's to remember.
    answers: Cache<[u8; blake3::OUT_LEN], KnownAnswer>,
    places: Semaphore,
}

#[derive(Debug)]
struct IntrospectionServer {
    issuer: String,
    settings: IntrospectionSettings,
    /// Where it is, once it has said so.
    address: OnceLock<Url>,
}

/// What the server said of a token, and until when that counts.
#[derive(Debug, Clone)]
struct KnownAnswer {
    /// None where the token does not hold.
    claims: Option<Arc<Map<String, Value>>>,
    until: Instant,
}

impl Introspection {
    pub(super) fn new(issuer: String, settings: IntrospectionSettings) -> Self {
        let (kept, address) = (settings.kept, OnceLock::new());
        Self {
            server: Arc::new(IntrospectionServer { issuer, settings, address }),
            kept,
            answers: Cache::new(MOST_ANSWERS),
            places: Semaphore::new(AT_ONCE),
        }
    }

    /// What the server says of a token that holds.
    ///
    /// # Errors
    /// `Invalid` where it does not hold; `Unavailable` where the server does not say.
    pub(super) async fn claims(&self, token: &str) -> Result<Arc<Map<String, Value>>, TokenRefused> {
        let name = *blake3::hash(token.as_bytes()).as_bytes();
        let mut answer = self.answer(name, token).await?;
        if answer.until <= Instant::now() {
            self.answers.remove(&name);
            answer = self.answer(name, token).await?;
        }
        answer.claims.ok_or_else(|| TokenRefused::Invalid("its issuer says that it does not hold".to_owned()))
    }

    /// What is remembered, or what the server says now. Requests of one token at once ask once.
    async fn answer(&self, name: [u8; blake3::OUT_LEN], token: &str) -> Result<KnownAnswer, TokenRefused> {
        let asked = async {
            // It is never closed.
            let _place = self.places.acquire().await;
            let (server, token) = (Arc::clone(&self.server), Zeroizing::new(token.to_owned()));
            let asking = tokio::task::spawn_blocking(move || server.ask(&token));
            asking.await.unwrap_or_else(|_| Err("the thread ended".to_owned()))
        };
        let remembered = self.answers.get_or_insert_async(&name, async {
            let said = timeout(PATIENCE, asked).await.unwrap_or_else(|_| Err("it does not answer".to_owned()));
            let claims = said.map_err(|problem| {
                tracing::warn!(issuer = self.server.issuer, "the issuer does not say whether a token holds: {problem}");
                TokenRefused::Unavailable
            })?;
            Ok(KnownAnswer { claims: claims.map(Arc::new), until: Instant::now() + self.kept })
        });
        remembered.await
    }
}

impl IntrospectionServer {
    /// What the server says of a token; none where it does not hold. Blocks.
    fn ask(&self, token: &str) -> Result<Option<Map<String, Value>>, String> {
        let address = match (&self.settings.address, self.address.get()) {
            (Some(address), _) | (None, Some(address)) => address.clone(),
            (None, None) => {
                let found = discovery::place_of(&self.issuer, "introspection_endpoint")?;
                self.address.get_or_init(|| found).clone()
            }
        };
        let secret = self.settings.secret().map_err(|error| with_causes(&error))?;
        // RFC 6749, section 2.3.1.
        let part = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let pair = Zeroizing::new(format!("{}:{}", part(&self.settings.client), part(&secret)));
        let credentials = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
        let form = Zeroizing::new(format!("token={}&token_type_hint=access_token", part(token)));
        let sent = agent(&address, PATIENCE)
            .post(address.as_str())
            .header("authorization", credentials.as_str())
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .send(form.as_bytes());
        let answered = sent.map_err(|error| format!("{address}: {}", with_causes(&error)))?;
        if answered.status() != 200 {
            let is_refused = answered.status() == 401;
            if is_refused {
                self.settings.refuse_secret();
            }
            let what = if is_refused { ": it does not take the client's secret" } else { "" };
            return Err(format!("{address} answers {}{what}", answered.status()));
        }
        let mut body = answered.into_body().into_reader();
        let claims: Map<String, Value> = discovery::read(&address, body.by_ref())?;
        match claims.get("active") {
            Some(Value::Bool(true)) => Ok(Some(claims)),
            Some(Value::Bool(false)) => Ok(None),
            _ => Err(format!("{address} does not say whether the token is `active`")),
        }
    }
}
