//! One page of the test host: its requests, its dialog, its logs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use wharf_contract::webview::NumberedEntry;

use super::script::{PageRequest, Reaction, ReactionCue, ScriptedOutcome, WebPageScript};
use crate::webview::{FailureKind, LogPage, Outcome, PageInfo, PageStatus, RequestState, ResultPiece};
use crate::{ToolError, clock};

const LARGEST_RESULT: usize = 1 << 20;
const CANCELLED: &str = "the request was cancelled";

/// One page, as the clones of a test host share it.
#[derive(Debug)]
pub(in crate::testing) struct TestPage {
    pub(super) owner: (String, Option<String>),
    pub(super) info: PageInfo,
    pub(super) script: Arc<WebPageScript>,
    /// The parts of the script that were played and are for once.
    pub(super) used: Vec<usize>,
    pub(super) requests: BTreeMap<String, TestRequest>,
    pub(super) asked: Vec<PageRequest>,
    pub(super) logs: BTreeMap<String, Vec<Value>>,
    pub(super) dialog_answers: Vec<(bool, Option<String>)>,
}

#[derive(Debug)]
pub(super) struct TestRequest {
    reaction: Reaction,
    max_bytes: usize,
    ended: Option<ScriptedOutcome>,
    acknowledged: bool,
}

impl TestPage {
    pub(super) fn open(&self) -> Result<(), ToolError> {
        if self.info.is_closed() { Err(ToolError::gone("this page is closed")) } else { Ok(()) }
    }

    pub(super) fn close(&mut self) {
        self.info.status = PageStatus::Closed;
        self.info.closed_because = Some("owner".to_owned());
        self.info.dialog = None;
        for request in self.requests.values_mut() {
            request.cancel();
        }
    }

    pub(super) fn ask(&mut self, asked: PageRequest, max_bytes: u32) -> Result<String, ToolError> {
        self.open()?;
        let fallback = if matches!(asked, PageRequest::Script { .. }) { Value::Null } else { serde_json::json!({}) };
        let stops = matches!(&asked, PageRequest::Operation { name, .. } if name == "stop");
        let reaction = match &self.info.dialog {
            Some(dialog) if !stops => {
                let message = format!("a {} dialog is open and has to be answered first", dialog.kind);
                Reaction::fails(FailureKind::DialogOpen, message)
            }
            _ => self.reaction(&asked).unwrap_or_else(|| Reaction::value(fallback)),
        };
        self.asked.push(asked);
        let id = format!("{}-request-{}", self.info.id, self.requests.len() + 1);
        let limit = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        let max_bytes = if limit == 0 { LARGEST_RESULT } else { limit.min(LARGEST_RESULT) };
        if let Some(dialog) = &reaction.dialog {
            self.info.dialog = Some(dialog.clone());
        }
        let mut request = TestRequest { reaction, max_bytes, ended: None, acknowledged: false };
        if self.info.dialog.is_none() || request.reaction.dialog.is_none() {
            self.proceed(&mut request);
        }
        self.requests.insert(id.clone(), request);
        Ok(id)
    }

    fn reaction(&mut self, asked: &PageRequest) -> Option<Reaction> {
        let fits = |cue: &ReactionCue| match (cue, asked) {
            (ReactionCue::Script(part), PageRequest::Script { source, .. }) => source.contains(part),
            (ReactionCue::Operation(wanted, part), PageRequest::Operation { name, parameters }) => {
                wanted == name && parameters.contains(part)
            }
            _ => false,
        };
        let parts = self.script.parts.iter().enumerate();
        let (index, (_, reaction)) =
            parts.filter(|(index, _)| !self.used.contains(index)).find(|(_, (cue, _))| fits(cue))?;
        if reaction.once {
            self.used.push(index);
        }
        Some(reaction.clone())
    }

    /// Ends a request whose waits are over and that no dialog keeps.
    fn proceed(&mut self, request: &mut TestRequest) {
        if request.ended.is_some() || request.reaction.waits > 0 || request.reaction.outcome == ScriptedOutcome::Never {
            return;
        }
        if let Some((url, title)) = request.reaction.goes_to.take() {
            (self.info.url, self.info.title) = (url, title);
        }
        for (log, entry) in request.reaction.logs.drain(..) {
            let entries = self.logs.entry(log).or_default();
            let number = entries.len() as u64 + 1;
            entries.push(json!(NumberedEntry { number, time: clock::now(), entry }));
        }
        request.ended = Some(request.reaction.outcome.clone());
    }

    pub(super) fn answer(&mut self, accept: bool, text: Option<&str>) -> Result<(), ToolError> {
        self.open()?;
        if self.info.dialog.take().is_none() {
            return Err(ToolError { retryable: false, ..ToolError::conflict("no dialog is open on this page") });
        }
        self.dialog_answers.push((accept, text.map(str::to_owned)));
        let mut requests = std::mem::take(&mut self.requests);
        requests.values_mut().for_each(|request| self.proceed(request));
        self.requests = requests;
        Ok(())
    }

    pub(super) fn outcome(&mut self, id: &str, waits: bool) -> Outcome {
        let Some(mut request) = self.requests.remove(id) else { return nothing(RequestState::Unknown) };
        if waits && self.info.dialog.is_none() {
            self.proceed(&mut request);
            request.reaction.waits = request.reaction.waits.saturating_sub(1);
        }
        let outcome = request.outcome(self);
        self.requests.insert(id.to_owned(), request);
        outcome
    }

    pub(super) fn with_request<T>(
        &mut self,
        id: &str,
        act: impl FnOnce(&mut TestRequest) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        act(self.requests.get_mut(id).ok_or_else(|| ToolError::not_found("there is no such request"))?)
    }

    pub(super) fn pending(&self) -> u32 {
        let pending = self.requests.values().filter(|request| request.ended.is_none()).count();
        u32::try_from(pending).unwrap_or(u32::MAX)
    }

    pub(super) fn entries(&self, log: &str, after: u64, max: u32) -> Result<LogPage, ToolError> {
        if !matches!(log, "console" | "network" | "downloads") {
            return Err(ToolError::invalid(format!(
                "there is no log `{log}`: they are console, network and downloads"
            )));
        }
        let all = self.logs.get(log).map(Vec::as_slice).unwrap_or_default();
        let first = usize::try_from(after).unwrap_or(usize::MAX).min(all.len());
        let most = usize::try_from(max.clamp(1, 1_000)).unwrap_or(usize::MAX);
        let entries: Vec<Value> = all.iter().skip(first).take(most).cloned().collect();
        let next = u64::try_from(first + entries.len()).unwrap_or(u64::MAX);
        Ok(LogPage { entries, next, lost: 0 })
    }
}

impl TestRequest {
    pub(super) fn acknowledge(&mut self) {
        self.acknowledged |= self.ended.is_some();
    }

    pub(super) fn cancel(&mut self) {
        let cancelled = || ScriptedOutcome::Failed { kind: FailureKind::Cancelled, message: CANCELLED.to_owned() };
        self.ended.get_or_insert_with(cancelled);
    }

    pub(super) fn read(&self, from: u64, max_bytes: u32) -> Result<ResultPiece, ToolError> {
        let Some(ScriptedOutcome::Done { data, .. }) = &self.ended else {
            return Err(ToolError::conflict("this request has no result"));
        };
        let start = usize::try_from(from).unwrap_or(usize::MAX).min(data.len());
        let most = usize::try_from(max_bytes).unwrap_or(usize::MAX).min(LARGEST_RESULT);
        let mut next = start.saturating_add(most).min(data.len());
        while next < data.len() && next > start + 1 && data.get(next).is_some_and(|byte| byte & 0xc0 == 0x80) {
            next -= 1;
        }
        let length = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let piece = data.get(start..next).unwrap_or_default().to_vec();
        Ok(ResultPiece { start: length(start), next: length(next), bytes: length(data.len()), data: piece })
    }

    fn outcome(&self, page: &TestPage) -> Outcome {
        let dialog = page.info.dialog.clone();
        let mut outcome = match &self.ended {
            _ if self.acknowledged => nothing(RequestState::Expired),
            None => nothing(RequestState::Pending),
            Some(ScriptedOutcome::Failed { kind, message }) => {
                Outcome { kind: Some(kind.clone()), message: message.clone(), ..nothing(RequestState::Failed) }
            }
            Some(ScriptedOutcome::Done { mime_type, data }) => {
                let shown = self.read(0, u32::try_from(self.max_bytes).unwrap_or(u32::MAX));
                let shown = shown.map(|piece| piece.data).unwrap_or_default();
                let bytes = u64::try_from(data.len()).unwrap_or(u64::MAX);
                let (truncated, mime_type) = (shown.len() < data.len(), mime_type.clone());
                Outcome { mime_type, data: shown, bytes, truncated, ..nothing(RequestState::Done) }
            }
            Some(ScriptedOutcome::Never) => nothing(RequestState::Pending),
        };
        outcome.dialog = dialog;
        outcome
    }
}

pub(super) fn nothing(state: RequestState) -> Outcome {
    Outcome {
        state,
        elapsed: Duration::ZERO,
        kind: None,
        message: String::new(),
        mime_type: String::new(),
        data: Vec::new(),
        bytes: 0,
        truncated: false,
        dialog: None,
        advice: None,
        meta: None,
    }
}
