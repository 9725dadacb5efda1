//! Web pages of sessions: opened, driven and read without anything that blocks.
//!
//! A script is handed over and known by the id of its request; what comes of it is
//! polled. The core of this crate owns pages, requests, one-shot tokens, deadlines,
//! limits and policy. A [`WebViewBackend`] only injects and reports: the host's own
//! Chromium, or the WebViews of an app that embeds the host.

mod asked;
mod backend;
#[cfg(target_os = "linux")]
pub mod chromium;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod files;
mod id;
mod operation;
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
pub use id::{PageId, RequestId, Token};
pub use operation::{ImageFormat, KeyKind, Modifier, MouseButton, MouseKind, Operation, Paper, Rectangle};
pub use page::{
    CloseReason, Dialog, DialogPolicy, Log, LogPage, PageInfo, Place, Status, dialog_policy_named, log_named,
};
pub use pages::{Metrics, Outcome, OutcomeState, RequestInfo, ResultPiece, Script, Settings, Swept, Wanted, WebViews};
pub use proxy::{DeniedConnection, Names, PROXY_ANSWER, Proxy, ProxySettings};
pub use report::{
    Console, DialogKind, DialogOpened, Download, Failure, FailureKind, Finished, Network, PageEvent, Settled,
};
pub use shares::PageShares;
pub use sink::{Accepted, Hears, Sink};
pub use wrapper::Posted;
