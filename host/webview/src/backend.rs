//! The trait of what runs pages: a browser that the host drives, or the WebViews of an
//! embedding app.
//!
//! A backend never knows owners, grants, ids that callers see, deadlines or limits of
//! requests: the core has decided all of that before it asks.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use wharf_core::{OriginPolicy, TenantId, WebViewLimits};

use crate::{Failure, FailureKind, Operation, PageId, PageShares, Sink, Token};

/// Runs pages. One backend serves all sessions of a host.
///
/// No function but [`WebViewBackend::shut_down`] and [`WebViewBackend::picture`] may block or wait, even if a page,
/// browser or event loop is stuck: each hands over and returns. Results go to the
/// [`Sink`] of the page, from any thread. The core calls them from the threads of a
/// tokio runtime, one page's calls in their order.
///
/// A backend promises, and `contract` checks:
/// - Every [`Injection`] and [`Order`] is settled at most once by its token; the
///   core ignores what comes late, twice or with another token. One that a backend
///   cannot settle (a promise that never does) ends by the core's deadline.
/// - Requests of one page neither wait for those of another, nor for a dialog or a
///   script of another that never ends. [`WebViewBackend::interrupt`],
///   [`WebViewBackend::answer_dialog`] and [`WebViewBackend::close`] wait for nothing.
/// - A page sees no cookie or storage of another.
/// - A page that leaves its document says [`crate::PageEvent::Navigating`] before the
///   new one runs scripts.
#[async_trait]
pub trait WebViewBackend: Send + Sync + 'static {
    /// Its name, such as `chromium`.
    fn name(&self) -> &'static str;

    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// The user that runs a page, where that is not the host's own: it reads the files
    /// that the page is given, and owns those that it downloads.
    fn user(&self, page: PageId) -> Option<u32> {
        let _ = page;
        None
    }

    /// Opens an empty page. [`crate::PageEvent::Opened`] reports that it takes scripts,
    /// which the core holds back until then; [`crate::PageEvent::Closed`] reports that
    /// it cannot be opened.
    fn open(&self, page: PageId, settings: PageSettings, sink: Sink);

    /// Runs a script in a page.
    fn inject(&self, page: PageId, injection: Injection);

    /// Carries out an operation on a page.
    fn perform(&self, page: PageId, order: Order);

    /// Stops what a request does, as far as possible: a script that runs is terminated.
    /// The core has settled the request already.
    fn interrupt(&self, page: PageId, token: Token);

    /// Answers the dialog that is open.
    fn answer_dialog(&self, page: PageId, answer: DialogAnswer);

    /// Draws what is seen of a page, as a JPEG of its size, for a person who watches it. The page does
    /// not notice. The future may wait for the page for as long as that is open; the core asks for one
    /// at a time.
    async fn picture(&self, page: PageId) -> Result<Vec<u8>, Failure> {
        let _ = page;
        Err(Failure::new(FailureKind::Unsupported, format!("{} draws no pictures of pages", self.name())))
    }

    /// Closes a page, with all that it keeps. [`crate::PageEvent::Closed`] reports that
    /// nothing is left of it.
    fn close(&self, page: PageId);

    /// Ends everything; returns once nothing is left, and at the latest after
    /// `patience`. Later requests are settled with `backend-gone`.
    async fn shut_down(&self, patience: Duration);
}

/// What a backend can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// The names of the operations that it carries out; see
    /// [`Operation::name`]. The core fails others with `unsupported`.
    pub operations: BTreeSet<&'static str>,
    /// Whether a script can be run apart from those of the page.
    pub isolated_world: bool,
    /// Whether pages cannot leave the granted origins by any means.
    pub enforces_origins: bool,
    /// Whether pages run in the sandbox of the browser.
    pub sandbox: bool,
}

/// The settings of a page.
#[derive(Debug, Clone)]
pub struct PageSettings {
    /// Whose page it is: a backend may run those of each tenant apart. Files for its pages come
    /// in [`crate::staging_of`] this tenant.
    pub tenant: TenantId,
    /// Width of what is seen, in CSS pixels.
    pub width: u32,
    /// Height of what is seen, in CSS pixels.
    pub height: u32,
    /// Where it may go.
    pub policy: Arc<OriginPolicy>,
    /// Whether files that it downloads are taken; else they are refused.
    pub downloads: bool,
    /// What `navigator.language` says, such as `ko-KR`.
    pub locale: Option<String>,
    /// The time zone, such as `Asia/Seoul`.
    pub time_zone: Option<String>,
    /// Its `navigator.userAgent`; the browser's own where absent.
    pub user_agent: Option<String>,
    /// Limits that the backend has to keep itself: of files, downloads and
    /// connections.
    pub limits: Arc<WebViewLimits>,
    /// Its shares of the quotas of session, tenant and host: one for each connection,
    /// and one for the bytes of downloads.
    pub shares: PageShares,
}

/// A script on its way into a page.
#[derive(Debug, Clone)]
pub struct Injection {
    /// The right to settle it.
    pub token: Token,
    /// Sources of one expression each, which evaluates to the promise of a text: the
    /// envelope of [`crate::Settled::Envelope`]. The backend evaluates the first one
    /// that the engine can parse, and no other; where it can parse none, it reports
    /// [`crate::Settled::Syntax`]. An exception of the script itself travels in the
    /// envelope.
    pub sources: Vec<String>,
    /// Whether it runs apart from the scripts of the page.
    pub isolated: bool,
    /// The frame of the page in which it runs; absent is the page itself.
    pub frame: Option<String>,
}

/// An operation on its way to a page.
#[derive(Debug, Clone)]
pub struct Order {
    /// The right to settle it.
    pub token: Token,
    /// What is to be done.
    pub operation: Operation,
    /// How long the core waits for it.
    pub deadline: Duration,
}

/// An answer to a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogAnswer {
    /// Yes, or no.
    pub accept: bool,
    /// What is typed into a `prompt`.
    pub text: Option<String>,
}
