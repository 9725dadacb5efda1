//! `webview`: web pages of the calling session.

mod convert;

use std::time::Duration;

use wharf_core::{Code, Error, WebViewOwner, grant::GrantedWebView};
use wharf_webview::{DialogAnswer, PageId, Place, RequestId, Script, Wanted, WebViews, log_named};
use wharf_workspace::Workspace;

use crate::{
    bindings::wharf::plugin::{
        types,
        webview::{self as wit, Host},
    },
    guest::{Guest, Reach},
};

/// What the description of a page counts beside its texts.
const INFO_BYTES: usize = 256;
/// What one piece of a result has at most.
const MAX_PIECE_BYTES: u32 = 1 << 20;

/// A page, and the proof that this call may ask for it.
struct FoundPage<'g> {
    webviews: &'g WebViews,
    granted: GrantedWebView<'g>,
    owner: WebViewOwner,
    id: PageId,
}

/// A request, and the same proof.
struct FoundRequest<'g> {
    webviews: &'g WebViews,
    owner: WebViewOwner,
    id: RequestId,
}

impl Reach {
    fn granted_webview(&self) -> Result<(GrantedWebView<'_>, &WebViews), Error> {
        Ok((self.grants.webview(&self.plugin)?, self.rooms.webviews()?))
    }

    fn found_page(&self, id: &str) -> Result<FoundPage<'_>, Error> {
        let (granted, webviews) = self.granted_webview()?;
        let owner = granted.owner(&self.context);
        Ok(FoundPage { webviews, granted, owner, id: id.parse().map_err(Error::from)? })
    }

    fn found_request(&self, id: &str) -> Result<FoundRequest<'_>, Error> {
        let (granted, webviews) = self.granted_webview()?;
        let owner = granted.owner(&self.context);
        Ok(FoundRequest { webviews, owner, id: id.parse().map_err(Error::from)? })
    }

    fn webview_status(&self) -> Result<String, Error> {
        let (granted, webviews) = self.granted_webview()?;
        let standing = webviews.standing(&granted);
        serde_json::to_string(&standing).map_err(|error| Error::new(Code::Internal, error.to_string()))
    }

    /// Opens a page. The workspace is made only where files may come or go.
    fn open_page(&self, options: &wit::PageOptions) -> Result<wit::PageInfo, Error> {
        let (granted, webviews) = self.granted_webview()?;
        let wit::PageOptions { width, height, dialogs, options } = options;
        let wanted = Wanted::read(*width, *height, dialogs, options.as_deref())?;
        let grant = granted.grant();
        let place = match &self.rooms.workspaces {
            Some(workspaces) if grant.downloads || grant.uploads => {
                let Workspace { files, user, .. } = workspaces.create(&granted.workspace(&self.context))?;
                Some(Place { files, user })
            }
            Some(_) | None => None,
        };
        Ok(webviews.open(&granted, &self.context, place, wanted)?.into())
    }

    fn list_pages(&self) -> Result<Vec<wit::PageInfo>, Error> {
        let (granted, webviews) = self.granted_webview()?;
        Ok(webviews.list(&granted.owner(&self.context)).into_iter().map(Into::into).collect())
    }

    fn page_info(&self, id: &str) -> Result<wit::PageInfo, Error> {
        let FoundPage { webviews, owner, id, .. } = self.found_page(id)?;
        Ok(webviews.info(&owner, id)?.into())
    }

    async fn close_page(&self, id: &str) -> Result<(), Error> {
        let FoundPage { webviews, owner, id, .. } = self.found_page(id)?;
        Ok(webviews.close(&owner, id, self.patience(u64::MAX)).await?)
    }

    fn execute_script(&self, id: &str, source: String, options: &wit::ScriptOptions) -> Result<String, Error> {
        let FoundPage { webviews, owner, id, .. } = self.found_page(id)?;
        let wit::ScriptOptions { world, milliseconds, max_bytes, options } = options;
        let script = Script::read(source, world, *milliseconds, *max_bytes, options.as_deref())?;
        Ok(webviews.execute(&owner, id, script)?.to_string())
    }

    fn perform(&self, id: &str, operation: &str, parameters: &str, milliseconds: u64) -> Result<String, Error> {
        let FoundPage { webviews, granted, owner, id } = self.found_page(id)?;
        let deadline = (milliseconds > 0).then(|| Duration::from_millis(milliseconds));
        Ok(webviews.perform(&granted, &owner, id, operation, parameters, deadline)?.to_string())
    }

    /// No more of the result than the call may still move: the rest can be read
    /// piece by piece.
    fn poll_request(&self, id: &str) -> Result<wit::Outcome, Error> {
        let (granted, webviews) = self.granted_webview()?;
        let Ok(id) = id.parse() else { return Ok(convert::unknown()) };
        Ok(convert::outcome(webviews.poll(&granted.owner(&self.context), id), self.room(u32::MAX, 1)))
    }

    async fn wait_for_request(&self, id: &str, milliseconds: u64) -> Result<wit::Outcome, Error> {
        let (granted, webviews) = self.granted_webview()?;
        let Ok(id) = id.parse() else { return Ok(convert::unknown()) };
        let outcome = webviews.wait(&granted.owner(&self.context), id, self.patience(milliseconds)).await;
        Ok(convert::outcome(outcome, self.room(u32::MAX, 1)))
    }

    fn acknowledge_request(&self, id: &str) -> Result<(), Error> {
        let FoundRequest { webviews, owner, id } = self.found_request(id)?;
        Ok(webviews.acknowledge(&owner, id)?)
    }

    fn cancel_request(&self, id: &str) -> Result<(), Error> {
        let FoundRequest { webviews, owner, id } = self.found_request(id)?;
        Ok(webviews.cancel(&owner, id)?)
    }

    async fn read_result(&self, id: &str, from: u64, max_bytes: u32) -> Result<wit::ResultPiece, Error> {
        let FoundRequest { webviews, owner, id } = self.found_request(id)?;
        let room = self.room(max_bytes.min(MAX_PIECE_BYTES), 1);
        Ok(webviews.read_result(&owner, id, from, room, self.patience(u64::MAX)).await?.into())
    }

    fn answer_page_dialog(&self, id: &str, accept: bool, text: Option<String>) -> Result<(), Error> {
        let FoundPage { webviews, owner, id, .. } = self.found_page(id)?;
        Ok(webviews.answer_dialog(&owner, id, DialogAnswer { accept, text })?)
    }

    fn page_entries(&self, id: &str, log: &str, after: u64, max: u32) -> Result<wit::LogPage, Error> {
        let FoundPage { webviews, owner, id, .. } = self.found_page(id)?;
        let log = log_named(log)?;
        Ok(webviews.entries(&owner, id, log, after, usize::try_from(max).unwrap_or(usize::MAX))?.into())
    }
}

impl Host for Guest {
    fn status(&mut self) -> wasmtime::Result<Result<String, types::Error>> {
        self.budget.host_call(0)?;
        let status = self.reach().webview_status();
        self.budget.moved(status.as_ref().map_or(0, |status| status.len() as u64))?;
        Ok(status.map_err(Into::into))
    }

    fn open(&mut self, options: wit::PageOptions) -> wasmtime::Result<Result<wit::PageInfo, types::Error>> {
        self.budget.host_call((options.dialogs.len() + options.options.as_ref().map_or(0, String::len)) as u64)?;
        Ok(self.reach().open_page(&options).map_err(Into::into))
    }

    fn list(&mut self) -> wasmtime::Result<Result<Vec<wit::PageInfo>, types::Error>> {
        self.budget.host_call(0)?;
        let listed = self.reach().list_pages();
        self.budget.moved(listed.iter().flatten().map(info_bytes).sum())?;
        Ok(listed.map_err(Into::into))
    }

    fn get(&mut self, id: String) -> wasmtime::Result<Result<wit::PageInfo, types::Error>> {
        self.budget.host_call(id.len() as u64)?;
        let info = self.reach().page_info(&id);
        self.budget.moved(info.as_ref().map_or(0, info_bytes))?;
        Ok(info.map_err(Into::into))
    }

    async fn close(&mut self, id: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.budget.host_call(id.len() as u64)?;
        Ok(self.reach().close_page(&id).await.map_err(Into::into))
    }

    fn execute_script(
        &mut self,
        id: String,
        script: String,
        options: wit::ScriptOptions,
    ) -> wasmtime::Result<Result<String, types::Error>> {
        let words = options.world.len() + options.options.as_ref().map_or(0, String::len);
        self.budget.host_call((id.len() + script.len() + words) as u64)?;
        Ok(self.reach().execute_script(&id, script, &options).map_err(Into::into))
    }

    fn perform(
        &mut self,
        id: String,
        operation: String,
        parameters: String,
        milliseconds: u64,
    ) -> wasmtime::Result<Result<String, types::Error>> {
        self.budget.host_call((id.len() + operation.len() + parameters.len()) as u64)?;
        Ok(self.reach().perform(&id, &operation, &parameters, milliseconds).map_err(Into::into))
    }

    fn poll(&mut self, request: String) -> wasmtime::Result<Result<wit::Outcome, types::Error>> {
        self.budget.host_call(request.len() as u64)?;
        let outcome = self.reach().poll_request(&request);
        self.budget.moved(outcome.as_ref().map_or(0, |outcome| outcome.data.len() as u64))?;
        Ok(outcome.map_err(Into::into))
    }

    async fn wait(
        &mut self,
        request: String,
        milliseconds: u64,
    ) -> wasmtime::Result<Result<wit::Outcome, types::Error>> {
        self.budget.host_call(request.len() as u64)?;
        let outcome = self.reach().wait_for_request(&request, milliseconds).await;
        self.budget.moved(outcome.as_ref().map_or(0, |outcome| outcome.data.len() as u64))?;
        Ok(outcome.map_err(Into::into))
    }

    fn acknowledge(&mut self, request: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.budget.host_call(request.len() as u64)?;
        Ok(self.reach().acknowledge_request(&request).map_err(Into::into))
    }

    fn cancel(&mut self, request: String) -> wasmtime::Result<Result<(), types::Error>> {
        self.budget.host_call(request.len() as u64)?;
        Ok(self.reach().cancel_request(&request).map_err(Into::into))
    }

    async fn read_result(
        &mut self,
        request: String,
        from: u64,
        max_bytes: u32,
    ) -> wasmtime::Result<Result<wit::ResultPiece, types::Error>> {
        self.budget.host_call(request.len() as u64)?;
        let piece = self.reach().read_result(&request, from, max_bytes).await;
        self.budget.moved(piece.as_ref().map_or(0, |piece| piece.data.len() as u64))?;
        Ok(piece.map_err(Into::into))
    }

    fn answer_dialog(
        &mut self,
        id: String,
        accept: bool,
        text: Option<String>,
    ) -> wasmtime::Result<Result<(), types::Error>> {
        self.budget.host_call((id.len() + text.as_ref().map_or(0, String::len)) as u64)?;
        Ok(self.reach().answer_page_dialog(&id, accept, text).map_err(Into::into))
    }

    fn entries(
        &mut self,
        id: String,
        log: String,
        after: u64,
        max: u32,
    ) -> wasmtime::Result<Result<wit::LogPage, types::Error>> {
        self.budget.host_call((id.len() + log.len()) as u64)?;
        let entries = self.reach().page_entries(&id, &log, after, max);
        self.budget.moved(entries.as_ref().map_or(0, |page| page.entries.len() as u64))?;
        Ok(entries.map_err(Into::into))
    }
}

fn info_bytes(info: &wit::PageInfo) -> u64 {
    (info.url.len() + info.title.len() + info.dialog.as_ref().map_or(0, |dialog| dialog.message.len()) + INFO_BYTES)
        as u64
}
