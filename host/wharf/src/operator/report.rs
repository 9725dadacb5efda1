//! Terminals, processes, pages, streams and waiting calls in plain words, for the operator, who sees them all.

use chrono::{DateTime, SecondsFormat, Utc};
use wharf_completion::stream::StreamInfo;
use wharf_core::{
    StreamOwner, TerminalOwner, WebViewOwner,
    service::operator::{
        ApprovalReport, PageReport, PollReport, ProcessReport, StreamReport, TerminalReport, TurnReport,
    },
};
use wharf_process::{Owner, ProcessSnapshot};
use wharf_terminal::{TerminalInfo, TurnState};
use wharf_webview::PageInfo;

use crate::{approvals::WaitingCall, terminals::exit};

pub(super) fn time(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A terminal, and whose it is.
pub(crate) fn of_terminal(owner: &TerminalOwner, info: &TerminalInfo) -> TerminalReport {
    TerminalReport {
        id: info.id.to_string(),
        tenant: owner.tenant.to_string(),
        plugin: owner.plugin.to_string(),
        session: owner.session.to_string(),
        assistant: owner.assistant.as_ref().map(ToString::to_string),
        command: info.command.clone(),
        status: info.status.as_str().to_owned(),
        columns: info.size.columns(),
        rows: info.size.rows(),
        pid: info.pid,
        started: time(info.started),
        last_used: time(info.last_used),
        ended: info.ended.map(time),
        exit: exit(info).and_then(|exit| serde_json::to_value(exit).ok()),
        because: info.because.clone(),
        restarts: info.restarts,
        recording: info.recording.as_ref().map(|file| file.display().to_string()),
        viewers: info.viewers as u64,
        turn: info.turn.as_ref().map(of_turn),
    }
}

fn of_turn(turn: &TurnState) -> TurnReport {
    let verdict = turn.decision.verdict.filter(|_| !turn.cancelled);
    TurnReport {
        number: turn.number,
        is_over: turn.is_over(),
        reason: verdict.map(|verdict| verdict.reason.as_str().to_owned()),
        confidence: verdict.map(|verdict| verdict.confidence.as_str().to_owned()),
    }
}

/// A process, whose it is, and how it was polled.
pub(crate) fn of_process(owner: &Owner, process: &ProcessSnapshot) -> ProcessReport {
    ProcessReport {
        id: process.id.to_string(),
        tenant: owner.tenant.to_string(),
        plugin: owner.plugin.to_string(),
        session: owner.session.to_string(),
        command: process.command.clone(),
        status: process.status.as_str().to_owned(),
        pid: process.pid,
        started: time(process.started),
        finished: process.finished.map(time),
        exit: process.exit.as_ref().and_then(|exit| serde_json::to_value(exit).ok()),
        reason: process.reason.clone(),
        descendants: process.descendants,
        stdout_bytes: process.stdout.bytes,
        stderr_bytes: process.stderr.bytes,
        polls: PollReport(serde_json::to_value(process.polls.to_contract()).unwrap_or_default()),
    }
}

/// A page, and whose it is.
pub(super) fn of_page(owner: &WebViewOwner, info: &PageInfo) -> PageReport {
    PageReport {
        id: info.id.to_string(),
        tenant: owner.tenant.to_string(),
        plugin: owner.plugin.to_string(),
        session: owner.session.to_string(),
        address: info.url.clone(),
        title: info.title.clone(),
        status: info.status.as_str().to_owned(),
        opened: time(info.opened),
        last_used: time(info.last_used),
        requests_pending: info.pending as u64,
    }
}

/// A stream, and whose it is.
pub(super) fn of_stream(owner: &StreamOwner, info: &StreamInfo) -> StreamReport {
    StreamReport {
        id: info.id.to_string(),
        tenant: owner.tenant.to_string(),
        plugin: owner.plugin.to_string(),
        session: owner.session.to_string(),
        title: info.title.clone(),
        status: info.status.map(str::to_owned),
        ended: info.ended.map(|ended| ended.as_str().to_owned()),
        turn: info.turn,
        events: info.next.saturating_sub(1),
        bytes: info.bytes,
        age_milliseconds: info.age_ms,
        idle_milliseconds: info.idle_ms,
    }
}

impl From<&WaitingCall> for ApprovalReport {
    fn from(call: &WaitingCall) -> Self {
        Self {
            id: call.id.clone(),
            tool: call.tool.clone(),
            plugin: call.plugin.to_string(),
            digest: call.digest.map(|digest| digest.to_string()),
            tenant: call.tenant.to_string(),
            session: call.session.to_string(),
            assistant: call.assistant.as_ref().map(ToString::to_string),
            thread: call.thread.as_ref().map(ToString::to_string),
            client: call.client.as_deref().map(str::to_owned),
            arguments: call.arguments.clone(),
            argument_bytes: call.argument_bytes,
            wants: call.wants.clone(),
            rule: call.rule.clone(),
            waited_milliseconds: call.waited_milliseconds,
            left_milliseconds: call.left_milliseconds,
        }
    }
}
