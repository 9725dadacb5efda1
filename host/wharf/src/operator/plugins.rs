//! Plugins and their tools, for the operator: switched, looked at, tried.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Map, Value};
use wharf_core::{
    Answer, CallRequest, Code, Context, Error, PluginName, SessionId, TenantId, ToolService as _,
    limit::LimitInfo,
    service::{
        Caller, Viewer,
        input::InputRequired,
        operator::{PluginLimitReport, PluginLookReport, TrialContent, TrialReport},
    },
    text::with_causes,
};

use super::{blocking::blocking, missing::none};
use crate::{
    added::AddedPlugins,
    configuration::PluginSettings,
    host::{Host, plugins::PluginError},
    installed::{Installed, Origin},
};

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

/// Where a plugin comes from, to what its grants are bound, and what its calls may use up.
pub(super) async fn look(host: &Host, plugin: PluginName) -> Result<PluginLookReport, Error> {
    if !host.plugins().iter().any(|known| known.name == plugin) {
        return Err(none("plugin"));
    }
    let kept = host.kept();
    let settings = kept.as_ref().map(|(configuration, _)| configuration.settings_of(&plugin));
    let mut report = PluginLookReport {
        name: plugin.to_string(),
        source: None,
        manifest: None,
        signer: None,
        added: None,
        added_by: None,
        pin: settings.as_ref().and_then(PluginSettings::effective_pin).map(|pin| pin.as_str().to_owned()),
        confirmed: settings.and_then(|settings| settings.confirmed()).map(|confirmed| confirmed.to_string()),
        contract: Vec::new(),
        says: BTreeMap::new(),
        limits: Vec::new(),
    };
    let registry = host.registry();
    if let Some(installed) = registry.installed().iter().find(|installed| *installed.plugin.name() == plugin) {
        describe(installed, &mut report);
    }
    if let Some((_, data)) = kept {
        let receipt = blocking(move || AddedPlugins::of(&data).receipt(&plugin)).await?;
        let receipt = receipt.map_err(|error| Error::new(Code::Internal, with_causes(&error)))?;
        if let Some(receipt) = receipt {
            report.source = Some(receipt.source);
            (report.manifest, report.added, report.added_by) =
                (receipt.manifest, Some(receipt.added), Some(receipt.by));
        }
    }
    Ok(report)
}

fn describe(installed: &Installed, report: &mut PluginLookReport) {
    if let Origin::Configuration { file } | Origin::Folder { file } = &installed.origin {
        report.source = Some(file.display().to_string());
    }
    report.signer = installed.evidence.as_ref().map(|evidence| evidence.signer.to_string());
    let inspection = installed.plugin.inspect();
    let package = |import: &String| {
        let (interface, version) = import.strip_prefix("wharf:")?.split_once('@')?;
        Some(format!("wharf:{}@{version}", interface.split('/').next()?))
    };
    report.contract = inspection.imports.iter().filter_map(package).collect::<BTreeSet<_>>().into_iter().collect();
    report.says = inspection.about.words.iter().map(|(word, says)| ((*word).to_owned(), says.clone())).collect();
    let limit = |(limit, value): (&LimitInfo, u64)| PluginLimitReport {
        name: limit.name.to_owned(),
        value,
        default: limit.default,
        description: limit.description.to_owned(),
    };
    report.limits = installed.policy.limits.values().map(limit).collect();
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
