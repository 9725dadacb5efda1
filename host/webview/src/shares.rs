//! The quotas of pages: each session, each tenant and the host as a whole may have so
//! many pages, requests, kept bytes, connections and transferred bytes.
//!
//! Knows no page. The holder of a share decides what makes room for another one.

use std::sync::Arc;

use wharf_core::{
    Quota, QuotaFull, SessionId, Share, TenantId, WebViewLimits, WebViewOwner,
    quota::{Bound, Bounds, Level},
};

const SECTION: &str = "[webview.limits]";

/// The quotas of all pages of a host.
#[derive(Debug)]
pub(crate) struct PageQuotas {
    open: Arc<Quota>,
    present: Arc<Quota>,
    remembered: Arc<Quota>,
    requests: Arc<Quota>,
    kept: Arc<Quota>,
    connections: Arc<Quota>,
    transfer: Arc<Quota>,
}

impl PageQuotas {
    pub(crate) fn new(limits: &WebViewLimits) -> Arc<Self> {
        let quota = |resource, [session, tenant, host]: [Bound; 3]| {
            Quota::new(Bounds { resource, section: SECTION, session: Some(session), tenant, host })
        };
        let pages = |times: u64| {
            [
                ("pages_per_session", limits.pages_per_session),
                ("pages_per_tenant", limits.pages_per_tenant),
                ("pages", limits.pages),
            ]
            .map(|(name, most)| (name, most.saturating_mul(times)))
        };
        Arc::new(Self {
            open: quota("pages", pages(1)),
            // A backend may be slow to close a page, and it takes up memory until then.
            present: quota("pages that are open or being closed, twice as many as may be open,", pages(2)),
            remembered: quota("closed pages", pages(1)),
            requests: quota(
                "requests of pages",
                [
                    ("requests_per_session", limits.requests_per_session),
                    ("requests_per_tenant", limits.requests_per_tenant),
                    ("requests", limits.requests),
                ],
            ),
            kept: quota(
                "bytes of scripts, results and logs of pages",
                [
                    ("kept_bytes_per_session", limits.kept_bytes_per_session),
                    ("kept_bytes_per_tenant", limits.kept_bytes_per_tenant),
                    ("kept_bytes", limits.kept_bytes),
                ],
            ),
            connections: quota(
                "connections of pages",
                [
                    ("connections_per_session", limits.connections_per_session),
                    ("connections_per_tenant", limits.connections_per_tenant),
                    ("connections", limits.connections),
                ],
            ),
            transfer: quota(
                "bytes of downloads and of files given to pages",
                [
                    ("transfer_bytes_per_session", limits.transfer_bytes_per_session),
                    ("transfer_bytes_per_tenant", limits.transfer_bytes_per_tenant),
                    ("transfer_bytes", limits.transfer_bytes),
                ],
            ),
        })
    }
}

/// Takes shares for one page from the quotas of its session, its tenant and the host.
#[derive(Debug, Clone)]
pub struct PageShares {
    quotas: Arc<PageQuotas>,
    tenant: TenantId,
    session: SessionId,
}

/// The shares of one page: among the pages that are open, and among those that a
/// backend has not let go of.
#[derive(Debug)]
pub(crate) struct OpenPageShares {
    pub(crate) open: Option<Share>,
    pub(crate) _present: Option<Share>,
}

/// The shares of one request: among all requests, and of the bytes that are kept.
#[derive(Debug)]
pub(crate) struct RequestShares {
    pub(crate) _place: Share,
    pub(crate) bytes: Share,
}

impl PageShares {
    pub(crate) fn new(quotas: &Arc<PageQuotas>, owner: &WebViewOwner) -> Self {
        Self { quotas: Arc::clone(quotas), tenant: owner.tenant.clone(), session: owner.session.clone() }
    }

    /// Shares for the only page of a host, for a backend that is used without the core.
    #[must_use]
    pub fn alone(limits: &WebViewLimits) -> Self {
        Self { quotas: PageQuotas::new(limits), tenant: TenantId::local(), session: SessionId::default_session() }
    }

    fn take(&self, quota: &Arc<Quota>, amount: u64) -> Result<Share, QuotaFull> {
        quota.take(&self.tenant, &self.session, amount)
    }

    /// A share for one connection to a server, as long as it is held.
    ///
    /// # Errors
    /// Where session, tenant or host have as many as they may.
    pub fn connection(&self) -> Result<Share, QuotaFull> {
        self.take(&self.quotas.connections, 1)
    }

    /// Bytes of files on their way, none at first: a backend lets the share grow
    /// with a download, and holds it until it has told of its end.
    #[must_use]
    pub fn transfer(&self) -> Share {
        self.quotas.transfer.open(&self.tenant, &self.session)
    }

    pub(crate) fn open(&self) -> Result<Share, QuotaFull> {
        self.take(&self.quotas.open, 1)
    }

    pub(crate) fn present(&self) -> Result<Share, QuotaFull> {
        self.take(&self.quotas.present, 1)
    }

    pub(crate) fn remembered(&self) -> Result<Share, QuotaFull> {
        self.take(&self.quotas.remembered, 1)
    }

    /// A share for a request, and one for the bytes that it brings.
    pub(crate) fn request(&self, bytes: u64) -> Result<RequestShares, QuotaFull> {
        Ok(RequestShares { _place: self.take(&self.quotas.requests, 1)?, bytes: self.kept(bytes)? })
    }

    pub(crate) fn kept(&self, bytes: u64) -> Result<Share, QuotaFull> {
        self.take(&self.quotas.kept, bytes)
    }

    /// Bytes that are kept, none at first.
    pub(crate) fn log(&self) -> Share {
        self.quotas.kept.open(&self.tenant, &self.session)
    }
}

/// Whether what belongs to `other` may make room for `owner` where the limit of this
/// level is reached: never what is of another tenant.
pub(crate) fn makes_room(level: Level, owner: &WebViewOwner, other: &WebViewOwner) -> bool {
    let same_session = owner.session == other.session;
    owner.tenant == other.tenant
        && match level {
            Level::Session => same_session,
            Level::Tenant | Level::Host => true,
        }
}
