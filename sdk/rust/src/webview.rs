//! [`WebPages`]: web pages of the host, as a tool sees them.
//!
//! What is asked of a page is in `request` and `operation`, what the host says of
//! one in `report`, and `running` asks and waits in one step. Real pages are in the host
//! only: natively, [`crate::testing`] plays them from a script.

mod operation;
pub(crate) mod report;
pub(crate) mod request;
mod running;

use std::time::Duration;

use crate::host::{ActiveHost, HostWebPages};
use crate::process::milliseconds;
use crate::{Call, ToolError};

pub use operation::{Modifier, MouseButton, Operation, Rectangle};
pub use report::{
    Dialog, DialogKind, FailureKind, Finished, LogPage, Outcome, PageInfo, PageStatus, RequestState, ResultPiece,
    WebViewRules,
};
pub use request::{DialogPolicy, PageOptions, Script};
pub use running::ScriptFailure;

/// The pages of tenant, plugin, session and assistant of a call.
///
/// ```
/// use serde_json::json;
/// use wharf_sdk::testing::{Reaction, TestCall, WebPageScript};
/// use wharf_sdk::webview::{Operation, PageOptions, Script};
///
/// let site = WebPageScript::new()
///     .operation("navigate", Reaction::value(json!({ "status": 200 })).goes_to("http://site.test/", "A site"))
///     .script("document.title", Reaction::value(json!("A site")));
/// let call = TestCall::new().web_pages_of(site).call();
///
/// let id = call.web_pages().open(&PageOptions::new())?.id;
/// let loaded = call.web_pages().carry_out(&id, &Operation::Navigate { url: "http://site.test/".into() }, None)?;
/// assert_eq!(loaded.json()?["status"], 200);
/// assert_eq!(call.web_pages().run(&id, &Script::new("document.title"))?, "A site");
/// # Ok::<(), wharf_sdk::ToolError>(())
/// ```
///
/// [`WebPages::run`] and [`WebPages::carry_out`] ask and wait in one step; the
/// rest is for tools whose requests outlive their call.
///
/// Every function may also fail with `denied` where something is not granted,
/// with the line of configuration that would allow it, and with `unavailable`
/// where there is no browser, or it is being started again. Those that take an
/// id answer `not-found` for one that names no page, or no request, of this
/// owner.
#[derive(Debug, Clone, Copy)]
pub struct WebPages<'call> {
    host: &'call ActiveHost,
}

impl Call {
    /// The web pages of this session.
    #[must_use]
    pub fn web_pages(&self) -> WebPages<'_> {
        WebPages { host: &self.host }
    }
}

impl WebPages<'_> {
    /// What holds for pages here.
    ///
    /// # Errors
    /// `internal` where the host says something else than it promises.
    pub fn status(&self) -> Result<WebViewRules, ToolError> {
        Ok(serde_json::from_str(&self.host.webview_status()?)?)
    }

    /// Opens a page, empty at first. Returns at once: what is asked of it waits
    /// until it is open.
    ///
    /// # Errors
    /// `limit` (retryable) where the owner has as many pages as it may;
    /// `invalid` where an option is none.
    pub fn open(&self, options: &PageOptions) -> Result<PageInfo, ToolError> {
        self.host.open_page(options)
    }

    /// All pages of this owner, in the order in which they were opened.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn list(&self) -> Result<Vec<PageInfo>, ToolError> {
        self.host.list_pages()
    }

    /// One page.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn get(&self, id: &str) -> Result<PageInfo, ToolError> {
        self.host.page(id)
    }

    /// Closes a page, with all that it keeps.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn close(&self, id: &str) -> Result<(), ToolError> {
        self.host.close_page(id)
    }

    /// Hands a script over and returns the id of the request at once.
    ///
    /// # Errors
    /// `limit` (retryable) where the page has as many pending requests as it may;
    /// `invalid` for a script of more than 1 MiB; `gone` where the page is closed.
    pub fn execute(&self, id: &str, script: &Script) -> Result<String, ToolError> {
        self.host.execute_script(id, script)
    }

    /// Begins something else and returns the id of the request at once. The
    /// deadline is 30 s unless it says otherwise, 300 s at most.
    ///
    /// # Errors
    /// As [`WebPages::execute`]; `invalid` where a parameter is wrong; `denied`
    /// where an address is of an origin that is not granted, or files may not be
    /// given.
    pub fn perform(&self, id: &str, operation: &Operation, deadline: Option<Duration>) -> Result<String, ToolError> {
        let parameters = operation.parameters().to_string();
        self.host.perform(id, operation.name(), &parameters, deadline.map_or(0, milliseconds))
    }

    /// The outcome of a request so far; never waits. [`WebPages::wait`] is better.
    ///
    /// # Errors
    /// Only those of every function; a request that is not there is no error, but
    /// a state.
    pub fn poll(&self, request: &str) -> Result<Outcome, ToolError> {
        self.host.poll_request(request)
    }

    /// The same, once it has ended, or after `longest`; earlier where a dialog
    /// opens that keeps it from ending.
    ///
    /// # Errors
    /// As [`WebPages::poll`].
    pub fn wait(&self, request: &str, longest: Duration) -> Result<Outcome, ToolError> {
        self.host.wait_for_request(request, milliseconds(longest))
    }

    /// Lets go of a request that has ended: its result need not be kept.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn acknowledge(&self, request: &str) -> Result<(), ToolError> {
        self.host.acknowledge(request)
    }

    /// Ends a request; a script that runs is stopped where the backend can.
    ///
    /// # Errors
    /// Only those of every function.
    pub fn cancel(&self, request: &str) -> Result<(), ToolError> {
        self.host.cancel_request(request)
    }

    /// A piece of a result from a byte on, of at most 1 MiB.
    ///
    /// # Errors
    /// `gone` where the page went elsewhere since, or does not keep it any more;
    /// `conflict` where the request has no result.
    pub fn read_result(&self, request: &str, from: u64, max_bytes: u32) -> Result<ResultPiece, ToolError> {
        self.host.read_result(request, from, max_bytes)
    }

    /// Answers the dialog that is open; `text` is for a prompt.
    ///
    /// # Errors
    /// `conflict` where none is open.
    pub fn answer_dialog(&self, id: &str, accept: bool, text: Option<&str>) -> Result<(), ToolError> {
        self.host.answer_dialog(id, accept, text)
    }

    /// Entries of a log of a page after a number: `console`, `network` or
    /// `downloads`; at most 1,000.
    ///
    /// # Errors
    /// `invalid` for another log; `internal` where the host says something else
    /// than it promises.
    pub fn entries(&self, id: &str, log: &str, after: u64, max: u32) -> Result<LogPage, ToolError> {
        self.host.log_entries(id, log, after, max)
    }
}
