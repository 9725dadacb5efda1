//! The clients that may call: what each shows, on whose behalf it is, and how
//! much it may ask for.
//!
//! Knows no request: `guard` finds the client of each.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Code, ContextRules, Error, HttpLimits, PluginName, TenantId, Token,
    service::{AllowedPlugins, ClientRights, PassedClient, front_end::FrontEndOwner},
};

use crate::{failure::HttpFailure, protocol::ProtocolEndpoint};

/// One client, or many that share a token.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpClient {
    /// For the operator.
    pub name: String,
    /// What it shows.
    pub token: Token,
    /// Whose calls these are; that of the server's rules where absent.
    pub tenant: Option<TenantId>,
    /// What it may do.
    pub rights: ClientRights,
}

impl HttpClient {
    /// A client that may do everything, and whose arguments a model writes.
    #[must_use]
    pub fn new(name: impl Into<String>, token: Token) -> Self {
        Self { name: name.into(), token, tenant: None, rights: ClientRights::everything() }
    }
}

/// What a running server keeps of a client: its token, its rights and its limits.
pub(crate) struct ClientAccount {
    name: String,
    /// None where somebody else issues tokens for it.
    token: Option<Token>,
    rights: ClientRights,
    pub(crate) rules: ContextRules,
    plugins: Option<AllowedPlugins>,
    pub(crate) endpoint: Box<dyn ProtocolEndpoint>,
    pub(crate) may_read_metrics: bool,
    rate: RateLimiter,
    /// Fires when it may not call any more.
    ended: CancellationToken,
}

impl ClientAccount {
    pub(crate) fn new(
        (name, token): (String, Option<Token>),
        rights: ClientRights,
        rules: ContextRules,
        plugins: Option<AllowedPlugins>,
        (endpoint, ended): (Box<dyn ProtocolEndpoint>, CancellationToken),
        limits: &HttpLimits,
    ) -> Self {
        let per_second = rights.requests_per_second.unwrap_or(u64::MAX).min(limits.requests_per_second);
        Self {
            name,
            token,
            rules,
            plugins,
            endpoint,
            may_read_metrics: rights.metrics,
            rate: RateLimiter::new(per_second),
            rights,
            ended,
        }
    }

    /// Who it is to another host, which has not seen its token.
    pub(crate) fn when_passed(&self) -> PassedClient {
        match self.token {
            Some(_) => PassedClient::Named(self.name.clone()),
            None => PassedClient::Issued(self.rules.tenant.clone()),
        }
    }

    /// The operator's name for its token; none where somebody else issues tokens for it.
    pub(crate) fn token_name(&self) -> Option<&str> {
        self.token.as_ref().map(|_| self.name.as_str())
    }

    /// Whether this is the client of the token of this name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name
    }

    /// Whether this is the client that shows this token.
    pub(crate) fn shows(&self, token: &[u8]) -> bool {
        self.token.as_ref().is_some_and(|own| own.is(token))
    }

    /// Whether this is the account of a client, as that is now.
    pub(crate) fn is_of(&self, client: &HttpClient, tenant: &TenantId) -> bool {
        self.token.as_ref() == Some(&client.token)
            && *tenant == self.rules.tenant
            && self.name == client.name
            && self.rights == client.rights
    }

    /// It may not call any more: what it follows ends.
    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    /// Fires when it may not call any more.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// Counts one request.
    ///
    /// # Errors
    /// `limit`, retryable, where it sends too many in a second.
    pub(crate) fn count_request(&self) -> Result<(), HttpFailure> {
        self.rate.take(Instant::now()).map_err(|per_second| {
            tracing::debug!(client = self.name, "a client asks too often");
            let told = format!(
                "this token may ask {per_second} times a second (limit `requests_per_second`); try again later"
            );
            Error::retryable(Code::Limit, told).into()
        })
    }

    /// Whether nothing of it is open.
    pub(crate) fn is_unused(&self) -> bool {
        self.endpoint.is_unused()
    }

    /// The owner of the front ends that it connects, where it may connect any.
    pub(crate) fn owner(&self) -> Option<FrontEndOwner> {
        self.rights.front_ends.then(|| FrontEndOwner { tenant: self.rules.tenant.clone(), client: self.name.clone() })
    }

    /// Whether it sees and steers what the host does, for all tenants.
    pub(crate) fn may_operate(&self) -> bool {
        self.rights.operator
    }

    /// Whether it may use what the host itself opens: terminals, and streams.
    pub(crate) fn may_use_host(&self) -> bool {
        self.plugins.as_ref().is_none_or(|plugins| plugins.allows(PluginName::host().as_str()))
    }
}

/// Lets so many requests pass in a second, and as many at once where none came for a
/// second.
struct RateLimiter {
    per_second: u64,
    began: Instant,
    /// Until when all that was taken would last, after `began`.
    // A blocking lock: held for a comparison.
    until: Mutex<Duration>,
}

impl RateLimiter {
    fn new(per_second: u64) -> Self {
        Self { per_second: per_second.max(1), began: Instant::now(), until: Mutex::default() }
    }

    fn take(&self, now: Instant) -> Result<(), u64> {
        let now = now.saturating_duration_since(self.began);
        let each = Duration::from_nanos(1_000_000_000 / self.per_second);
        let mut until = self.until.lock();
        let next = (*until).max(now) + each;
        if next > now + Duration::from_secs(1).max(each) {
            return Err(self.per_second);
        }
        *until = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_in_a_second_may_come_at_once_and_then_one_after_the_other() {
        let rate = RateLimiter::new(10);
        let began = Instant::now();
        let taken = (0..20).filter(|_| rate.take(began).is_ok()).count();
        assert_eq!(taken, 10);
        let later = |milliseconds| began + Duration::from_millis(milliseconds);
        assert_eq!(rate.take(later(90)), Err(10));
        assert_eq!((rate.take(later(101)), rate.take(later(102))), (Ok(()), Err(10)));
        let taken = (0..20).filter(|_| rate.take(later(60_000)).is_ok()).count();
        assert_eq!(taken, 10, "what was not used is not saved up");
    }
}
