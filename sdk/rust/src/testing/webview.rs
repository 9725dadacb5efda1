//! Web pages of the test host, which play a part from a script.
//!
//! They keep what a tool can observe of the contract: owners are apart, requests
//! are acknowledged and cancelled, dialogs keep them from ending, results are cut
//! and paged. They run no JavaScript: the whole of a plugin is tested in the host.
//! No time passes here: a wait in vain returns at once.

pub(super) mod script;
pub(super) mod state;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::TestCall;
use super::host::TestHost;
use crate::host::HostWebPages;
use crate::webview::{LogPage, Outcome, PageInfo, PageOptions, PageStatus, RequestState, ResultPiece, Script};
use crate::{ToolError, clock};

use script::{PageRequest, WebPageScript};
use state::{TestPage, nothing};

impl TestCall {
    /// Grants web pages, which play this part.
    #[must_use]
    pub fn web_pages_of(mut self, script: WebPageScript) -> Self {
        self.host.web_pages = Some(Arc::new(script));
        self
    }

    /// What was asked of a page, in order.
    #[must_use]
    pub fn asked(&self, page: &str) -> Vec<PageRequest> {
        self.seen_of(page, |page| page.asked.clone())
    }

    /// How the dialogs of a page were answered: yes or no, and the text.
    #[must_use]
    pub fn dialog_answers(&self, page: &str) -> Vec<(bool, Option<String>)> {
        self.seen_of(page, |page| page.dialog_answers.clone())
    }

    fn seen_of<T: Default>(&self, id: &str, see: impl FnOnce(&TestPage) -> T) -> T {
        self.host.world().pages.iter().find(|page| page.info.id == id).map(see).unwrap_or_default()
    }
}

impl TestHost {
    fn granted_pages(&self) -> Result<&Arc<WebPageScript>, ToolError> {
        self.web_pages.as_ref().ok_or_else(|| {
            ToolError::denied(
                "no web page is granted to this plugin: the operator grants it with [plugin.NAME.grants.webview]",
            )
        })
    }

    fn with_page<T>(&self, id: &str, act: impl FnOnce(&mut TestPage) -> Result<T, ToolError>) -> Result<T, ToolError> {
        self.granted_pages()?;
        let owner = self.owner();
        let mut world = self.world();
        let found = world.pages.iter_mut().find(|page| page.info.id == id && page.owner == owner);
        act(found.ok_or_else(|| ToolError::not_found("there is no such page"))?)
    }

    fn with_request<T>(
        &self,
        request: &str,
        act: impl FnOnce(&mut TestPage) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let page = request.rsplit_once("-request-").map_or(request, |(page, _)| page);
        let none = |_| ToolError::not_found("there is no such request");
        self.with_page(page, |page| Ok(act(page))).map_err(none)?
    }

    fn outcome(&self, request: &str, waits: bool) -> Result<Outcome, ToolError> {
        self.granted_pages()?;
        let found = self.with_request(request, |page| Ok(page.outcome(request, waits)));
        Ok(found.unwrap_or_else(|_| nothing(RequestState::Unknown)))
    }
}

fn now(page: &TestPage) -> PageInfo {
    PageInfo { pending: page.pending(), ..page.info.clone() }
}

impl HostWebPages for TestHost {
    fn webview_status(&self) -> Result<String, ToolError> {
        Ok(serde_json::to_string(&self.granted_pages()?.rules)?)
    }

    fn open_page(&self, options: &PageOptions) -> Result<PageInfo, ToolError> {
        let script = Arc::clone(self.granted_pages()?);
        let size = |wanted: u32, usual: u32| match wanted {
            0 => Ok(usual),
            1..=4_096 => Ok(wanted),
            _ => Err(ToolError::invalid(format!("a page is 1 to 4096 pixels wide and high, not {wanted}"))),
        };
        let (width, height) = (size(options.size.0, 1_280)?, size(options.size.1, 800)?);
        let owner = self.owner();
        let mut world = self.world();
        let open = world.pages.iter().filter(|page| page.owner == owner && !page.info.is_closed()).count();
        let maximum = script.rules.maximum_pages;
        if u64::try_from(open).unwrap_or(u64::MAX) >= maximum {
            let message = format!("{maximum} pages of yours are open, as many as you may have; close one first");
            return Err(ToolError { retryable: true, ..ToolError::limit(message) });
        }
        let info = PageInfo {
            id: format!("page-{}", world.pages.len() + 1),
            status: PageStatus::Ready,
            url: "about:blank".to_owned(),
            title: String::new(),
            width,
            height,
            dialog: None,
            pending: 0,
            opened: clock::now(),
            last_used: clock::now(),
            closed_because: None,
            meta: None,
        };
        let page = TestPage {
            owner,
            info,
            script,
            used: Vec::new(),
            requests: BTreeMap::new(),
            asked: Vec::new(),
            logs: BTreeMap::new(),
            dialog_answers: Vec::new(),
        };
        let info = page.info.clone();
        world.pages.push(page);
        Ok(info)
    }

    fn list_pages(&self) -> Result<Vec<PageInfo>, ToolError> {
        self.granted_pages()?;
        let owner = self.owner();
        Ok(self.world().pages.iter().filter(|page| page.owner == owner).map(now).collect())
    }

    fn page(&self, id: &str) -> Result<PageInfo, ToolError> {
        self.with_page(id, |page| Ok(now(page)))
    }

    fn close_page(&self, id: &str) -> Result<(), ToolError> {
        self.with_page(id, |page| {
            page.close();
            Ok(())
        })
    }

    fn execute_script(&self, id: &str, script: &Script) -> Result<String, ToolError> {
        let Script { source, isolated, frame, max_bytes, .. } = script.clone();
        self.with_page(id, |page| page.ask(PageRequest::Script { isolated, frame, source }, max_bytes))
    }

    fn perform(&self, id: &str, operation: &str, parameters: &str, _deadline: u64) -> Result<String, ToolError> {
        let asked = PageRequest::Operation { name: operation.to_owned(), parameters: parameters.to_owned() };
        self.with_page(id, |page| page.ask(asked, 0))
    }

    fn poll_request(&self, request: &str) -> Result<Outcome, ToolError> {
        self.outcome(request, false)
    }

    fn wait_for_request(&self, request: &str, _milliseconds: u64) -> Result<Outcome, ToolError> {
        self.outcome(request, true)
    }

    fn acknowledge(&self, request: &str) -> Result<(), ToolError> {
        self.with_request(request, |page| {
            page.with_request(request, |request| {
                request.acknowledge();
                Ok(())
            })
        })
    }

    fn cancel_request(&self, request: &str) -> Result<(), ToolError> {
        self.with_request(request, |page| {
            page.with_request(request, |request| {
                request.cancel();
                Ok(())
            })
        })
    }

    fn read_result(&self, request: &str, from: u64, max_bytes: u32) -> Result<ResultPiece, ToolError> {
        self.with_request(request, |page| page.with_request(request, |request| request.read(from, max_bytes)))
    }

    fn answer_dialog(&self, id: &str, accept: bool, text: Option<&str>) -> Result<(), ToolError> {
        self.with_page(id, |page| page.answer(accept, text))
    }

    fn log_entries(&self, id: &str, log: &str, after: u64, max: u32) -> Result<LogPage, ToolError> {
        self.with_page(id, |page| page.entries(log, after, max))
    }
}
