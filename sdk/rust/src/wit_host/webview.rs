//! The web pages of [`WitHost`]. Wasm only; it converts and holds no logic.

use std::time::Duration;

use super::WitHost;
use crate::ToolError;
use crate::bindings::wharf::plugin::webview;
use crate::host::HostWebPages;
use crate::process::milliseconds;
use crate::webview::{Dialog, LogPage, Outcome, PageInfo, PageOptions, ResultPiece, Script};

impl HostWebPages for WitHost {
    fn webview_status(&self) -> Result<String, ToolError> {
        Ok(webview::status()?)
    }

    fn open_page(&self, options: &PageOptions) -> Result<PageInfo, ToolError> {
        Ok(webview::open(&options.into())?.into())
    }

    fn list_pages(&self) -> Result<Vec<PageInfo>, ToolError> {
        Ok(webview::list()?.into_iter().map(PageInfo::from).collect())
    }

    fn page(&self, id: &str) -> Result<PageInfo, ToolError> {
        Ok(webview::get(id)?.into())
    }

    fn close_page(&self, id: &str) -> Result<(), ToolError> {
        Ok(webview::close(id)?)
    }

    fn execute_script(&self, id: &str, script: &Script) -> Result<String, ToolError> {
        Ok(webview::execute_script(id, &script.source, &script.into())?)
    }

    fn perform(
        &self,
        id: &str,
        operation: &str,
        parameters: &str,
        deadline_milliseconds: u64,
    ) -> Result<String, ToolError> {
        Ok(webview::perform(id, operation, parameters, deadline_milliseconds)?)
    }

    fn poll_request(&self, request: &str) -> Result<Outcome, ToolError> {
        Ok(webview::poll(request)?.into())
    }

    fn wait_for_request(&self, request: &str, milliseconds: u64) -> Result<Outcome, ToolError> {
        Ok(webview::wait(request, milliseconds)?.into())
    }

    fn acknowledge(&self, request: &str) -> Result<(), ToolError> {
        Ok(webview::acknowledge(request)?)
    }

    fn cancel_request(&self, request: &str) -> Result<(), ToolError> {
        Ok(webview::cancel(request)?)
    }

    fn read_result(&self, request: &str, from: u64, max_bytes: u32) -> Result<ResultPiece, ToolError> {
        let webview::ResultPiece { start, next, bytes, data } = webview::read_result(request, from, max_bytes)?;
        Ok(ResultPiece { start, next, bytes, data })
    }

    fn answer_dialog(&self, id: &str, accept: bool, text: Option<&str>) -> Result<(), ToolError> {
        Ok(webview::answer_dialog(id, accept, text)?)
    }

    fn log_entries(&self, id: &str, log: &str, after: u64, max: u32) -> Result<LogPage, ToolError> {
        let webview::LogPage { entries, next, lost } = webview::entries(id, log, after, max)?;
        Ok(LogPage { entries: serde_json::from_str(&entries)?, next, lost })
    }
}

impl From<&PageOptions> for webview::PageOptions {
    fn from(options: &PageOptions) -> Self {
        let (width, height) = options.size;
        let dialogs = options.dialogs.as_ref().map(ToString::to_string).unwrap_or_default();
        Self { width, height, dialogs, options: options.options() }
    }
}

impl From<&Script> for webview::ScriptOptions {
    fn from(script: &Script) -> Self {
        Self {
            world: script.world().to_string(),
            milliseconds: script.deadline.map_or(0, milliseconds),
            max_bytes: script.max_bytes,
            options: script.options(),
        }
    }
}

impl From<webview::Dialog> for Dialog {
    fn from(dialog: webview::Dialog) -> Self {
        let webview::Dialog { kind, message, default_text, open_milliseconds } = dialog;
        Self { kind: kind.into(), message, default_text, open: Duration::from_millis(open_milliseconds) }
    }
}

impl From<webview::PageInfo> for PageInfo {
    fn from(info: webview::PageInfo) -> Self {
        Self {
            id: info.id,
            status: info.status.into(),
            url: info.url,
            title: info.title,
            width: info.width,
            height: info.height,
            dialog: info.dialog.map(Dialog::from),
            pending: info.pending,
            opened: info.opened,
            last_used: info.last_used,
            closed_because: info.closed_because,
            meta: info.meta,
        }
    }
}

impl From<webview::Outcome> for Outcome {
    fn from(outcome: webview::Outcome) -> Self {
        Self {
            state: outcome.state.into(),
            elapsed: Duration::from_millis(outcome.elapsed_milliseconds),
            kind: (!outcome.kind.is_empty()).then(|| outcome.kind.into()),
            message: outcome.message,
            mime_type: outcome.mime_type,
            data: outcome.data,
            bytes: outcome.bytes,
            truncated: outcome.truncated,
            dialog: outcome.dialog.map(Dialog::from),
            advice: outcome.advice,
            meta: outcome.meta,
        }
    }
}
