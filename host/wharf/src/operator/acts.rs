//! What an operator asks of one host.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::Value;
use wharf_core::{
    Code, Error, TerminalOwner,
    service::operator::{ApprovalReport, OperatorList, OperatorRequest},
};
use wharf_terminal::{TerminalError, TerminalId, TerminalInfo, TerminalSize, Terminals};

use super::{audit, configuring, missing::none, pages, plugins, processes, recording, report, sessions, state};
use crate::host::Host;

/// What is told of processes at most: the newest.
const MOST_PROCESSES: usize = 1_000;
/// What is told of streams at most: the oldest.
const MOST_STREAMS: usize = 1_000;

pub(super) async fn operate(host: &Host, request: OperatorRequest) -> Result<Value, Error> {
    match request {
        OperatorRequest::SignIn { .. } => Ok(Value::Null),
        OperatorRequest::List { of } => list(host, of).await,
        OperatorRequest::CancelCall { call } => match host.running_calls().cancel(&call) {
            true => Ok(Value::Null),
            false => Err(none("call")),
        },
        OperatorRequest::TypeBytes { terminal, content, force } => {
            let bytes = STANDARD.decode(content).map_err(|_| Error::new(Code::Invalid, "`content` is Base64"))?;
            let (terminals, id) = terminal_of(host, &terminal)?;
            terminals.type_for_operator(id, bytes, force).await?;
            Ok(Value::Null)
        }
        OperatorRequest::ResizeTerminal { terminal, columns, rows } => {
            let size = TerminalSize::new(columns, rows).map_err(TerminalError::from)?;
            let (terminals, id) = terminal_of(host, &terminal)?;
            terminals.resize_for_operator(id, size)?;
            Ok(Value::Null)
        }
        OperatorRequest::CloseTerminal { terminal, grace } => {
            let (terminals, id) = terminal_of(host, &terminal)?;
            let (owner, _) = listed(terminals, id)?;
            let closed = terminals.close_for_operator(id, Duration::from_millis(grace)).await;
            json(&report::of_terminal(&owner, &closed.ok_or_else(|| none("terminal"))?))
        }
        OperatorRequest::Recording { terminal, from, bytes } => {
            let (terminals, id) = terminal_of(host, &terminal)?;
            let file = listed(terminals, id)?.1.recording.ok_or_else(|| none("recording"))?;
            json(&recording::piece(terminals.at_rest().clone(), file, from, bytes).await?)
        }
        OperatorRequest::ProcessOutput { process, stream, from, bytes } => {
            json(&processes::output(host, &process, stream, from, bytes).await?)
        }
        OperatorRequest::LookAtProcess { process } => json(&processes::look(host, &process).await?),
        OperatorRequest::StopProcess { process, grace } => json(&processes::stop(host, &process, grace).await?),
        OperatorRequest::LookAtPage { page } => json(&pages::look(host, &page)?),
        OperatorRequest::DrawPage { page } => json(&pages::draw(host, &page).await?),
        OperatorRequest::ClosePage { page } => json(&pages::close(host, &page).await?),
        OperatorRequest::EndSession { tenant, session } => sessions::end(host, &tenant, &session).await,
        OperatorRequest::RemoveFiles { tenant, session } => sessions::remove_files(host, tenant, session).await,
        OperatorRequest::Buckets(selection) => json(&state::buckets(host, selection).await?),
        OperatorRequest::ExportState(selection) => json(&state::export(host, selection).await?),
        OperatorRequest::ClearState(selection) => json(&state::clear(host, selection).await?),
        OperatorRequest::DrainHost { host: name, is_draining } => {
            match host.clustered().drain_host(&name, is_draining).await? {
                true => Ok(Value::Null),
                false => Err(none("host of a cluster")),
            }
        }
        OperatorRequest::SwitchPlugin { plugin, is_on } => {
            plugins::switch(host, &plugin, is_on).await?;
            Ok(Value::Null)
        }
        OperatorRequest::LookAtPlugin { plugin } => json(&plugins::look(host, plugin).await?),
        OperatorRequest::Tool { tool } => plugins::tool(host, &tool),
        OperatorRequest::TryTool { tool, arguments, session } => {
            json(&plugins::try_tool(host, tool, arguments, session).await?)
        }
        OperatorRequest::Grants { plugin } => json(&configuring::grants(host, plugin).await?),
        OperatorRequest::Configure { change, is_trial } => json(&configuring::change(host, change, is_trial).await?),
        OperatorRequest::Install { change, is_trial } => json(&configuring::install(host, change, is_trial).await?),
        OperatorRequest::Answer { approval, answer } => {
            let call = host.approvals().answer(&approval, answer);
            json(&ApprovalReport::from(&call.ok_or_else(|| none("call that waits"))?))
        }
        OperatorRequest::Audit(query) => audit::read(host.audit_lines(), *query).await,
    }
}

async fn list(host: &Host, of: OperatorList) -> Result<Value, Error> {
    match of {
        OperatorList::Hosts => json(&[host.host_report()]),
        OperatorList::Calls => json(&host.running_calls().list()),
        OperatorList::Terminals => {
            let all = host.terminals().map(|terminals| terminals.all()).unwrap_or_default();
            json(&all.iter().map(|(owner, info)| report::of_terminal(owner, info)).collect::<Vec<_>>())
        }
        OperatorList::Processes => {
            let all = match host.processes() {
                Some(processes) => processes.all().await,
                None => Vec::new(),
            };
            let newest = &all[all.len().saturating_sub(MOST_PROCESSES)..];
            json(&newest.iter().map(|(owner, process)| report::of_process(owner, process)).collect::<Vec<_>>())
        }
        OperatorList::Pages => {
            let all = host.webviews().map(|webviews| webviews.all()).unwrap_or_default();
            json(&all.iter().map(|(owner, page)| report::of_page(owner, page)).collect::<Vec<_>>())
        }
        OperatorList::Streams => {
            let all = host.streams().all();
            json(&all.iter().take(MOST_STREAMS).map(|(owner, info)| report::of_stream(owner, info)).collect::<Vec<_>>())
        }
        OperatorList::State => json(&state::list(host).await?),
        OperatorList::Sessions => json(&sessions::list(host).await?),
        OperatorList::Cluster => json(&host.clustered().hosts().await?),
        OperatorList::Plugins => json(&host.plugins()),
        OperatorList::Approvals => {
            let waiting = host.approvals().waiting();
            json(&waiting.iter().map(ApprovalReport::from).collect::<Vec<_>>())
        }
    }
}

pub(super) fn json(answer: &(impl Serialize + ?Sized)) -> Result<Value, Error> {
    serde_json::to_value(answer).map_err(|error| Error::new(Code::Internal, error.to_string()))
}

fn terminal_of<'h>(host: &'h Host, id: &str) -> Result<(&'h Arc<Terminals>, TerminalId), Error> {
    let id = id.parse().map_err(|_| none("terminal"))?;
    Ok((host.terminals().ok_or_else(|| none("terminal"))?, id))
}

fn listed(terminals: &Terminals, id: TerminalId) -> Result<(TerminalOwner, TerminalInfo), Error> {
    terminals.all().into_iter().find(|(_, info)| info.id == id).ok_or_else(|| none("terminal"))
}
