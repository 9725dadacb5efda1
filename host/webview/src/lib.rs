//! Web pages of sessions: opened, driven and read without anything that blocks.
//!
//! A caller hands over a script and polls its result by the id of the request. The core
//! of this crate owns pages, requests, one-shot tokens, deadlines, limits and policy; a
//! [`WebViewBackend`] only injects and reports. Here is also what backends share: the
//! proxy of a page, its shares of quotas, and the suite that each backend passes.
//!
//! This crate starts nothing and knows no browser: `wharf-chromium` is a backend of its
//! own, and an app brings one for its WebViews.

mod backend;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod files;
mod id;
mod operation;
mod operation_request;
mod page;
mod pages;
mod proxy;
mod report;
mod requests;
mod shares;
mod sink;
mod wrapper;

pub use backend::{Abilities, DialogAnswer, Injection, Order, PageSettings, WebViewBackend};
pub use error::WebViewError;
pub use files::staging_of;
pub use id::{PageId, RequestId, Token};
pub use operation::{ImageFormat, KeyKind, Modifier, MouseButton, MouseKind, Operation, Paper, Rectangle};
pub use page::{
    CloseReason, Dialog, DialogPolicy, LogName, LogPage, PageInfo, PageStatus, PageWorkspace, dialog_policy_named,
    log_named,
};
pub use pages::{
    Metrics, OpenPageRequest, Outcome, OutcomeState, RequestInfo, ResultPiece, Script, Settings, SweepReport, WebViews,
};
pub use proxy::{DeniedConnection, NameOverrides, PROXY_ANSWER, Proxy, ProxySettings};
pub use report::{
    ConsoleEntry, ConsoleKind, DialogKind, DialogOpened, Download, FailedDownload, Failure, FailureKind, FrameInfo,
    FramesResult, NavigationResult, NetworkEntry, OrderOutput, PageEvent, Settled,
};
pub use shares::PageShares;
pub use sink::{Receipt, ReportReceiver, Sink};
pub use wrapper::{PostedResult, ScriptAnswer, WrappedScript, script_wrapper};
