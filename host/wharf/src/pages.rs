//! The web pages of the host itself, for transports and the app.
//!
//! What is opened here belongs to the plugin `host` and to the context of the request,
//! and needs a grant as any plugin's does.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value;
use wharf_core::{
    Code, Context, Error, Grants, PluginName, WebPageService, WebViewOwner,
    grant::GrantedWebView,
    service::web_page::{
        AnswerDialog, ExecuteScript, OpenWebPage, PageDialog, PageFailure, PageLog, PageOutcome, PageRequest,
        PageRequestDescription, PageResultPiece, PerformOperation, ReadLog, ReadResult, WebPageDescription,
    },
    text,
};
use wharf_engine::Backends;
use wharf_webview::{
    Dialog, DialogAnswer, OpenPageRequest, Outcome, OutcomeState, PageId, PageInfo, PageWorkspace, RequestId,
    RequestInfo, Script, WebViewError, WebViews, dialog_policy_named, log_named,
};
use wharf_workspace::Workspace;

/// See the module.
pub(crate) struct HostPages {
    backends: Backends,
    grants: Arc<Grants>,
    plugin: PluginName,
}

/// A page, and the proof that this request may ask for it.
struct OwnedPage<'f> {
    webviews: &'f WebViews,
    granted: GrantedWebView<'f>,
    owner: WebViewOwner,
    id: PageId,
}

/// A request of it.
struct OwnedPageRequest<'f> {
    webviews: &'f WebViews,
    owner: WebViewOwner,
    id: RequestId,
}

impl HostPages {
    pub(crate) fn new(backends: Backends, grants: Arc<Grants>) -> Self {
        Self { backends, grants, plugin: PluginName::host() }
    }

    fn granted(&self) -> Result<(GrantedWebView<'_>, &WebViews), Error> {
        let granted = self.grants.webview(&self.plugin)?;
        Ok((granted, self.backends.webviews.as_ref()?))
    }

    fn found(&self, context: &Context, page: &str) -> Result<OwnedPage<'_>, Error> {
        let (granted, webviews) = self.granted()?;
        let owner = granted.owner(context);
        Ok(OwnedPage { webviews, granted, owner, id: page.parse()? })
    }

    /// A request counts below its own page alone.
    fn found_request(&self, context: &Context, page: &str, request: &str) -> Result<OwnedPageRequest<'_>, Error> {
        let OwnedPage { webviews, owner, id: page, .. } = self.found(context, page)?;
        webviews.info(&owner, page)?;
        let id = request.parse()?;
        if webviews.page_of(&owner, id)? != page {
            return Err(WebViewError::NoRequest.into());
        }
        Ok(OwnedPageRequest { webviews, owner, id })
    }

    /// The files of the session, where pages may take or give some.
    fn place(&self, granted: &GrantedWebView<'_>, context: &Context) -> Result<Option<PageWorkspace>, Error> {
        let grant = granted.grant();
        match &self.backends.workspaces {
            Some(workspaces) if grant.downloads || grant.uploads => {
                let Workspace { files, user, stay, .. } = workspaces.create(&granted.workspace(context))?;
                Ok(Some(PageWorkspace { files, user, stay }))
            }
            Some(_) | None => Ok(None),
        }
    }
}

#[async_trait::async_trait]
impl WebPageService for HostPages {
    async fn open(&self, context: &Context, request: OpenWebPage) -> Result<WebPageDescription, Error> {
        let (granted, webviews) = self.granted()?;
        let OpenWebPage { width, height, dialogs, locale, time_zone, user_agent } = request;
        let wanted = OpenPageRequest {
            width: width.unwrap_or_default(),
            height: height.unwrap_or_default(),
            dialogs: dialog_policy_named(&dialogs.unwrap_or_default())?,
            locale,
            time_zone,
            user_agent,
        };
        let place = self.place(&granted, context)?;
        Ok(described(webviews.open(&granted, context, place, wanted)?))
    }

    async fn list(&self, context: &Context) -> Result<Vec<WebPageDescription>, Error> {
        let (granted, webviews) = self.granted()?;
        Ok(webviews.list(&granted.owner(context)).into_iter().map(described).collect())
    }

    async fn info(&self, context: &Context, page: &str) -> Result<WebPageDescription, Error> {
        let OwnedPage { webviews, owner, id, .. } = self.found(context, page)?;
        Ok(described(webviews.info(&owner, id)?))
    }

    async fn close(&self, context: &Context, page: &str, patience: Duration) -> Result<WebPageDescription, Error> {
        let OwnedPage { webviews, owner, id, .. } = self.found(context, page)?;
        webviews.close(&owner, id, patience).await?;
        Ok(described(webviews.info(&owner, id)?))
    }

    async fn execute(&self, context: &Context, page: &str, request: ExecuteScript) -> Result<PageRequest, Error> {
        let OwnedPage { webviews, owner, id, .. } = self.found(context, page)?;
        let ExecuteScript { script, world, frame, timeout_ms, max_bytes } = request;
        let world = world.unwrap_or_default();
        let script = Script::read(script, &world, timeout_ms.unwrap_or(0), max_bytes.unwrap_or(0), None)?;
        let request = webviews.execute(&owner, id, Script { frame, ..script })?;
        Ok(PageRequest { request: request.to_string() })
    }

    async fn perform(&self, context: &Context, page: &str, request: PerformOperation) -> Result<PageRequest, Error> {
        let OwnedPage { webviews, granted, owner, id } = self.found(context, page)?;
        let PerformOperation { operation, parameters, timeout_ms } = request;
        let parameters = Value::Object(parameters).to_string();
        let deadline = timeout_ms.filter(|asked| *asked > 0).map(Duration::from_millis);
        let request = webviews.perform(&granted, &owner, id, &operation, &parameters, deadline)?;
        Ok(PageRequest { request: request.to_string() })
    }

    async fn requests(&self, context: &Context, page: &str) -> Result<Vec<PageRequestDescription>, Error> {
        let OwnedPage { webviews, owner, id, .. } = self.found(context, page)?;
        Ok(webviews.requests(&owner, id)?.into_iter().map(listed).collect())
    }

    async fn poll(
        &self,
        context: &Context,
        page: &str,
        request: &str,
        maximum_bytes: usize,
        patience: Duration,
    ) -> Result<PageOutcome, Error> {
        let OwnedPageRequest { webviews, owner, id } = self.found_request(context, page, request)?;
        let outcome =
            if patience.is_zero() { webviews.poll(&owner, id) } else { webviews.wait(&owner, id, patience).await };
        if outcome.state == OutcomeState::Unknown {
            // It was forgotten meanwhile.
            return Err(WebViewError::NoRequest.into());
        }
        Ok(told(outcome, maximum_bytes))
    }

    async fn read_result(
        &self,
        context: &Context,
        page: &str,
        request: &str,
        read: ReadResult,
    ) -> Result<PageResultPiece, Error> {
        let OwnedPageRequest { webviews, owner, id } = self.found_request(context, page, request)?;
        let ReadResult { from, maximum_bytes, patience } = read;
        let piece = webviews.read_result(&owner, id, from, maximum_bytes, patience).await?;
        let (text, base64) = encoded(&piece.data, piece.is_text);
        Ok(PageResultPiece { from: piece.start, next: piece.next, bytes: piece.bytes, text, base64 })
    }

    async fn cancel(&self, context: &Context, page: &str, request: &str) -> Result<(), Error> {
        let OwnedPageRequest { webviews, owner, id } = self.found_request(context, page, request)?;
        Ok(webviews.cancel(&owner, id)?)
    }

    async fn acknowledge(&self, context: &Context, page: &str, request: &str) -> Result<(), Error> {
        let OwnedPageRequest { webviews, owner, id } = self.found_request(context, page, request)?;
        Ok(webviews.acknowledge(&owner, id)?)
    }

    async fn answer_dialog(&self, context: &Context, page: &str, answer: AnswerDialog) -> Result<(), Error> {
        let OwnedPage { webviews, owner, id, .. } = self.found(context, page)?;
        let AnswerDialog { accept, text } = answer;
        Ok(webviews.answer_dialog(&owner, id, DialogAnswer { accept, text })?)
    }

    async fn log(&self, context: &Context, page: &str, read: ReadLog) -> Result<PageLog, Error> {
        let OwnedPage { webviews, owner, id, .. } = self.found(context, page)?;
        let ReadLog { log, after, maximum_entries } = read;
        let read = webviews.entries(&owner, id, log_named(&log)?, after, maximum_entries)?;
        let illegible = |error: serde_json::Error| Error::new(Code::Internal, format!("a log is not legible: {error}"));
        let entries = serde_json::from_str(&read.entries).map_err(illegible)?;
        Ok(PageLog { entries, next: read.next, lost: read.lost })
    }
}

fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Bytes as one or the other.
fn encoded(data: &[u8], is_text: bool) -> (Option<String>, Option<String>) {
    match std::str::from_utf8(data).ok().filter(|_| is_text) {
        Some(text) => (Some(text.to_owned()), None),
        None => (None, Some(STANDARD.encode(data))),
    }
}

fn dialog(dialog: Dialog) -> PageDialog {
    let Dialog { kind, message, default_text, open } = dialog;
    PageDialog { kind: kind.as_str().to_owned(), message, default_text, open_ms: milliseconds(open) }
}

fn described(info: PageInfo) -> WebPageDescription {
    WebPageDescription {
        page: info.id.to_string(),
        status: info.status.as_str().to_owned(),
        url: info.url,
        title: info.title,
        width: info.width,
        height: info.height,
        dialog: info.dialog.map(dialog),
        pending: info.pending as u64,
        opened: time(info.opened),
        last_used: time(info.last_used),
        closed_because: info.closed_because.map(|why| why.as_str().to_owned()),
    }
}

fn listed(info: RequestInfo) -> PageRequestDescription {
    let RequestInfo { id, kind, state, elapsed, bytes, failure } = info;
    PageRequestDescription {
        request: id.to_string(),
        kind: kind.to_owned(),
        state: state.as_str().to_owned(),
        elapsed_ms: milliseconds(elapsed),
        bytes,
        failure: failure.map(|kind| kind.as_str().to_owned()),
    }
}

/// With at most so many bytes of its result.
fn told(outcome: Outcome, maximum_bytes: usize) -> PageOutcome {
    let is_text = outcome.is_text();
    let Outcome { state, elapsed, failure, mime_type, data, bytes, truncated, dialog: open, advice, meta: _ } = outcome;
    let sent = match std::str::from_utf8(&data) {
        // What is no text may be cut anywhere.
        Ok(whole) if is_text => text::cut(whole, maximum_bytes).len(),
        _ => data.len().min(maximum_bytes),
    };
    let (text, base64) = if state == OutcomeState::Done { encoded(&data[..sent], is_text) } else { (None, None) };
    PageOutcome {
        state: state.as_str().to_owned(),
        elapsed_ms: milliseconds(elapsed),
        failure: failure
            .map(|failure| PageFailure { kind: failure.kind.as_str().to_owned(), message: failure.message }),
        mime_type: (!mime_type.is_empty()).then(|| mime_type.to_owned()),
        text,
        base64,
        bytes,
        sent_bytes: sent as u64,
        truncated: truncated || sent < data.len(),
        dialog: open.map(dialog),
        advice,
    }
}
