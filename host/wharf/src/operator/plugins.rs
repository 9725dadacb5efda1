//! Plugins and their tools, for the operator: switched, looked at, tried.

use std::sync::Arc;

use serde_json::{Map, Value};
use wharf_core::{
    Answer, CallRequest, Code, Context, Error, PluginName, SessionId, TenantId, ToolService as _,
    service::{
        Caller, Viewer,
        input::InputRequired,
        operator::{TrialContent, TrialReport},
    },
    text::with_causes,
};

use super::missing::none;
use crate::host::{Host, plugins::PluginError};

/// What the audit says of who tries a tool.
const CLIENT: &str = "wharf console";

/// Switches a plugin on or off.
pub(super) async fn switch(host: &Host, plugin: &PluginName, is_on: bool) -> Result<(), Error> {
    let switching = match is_on {
        true => host.enable_plugin(plugin).await,
        false => host.disable_plugin(plugin).await,
    };
    switching.map(drop).map_err(|error| match error {
        PluginError::Unknown { .. } => none("plugin"),
        error => Error::new(Code::Conflict, with_causes(&error)),
    })
}

/// A tool as clients are told of it.
pub(super) fn tool(host: &Host, name: &str) -> Result<Value, Error> {
    let tenant = TenantId::local();
    let tools = host.tools(Viewer::of_tenant(&tenant));
    let found = tools.iter().find(|tool| tool.name == name).ok_or_else(|| none("tool"))?;
    super::acts::json(found)
}

/// Calls a tool as an agent would, with a context of the local tenant. Dropping this cancels the call.
pub(super) async fn try_tool(
    host: &Host,
    name: String,
    arguments: Map<String, Value>,
    session: SessionId,
) -> Result<TrialReport, Error> {
    let mut caller = Caller::new(Context::new(TenantId::local(), session));
    caller.client = Some(Arc::from(CLIENT));
    let _cancel = caller.cancel.clone().drop_guard();
    Ok(report(&host.call(CallRequest::of(caller, name, arguments)).await?))
}

fn report(answer: &Answer) -> TrialReport {
    let parts = answer.content.iter().map(|part| TrialContent {
        mime_type: part.mime_type.to_string(),
        text: part.as_text().map(str::to_owned),
        bytes: part.data.len() as u64,
    });
    TrialReport {
        is_error: answer.is_error,
        content: parts.collect(),
        structured: answer.structured.clone(),
        asks: answer.input_required.as_ref().map(asked).unwrap_or_default(),
    }
}

fn asked(required: &InputRequired) -> Vec<String> {
    let message = |parameters: &Map<String, Value>| {
        parameters.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    required.requests.values().map(|request| message(&request.parameters)).collect()
}
