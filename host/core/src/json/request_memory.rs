//! The account of what the JSON of requests takes: by request, tenant and host.

use std::sync::Arc;

use super::Estimate;
use crate::{Code, Error, HostLimits, Quota, SessionId, Share, TenantId, quota::Bounds};

/// How much memory the JSON of requests may take: of one request, of all requests of a
/// tenant, and of all. Clones share the account.
#[derive(Debug, Clone)]
pub struct RequestMemory {
    per_request: u64,
    quota: Arc<Quota>,
}

impl RequestMemory {
    /// Nothing is taken.
    #[must_use]
    pub fn new(limits: &HostLimits) -> Self {
        let bounds = Bounds {
            resource: "bytes of memory for JSON of requests",
            section: "[host.limits]",
            session: None,
            tenant: ("request_json_bytes_per_tenant", limits.request_json_bytes_per_tenant),
            host: ("request_json_total_bytes", limits.request_json_total_bytes),
        };
        Self { per_request: limits.request_json_bytes, quota: Quota::new(bounds) }
    }

    /// The account of a request of which nothing has arrived yet. Dropping it gives back
    /// what it has.
    #[must_use]
    pub fn begin(&self, tenant: &TenantId) -> RequestShare {
        let share = self.quota.open(tenant, &SessionId::default_session());
        RequestShare { per_request: self.per_request, share }
    }
}

impl Default for RequestMemory {
    fn default() -> Self {
        Self::new(&HostLimits::default())
    }
}

/// What one request takes.
#[derive(Debug)]
pub struct RequestShare {
    per_request: u64,
    share: Share,
}

impl RequestShare {
    /// Takes what so many bytes take that have arrived.
    ///
    /// # Errors
    /// `limit`, retryable, where the tenant or the host has no more.
    pub fn arrived(&mut self, bytes: u64) -> Result<(), Error> {
        Ok(self.share.grow(bytes)?)
    }

    /// Takes what this text takes once it is read, which may be done then.
    ///
    /// # Errors
    /// `limit`, where it is more than a request may take; retryable, where the tenant or
    /// the host has no more.
    pub fn read(&mut self, text: &[u8]) -> Result<Estimate, Error> {
        let estimate = Estimate::of(text);
        if estimate.bytes() > self.per_request {
            return Err(Error::new(
                Code::Limit,
                format!(
                    "the JSON of this request has {} values and takes about {} bytes of memory, more than {} (limit \
                     `request_json_bytes`); send less at a time",
                    estimate.values(),
                    estimate.bytes(),
                    self.per_request
                ),
            ));
        }
        self.share.grow(estimate.bytes())?;
        Ok(estimate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_a_tenant_and_the_host_each_have_a_limit_and_what_is_answered_gives_back() {
        let limits = HostLimits {
            request_json_bytes: 10_000,
            request_json_bytes_per_tenant: 15_000,
            request_json_total_bytes: 20_000,
            ..HostLimits::default()
        };
        let memory = RequestMemory::new(&limits);
        let text = format!("[{}]", ["1"; 140].join(","));
        let take = |tenant: &str| {
            let mut share = memory.begin(&tenant.parse().expect("legal"));
            share.read(text.as_bytes()).map(|_| share)
        };
        let refused = |outcome: Result<RequestShare, Error>| outcome.expect_err("too much").message;
        let long = format!("[{}]", ["1"; 200].join(","));
        let mut own = memory.begin(&TenantId::local());
        assert!(own.read(long.as_bytes()).expect_err("too much").message.contains("`request_json_bytes`"));
        let first = take("a").expect("the first");
        assert!(refused(take("a")).contains("`request_json_bytes_per_tenant`"));
        let second = take("b").expect("of another tenant");
        assert!(refused(take("c")).contains("`request_json_total_bytes`"));
        drop((first, second));
        assert_eq!(memory.quota.used(), 0);
        own.arrived(15_001).expect_err("more than a tenant has");
    }
}
