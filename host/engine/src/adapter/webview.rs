//! `webview`: web pages of the calling session.

mod convert;

use std::time::Duration;

use wharf_core::{Error, Origin, WebViewOwner, grant::GrantedWebView, service::GuardedAct};
use wharf_webview::{DialogAnswer, OpenPageRequest, PageId, PageWorkspace, RequestId, Script, WebViews, log_named};
use wharf_workspace::Workspace;

use super::text;
use crate::{
    bindings::wharf::plugin::webview::{self as wit, Host},
    call::ActiveCall,
    failure::Failure,
    guest::Guest,
    watch::weigh,
};

/// What one piece of a result has at most.
const MAX_PIECE_BYTES: u32 = 1 << 20;

/// A page, and the proof that this call may ask for it.
struct OwnedPage<'c> {
    webviews: &'c WebViews,
    granted: GrantedWebView<'c>,
    owner: WebViewOwner,
    id: PageId,
}

/// A request, and the same proof.
struct OwnedRequest<'c> {
    webviews: &'c WebViews,
    owner: WebViewOwner,
    id: RequestId,
}

weigh! {
    wit::PageOptions { dialogs, options | width, height };
    wit::ScriptOptions { world, options | milliseconds, max_bytes };
    wit::Dialog { message | kind, default_text, open_milliseconds };
    wit::PageInfo {
        url, title, dialog
        | id, status, width, height, pending, opened, last_used, closed_because, meta
    } + 256;
    wit::LogPage { entries | next, lost };
    // Its data fills what a read may return. The host's words beside it are free, so that a
    // read that fits never ends the call.
    wit::Outcome {
        data
        | state, elapsed_milliseconds, kind, message, mime_type, bytes, truncated, dialog, advice, meta
    };
    wit::ResultPiece { data | start, next, bytes };
}

impl ActiveCall {
    fn granted_webview(&self) -> Result<(GrantedWebView<'_>, &WebViews), Error> {
        Ok((self.grants().webview(&self.plugin)?, self.backends.webviews()?))
    }

    fn owned_page(&self, id: &str) -> Result<OwnedPage<'_>, Error> {
        let (granted, webviews) = self.granted_webview()?;
        let owner = granted.owner(self.context());
        Ok(OwnedPage { webviews, granted, owner, id: id.parse().map_err(Error::from)? })
    }

    fn owned_request(&self, id: &str) -> Result<OwnedRequest<'_>, Error> {
        let (granted, webviews) = self.granted_webview()?;
        let owner = granted.owner(self.context());
        Ok(OwnedRequest { webviews, owner, id: id.parse().map_err(Error::from)? })
    }
}

impl Host for Guest {
    fn status(&mut self) -> Result<String, Failure> {
        let call = &*self.call;
        let (granted, webviews) = call.granted_webview()?;
        let status = text::json(&webviews.status(&granted))?;
        Ok(status)
    }

    fn open(&mut self, options: wit::PageOptions) -> Result<wit::PageInfo, Failure> {
        let call = &*self.call;
        let wit::PageOptions { width, height, dialogs, options } = options;
        let (granted, webviews) = call.granted_webview()?;
        // What the page asks for by itself outlives the call.
        let granted = match &call.request.approver {
            Some(approver) => granted.asking(approver.origin_rules()),
            None => granted,
        };
        let wanted = OpenPageRequest::read(width, height, &dialogs, options.as_deref())?;
        let grant = granted.grant();
        let place = match &call.backends.workspaces {
            // A workspace is made only where files may come or go.
            Some(workspaces) if grant.downloads || grant.uploads => {
                let Workspace { files, user, stay, .. } = workspaces.create(&granted.workspace(call.context()))?;
                Some(PageWorkspace { files, user, stay })
            }
            Some(_) | None => None,
        };
        Ok(webviews.open(&granted, call.context(), place, wanted)?.into())
    }

    fn list(&mut self) -> Result<Vec<wit::PageInfo>, Failure> {
        let call = &*self.call;
        let (granted, webviews) = call.granted_webview()?;
        let listed: Vec<wit::PageInfo> =
            webviews.list(&granted.owner(call.context())).into_iter().map(Into::into).collect();
        Ok(listed)
    }

    fn get(&mut self, id: String) -> Result<wit::PageInfo, Failure> {
        let call = &*self.call;
        let OwnedPage { webviews, owner, id, .. } = call.owned_page(&id)?;
        let info = webviews.info(&owner, id)?.into();
        Ok(info)
    }

    async fn close(&mut self, id: String) -> Result<(), Failure> {
        let call = &*self.call;
        let OwnedPage { webviews, owner, id, .. } = call.owned_page(&id)?;
        Ok(webviews.close(&owner, id, call.patience(u64::MAX)).await?)
    }

    fn execute_script(&mut self, id: String, script: String, options: wit::ScriptOptions) -> Result<String, Failure> {
        let call = &*self.call;
        let wit::ScriptOptions { world, milliseconds, max_bytes, options } = options;
        let OwnedPage { webviews, owner, id, .. } = call.owned_page(&id)?;
        let script = Script::read(script, &world, milliseconds, max_bytes, options.as_deref())?;
        Ok(webviews.execute(&owner, id, script)?.to_string())
    }

    async fn perform(
        &mut self,
        id: String,
        operation: String,
        parameters: String,
        milliseconds: u64,
    ) -> Result<String, Failure> {
        let call = &*self.call;
        let OwnedPage { webviews, mut granted, owner, id: page } = call.owned_page(&id)?;
        if call.request.approver.is_some()
            && let Some(url) = webviews.destination(&granted, &owner, page, &operation, &parameters)?
            && let Some(origin) = Origin::of(&url)
            && call.approved(GuardedAct::Open { origin: &origin, address: url.as_str() }).await?
        {
            granted = call.granted_webview()?.0;
            webviews.let_through(&owner, page, &origin)?;
        }
        let deadline = (milliseconds > 0).then(|| Duration::from_millis(milliseconds));
        Ok(webviews.perform(&granted, &owner, page, &operation, &parameters, deadline)?.to_string())
    }

    /// No more of the result than the call may still move: the rest can be read piece by
    /// piece.
    fn poll(&mut self, request: String) -> Result<wit::Outcome, Failure> {
        let call = &*self.call;
        let (granted, webviews) = call.granted_webview()?;
        let Ok(id) = request.parse() else { return Ok(convert::unknown()) };
        let outcome = webviews.poll(&granted.owner(call.context()), id);
        let outcome = convert::outcome(outcome, call.readable_bytes(u32::MAX, 1));
        Ok(outcome)
    }

    async fn wait(&mut self, request: String, milliseconds: u64) -> Result<wit::Outcome, Failure> {
        let call = &*self.call;
        let (granted, webviews) = call.granted_webview()?;
        let Ok(id) = request.parse() else { return Ok(convert::unknown()) };
        let outcome = webviews.wait(&granted.owner(call.context()), id, call.patience(milliseconds)).await;
        let outcome = convert::outcome(outcome, call.readable_bytes(u32::MAX, 1));
        Ok(outcome)
    }

    fn acknowledge(&mut self, request: String) -> Result<(), Failure> {
        let call = &*self.call;
        let OwnedRequest { webviews, owner, id } = call.owned_request(&request)?;
        Ok(webviews.acknowledge(&owner, id)?)
    }

    fn cancel(&mut self, request: String) -> Result<(), Failure> {
        let call = &*self.call;
        let OwnedRequest { webviews, owner, id } = call.owned_request(&request)?;
        Ok(webviews.cancel(&owner, id)?)
    }

    async fn read_result(&mut self, request: String, from: u64, max_bytes: u32) -> Result<wit::ResultPiece, Failure> {
        let call = &*self.call;
        let OwnedRequest { webviews, owner, id } = call.owned_request(&request)?;
        let most = call.readable_bytes(max_bytes.min(MAX_PIECE_BYTES), 1);
        let piece = webviews.read_result(&owner, id, from, most, call.patience(u64::MAX)).await?;
        Ok(piece.into())
    }

    fn answer_dialog(&mut self, id: String, accept: bool, text: Option<String>) -> Result<(), Failure> {
        let call = &*self.call;
        let OwnedPage { webviews, owner, id, .. } = call.owned_page(&id)?;
        Ok(webviews.answer_dialog(&owner, id, DialogAnswer { accept, text })?)
    }

    fn entries(&mut self, id: String, log: String, after: u64, max: u32) -> Result<wit::LogPage, Failure> {
        let call = &*self.call;
        let OwnedPage { webviews, owner, id, .. } = call.owned_page(&id)?;
        let log = log_named(&log)?;
        let page = webviews.entries(&owner, id, log, after, usize::try_from(max).unwrap_or(usize::MAX))?;
        Ok(page.into())
    }
}
