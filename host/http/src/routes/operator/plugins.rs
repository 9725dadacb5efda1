//! Plugins and their tools: added, looked at, switched, tried.

use axum::{
    Json,
    http::StatusCode,
    routing::{get, post},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wharf_core::{
    Code, Error, PluginName, SessionId,
    service::operator::{
        ChangeReport, ConfigurationChange, GrantsReport, OperatorList, OperatorRequest, PluginChange,
        PluginChangeReport, PluginLookReport, PluginReport, ToolReport, TrialReport,
    },
};

use super::asking::{Operator, listing};
use crate::{
    failure::HttpFailure,
    request::{body::JsonBody, parameters::PathHandle},
    routes::route::{self, Route, done},
};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(
            "get",
            "/v1/operator/plugins",
            ("listPlugins", "Lists the plugins, and what became of each."),
            listing(OperatorList::Plugins),
            vec![route::json::<PluginList>(200, "These are there.")],
        ),
        Route::new(
            "post",
            "/v1/operator/plugins",
            (
                "changePlugins",
                "Adds, replaces or removes a plugin as `wharf plugin` does, or says what a change would bring. The \
                 component is fetched and compiled meanwhile; ending the request changes nothing that has begun.",
            ),
            post(install),
            vec![route::json::<PluginChangeReport>(200, "This is there then.")],
        )
        .body::<PluginChangeRequest>(),
        Route::new(
            "get",
            "/v1/operator/plugins/{plugin}",
            (
                "lookAtPlugin",
                "Tells where a plugin comes from, to what its grants are bound, and what its calls may use up.",
            ),
            get(look),
            vec![route::json::<PluginLookReport>(200, "So it is.")],
        ),
        Route::new(
            "post",
            "/v1/operator/plugins/{plugin}/switch",
            ("switchPlugin", "Switches a plugin on or off at each host, as `wharf plugin enable` and `disable` do."),
            post(switch),
            vec![done("It is as it was asked for.")],
        )
        .body::<SwitchRequest>(),
        Route::new(
            "get",
            "/v1/operator/tools/{tool}",
            ("showTool", "Shows a tool with its schemas, by the name that clients see."),
            get(tool),
            vec![route::json::<ToolReport>(200, "So it is listed.")],
        ),
        Route::new(
            "post",
            "/v1/operator/tools/{tool}/calls",
            (
                "tryTool",
                "Calls a tool for the local tenant, as an agent would. The request waits for the answer; ending it cancels \
                 the call.",
            ),
            post(try_tool),
            vec![route::json::<TrialReport>(200, "The tool answered.")],
        )
        .body::<TrialRequest>(),
        Route::new(
            "get",
            "/v1/operator/grants/{plugin}",
            ("showGrants", "Shows what a plugin may use, asks for and was denied, and what it could do with it."),
            get(grants),
            vec![route::json::<GrantsReport>(200, "So it is granted.")],
        ),
        Route::new(
            "post",
            "/v1/operator/configuration",
            (
                "changeConfiguration",
                "Changes the configuration as `wharf grant` does, or says what a change would come to. What is written there \
                 stays as it is, comments and order included.",
            ),
            post(configure),
            vec![route::json::<ChangeReport>(200, "This changes.")],
        )
        .body::<ConfigureRequest>(),
    ]
}

/// The plugins.
#[derive(Serialize, JsonSchema)]
struct PluginList {
    /// As `wharf plugin list --json` has them.
    plugins: Vec<PluginReport>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SwitchRequest {
    /// Whether it is on from now on.
    enabled: bool,
}

/// What a tool is called with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TrialRequest {
    /// Its arguments.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// In which session; `console` where absent.
    session: Option<String>,
}

/// The session of those that are tried without one.
const SESSION: &str = "console";

async fn switch(
    operator: Operator,
    PathHandle(plugin): PathHandle,
    JsonBody { value: SwitchRequest { enabled }, .. }: JsonBody<SwitchRequest>,
) -> Result<StatusCode, HttpFailure> {
    operator.done(OperatorRequest::SwitchPlugin { plugin: named(&plugin)?, is_on: enabled }).await
}

/// A change of the configuration.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConfigureRequest {
    /// How.
    change: ConfigurationChange,
    /// Whether nothing is written, and only the difference is told.
    dry_run: bool,
}

/// A change of what is installed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PluginChangeRequest {
    /// How.
    change: PluginChange,
    /// Whether nothing is changed, and only told what it would bring.
    dry_run: bool,
}

async fn install(
    operator: Operator,
    JsonBody { value: PluginChangeRequest { change, dry_run }, .. }: JsonBody<PluginChangeRequest>,
) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::Install { change, is_trial: dry_run }).await
}

async fn look(operator: Operator, PathHandle(plugin): PathHandle) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::LookAtPlugin { plugin: named(&plugin)? }).await
}

async fn grants(operator: Operator, PathHandle(plugin): PathHandle) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::Grants { plugin: named(&plugin)? }).await
}

async fn configure(
    operator: Operator,
    JsonBody { value: ConfigureRequest { change, dry_run }, .. }: JsonBody<ConfigureRequest>,
) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::Configure { change, is_trial: dry_run }).await
}

fn named(plugin: &str) -> Result<PluginName, Error> {
    plugin.parse().map_err(|_| Error::new(Code::NotFound, "there is no such plugin"))
}

async fn tool(operator: Operator, PathHandle(tool): PathHandle) -> Result<Json<Value>, HttpFailure> {
    operator.operate(OperatorRequest::Tool { tool }).await
}

async fn try_tool(
    operator: Operator,
    PathHandle(tool): PathHandle,
    JsonBody { value: TrialRequest { arguments, session }, .. }: JsonBody<TrialRequest>,
) -> Result<Json<Value>, HttpFailure> {
    let session: SessionId = session.as_deref().unwrap_or(SESSION).parse().map_err(Error::from)?;
    operator.operate(OperatorRequest::TryTool { tool, arguments, session }).await
}
