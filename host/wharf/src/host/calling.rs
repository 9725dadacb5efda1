//! A call, from its arrival to its answer: the same way for tools of plugins
//! and of the app, but for who does the work.

use std::{sync::Arc, time::Instant};

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Answer, CallLimits, CallRequest, Code, Context, Error, InputGiven, Permit, TenantId, Tool, ToolDefinition,
    ToolService, Tracer,
    audit::{AuditOutcome, CallAudit},
    tool::json_bytes,
};
use wharf_engine::Invocation;

use super::Host;
use crate::{
    app::Registered,
    registry::{Callee, Installed, Off, Registry},
};

/// What may come with a request besides its arguments; the contract says so.
const MAX_REQUEST_META_BYTES: u64 = 64 << 10;
/// What starts so is the host's.
const OWN_PREFIX: &str = "dev.wharf/";
/// Where a plugin finds what was given to a round of input.
const INPUT: &str = "dev.wharf/input";
/// Where a plugin finds what the client can do; the transport writes it.
const CLIENT: &str = "dev.wharf/client";

impl Host {
    /// Calls a tool; see [`ToolService::call`].
    ///
    /// # Errors
    /// As [`ToolService::call`].
    pub async fn call(&self, request: CallRequest) -> Result<Answer, Error> {
        let registry = self.registry();
        let of_front_end;
        let found = match registry.find(&request.tool) {
            None => {
                of_front_end = self.shared.front_ends.find(&request.context.tenant, &request.tool);
                of_front_end.as_deref().map(Callee::FrontEnd)
            }
            found => found,
        };
        let running = self.shared.recorder.begin(
            &request,
            found.map(|callee| (callee.plugin(), callee.digest())),
            found.map_or(&request.tool, |callee| callee.known_as(&request.tool)),
        );
        let audit = running.audit();
        let answered = match found {
            Some(Callee::Plugin(installed, tool)) => self.call_plugin(request, installed, tool, audit).await,
            Some(Callee::App(registered) | Callee::FrontEnd(registered)) => {
                self.call_app(request, registered, audit).await
            }
            None => Err(unknown_tool(&registry, &request.tool)),
        };
        running.ended(AuditOutcome::of(&answered));
        answered
    }

    async fn call_plugin(
        &self,
        request: CallRequest,
        installed: &Installed,
        tool: &Tool,
        audit: &Arc<CallAudit>,
    ) -> Result<Answer, Error> {
        let (_, arguments) = checked_arguments(request.arguments, tool, &installed.limits)?;
        audit.took_in(arguments.len() as u64);
        let mut request_meta = request.request_meta;
        let given = with_input(&mut request_meta, request.input, &installed.limits)?;
        let bytes = given.saturating_add(arguments.len() as u64);
        let _place = self.admit(&request.context, bytes, &request.cancel).await?;
        let invocation = Invocation {
            context: request.context,
            grants: Arc::clone(&installed.grants),
            limits: Arc::clone(&installed.limits),
            settings: Arc::clone(&installed.settings),
            request_meta,
            events: request.events,
            cancel: request.cancel,
            tool: tool.definition.name.clone(),
            arguments,
            audit: Some(Arc::clone(audit)),
        };
        let answer = installed.plugin.call(invocation, tool).await?;
        checked_answer(answer, tool)
    }

    async fn call_app(
        &self,
        request: CallRequest,
        registered: &Registered,
        audit: &CallAudit,
    ) -> Result<Answer, Error> {
        let (tool, limits) = (&registered.tool, &self.shared.app_limits);
        let (arguments, text) = checked_arguments(request.arguments, tool, limits)?;
        let given = check_input(&request.input, limits)?;
        let bytes = given.saturating_add(text.len() as u64);
        drop(text);
        audit.took_in(bytes);
        let mut request_meta = request.request_meta;
        check_request_meta(&mut request_meta, limits)?;
        let place = self.admit(&request.context, bytes, &request.cancel).await?;
        let request = CallRequest { arguments, request_meta, ..request };
        let answer = registered.run(request, limits, place).await?;
        audit.gave_out(answer.bytes());
        checked_answer(answer, tool)
    }

    /// Waits for a place among the running calls.
    pub(super) async fn admit(
        &self,
        context: &Context,
        bytes: u64,
        cancel: &CancellationToken,
    ) -> Result<Permit, Error> {
        let admitting = self.shared.admission.admit(context, bytes, Instant::now() + self.shared.wait);
        tokio::select! {
            biased;
            place = admitting => place,
            () = cancel.cancelled() => Err(Error::new(Code::Cancelled, "the call was cancelled")),
        }
    }
}

#[async_trait::async_trait]
impl ToolService for Host {
    fn tools(&self) -> Arc<[ToolDefinition]> {
        self.registry().definitions()
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.shared.rooms.announcements.listen_to_tools())
    }

    fn of_tenant(&self, tenant: &TenantId) -> Option<Arc<dyn ToolService>> {
        Some(self.tools_of(tenant))
    }

    fn tracer(&self) -> Option<Tracer> {
        self.shared.recorder.tracer.clone()
    }

    fn plugin_of(&self, tool: &str) -> Option<String> {
        self.registry().find(tool).map(|callee| callee.plugin().to_string())
    }

    async fn call(&self, request: CallRequest) -> Result<Answer, Error> {
        Self::call(self, request).await
    }
}

fn unknown_tool(registry: &Registry, name: &str) -> Error {
    let shown = wharf_core::text::line(name, 128);
    let similar = registry.similar(name);
    let hint = if registry.is_rejected(name) {
        "its plugin could not be loaded, and the host's log says why".to_owned()
    } else if let Some(Off { name, developer }) = registry.is_off(name) {
        let profile = if *developer { ", or with `--profile developer`" } else { "" };
        format!(
            "plugin `{name}` is off, since it is granted nothing; the operator grants it something under \
             [plugin.{name}.grants] in wharf.toml{profile}"
        )
    } else if registry.is_disabled(name) {
        "its plugin is switched off".to_owned()
    } else if similar.is_empty() {
        "list the tools to see which there are".to_owned()
    } else {
        format!("there are: {}", similar.join(", "))
    };
    Error::new(Code::NotFound, format!("there is no tool `{shown}`; {hint}"))
}

/// Arguments that are small enough and conform to the schema, and their text.
fn checked_arguments(
    arguments: Map<String, Value>,
    tool: &Tool,
    limits: &CallLimits,
) -> Result<(Map<String, Value>, String), Error> {
    let arguments = Value::Object(arguments);
    let text = arguments.to_string();
    check_argument_bytes(text.len(), limits)?;
    tool.input.check(&arguments).map_err(|violations| {
        Error::new(Code::Invalid, format!("the arguments do not fit the tool's schema:\n{violations}"))
    })?;
    let Value::Object(arguments) = arguments else { return Err(Error::new(Code::Internal, "arguments are no object")) };
    Ok((arguments, text))
}

/// Whether arguments of so many bytes may be sent.
pub(super) fn check_argument_bytes(bytes: usize, limits: &CallLimits) -> Result<(), Error> {
    if bytes as u64 <= limits.argument_bytes {
        return Ok(());
    }
    let told = format!(
        "the arguments have {bytes} bytes, more than {} (limit `argument_bytes`); send less at a time",
        limits.argument_bytes
    );
    Err(Error::new(Code::Limit, told))
}

/// Takes out what would speak for the host, and checks what the contract lets a
/// plugin expect of what came with a request. Returns how much the host's own
/// members have.
fn check_request_meta(meta: &mut Map<String, Value>, limits: &CallLimits) -> Result<u64, Error> {
    if meta.is_empty() {
        return Ok(0);
    }
    let client = meta.remove(CLIENT);
    meta.retain(|key, _| !key.starts_with(OWN_PREFIX));
    let bytes = json_bytes(meta);
    if bytes > MAX_REQUEST_META_BYTES {
        return Err(Error::new(
            Code::Limit,
            format!("the request's `_meta` has {bytes} bytes, more than {MAX_REQUEST_META_BYTES}; send less with it"),
        ));
    }
    let Some(client) = client else { return Ok(0) };
    let bytes = json_bytes(&client);
    if bytes > limits.argument_bytes {
        return Err(Error::new(
            Code::Limit,
            format!(
                "what the client says of itself has {bytes} bytes, more than {} (limit `argument_bytes`)",
                limits.argument_bytes
            ),
        ));
    }
    meta.insert(CLIENT.to_owned(), client);
    Ok(bytes)
}

/// Whether so much may be given to a round of input; how much it is.
fn check_input(input: &InputGiven, limits: &CallLimits) -> Result<u64, Error> {
    if input.is_empty() {
        return Ok(0);
    }
    let bytes = json_bytes(&input.responses).saturating_add(json_bytes(&input.state));
    if bytes > limits.argument_bytes {
        return Err(Error::new(
            Code::Limit,
            format!(
                "what was given to the round of input has {bytes} bytes, more than {} (limit `argument_bytes`)",
                limits.argument_bytes
            ),
        ));
    }
    Ok(bytes)
}

/// Puts what was given to a round of input where the plugin reads it. Returns how
/// many bytes came with the request beside arguments and `_meta`.
pub(super) fn with_input(meta: &mut Map<String, Value>, input: InputGiven, limits: &CallLimits) -> Result<u64, Error> {
    let given = check_input(&input, limits)?;
    let client = check_request_meta(meta, limits)?;
    if !input.is_empty() {
        let mut members = Map::new();
        members.insert("responses".to_owned(), Value::Object(input.responses));
        if let Some(state) = input.state {
            members.insert("state".to_owned(), state.into());
        }
        meta.insert(INPUT.to_owned(), Value::Object(members));
    }
    Ok(given.saturating_add(client))
}

/// An answer that keeps what its tool promised.
pub(crate) fn checked_answer(answer: Answer, tool: &Tool) -> Result<Answer, Error> {
    let promised = !answer.is_error && answer.input_required.is_none();
    let Some(schema) = tool.output.as_ref().filter(|_| promised) else {
        return Ok(answer);
    };
    let broken =
        |what: &str| Error::new(Code::Internal, format!("the tool broke its contract: its structured answer {what}"));
    let structured = answer.structured.as_ref().ok_or_else(|| broken("is missing"))?;
    schema.check(structured).map_err(|violations| broken(&format!("does not fit its output schema:\n{violations}")))?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::{
        path::Path,
        sync::{Mutex, PoisonError},
    };

    use serde_json::json;
    use wharf_core::{AuditRecord, AuditSink, TenantId};

    use super::*;
    use crate::{AppCall, AppTool, Configuration, audit::line};

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl AuditSink for Lines {
        fn record(&self, record: AuditRecord) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line(&record));
        }
    }

    #[tokio::test]
    async fn each_call_of_the_apps_tools_leaves_one_line_of_audit_without_its_arguments() {
        let off: String = crate::bundled::PLUGINS
            .iter()
            .map(|plugin| format!("[plugin.{}]\nenabled = false\n", plugin.name))
            .collect();
        let configuration = Configuration::parse(&off, Path::new("/")).expect("accepted");
        let lines = Arc::new(Lines::default());
        let host = Host::builder(configuration).audit(lines.clone()).open().await.expect("opens");
        let tool = AppTool::new("t", "For tests.", json!({"type": "object"}), |call: AppCall| async move {
            assert!(!call.arguments.contains_key("panic"), "as asked");
            Ok(Answer { is_error: call.arguments.contains_key("fail"), ..Answer::default() })
        });
        let name = host.register_tool(tool).expect("legal");
        for arguments in [json!({"password": "secret"}), json!({"fail": "secret"}), json!({"panic": "secret"})] {
            let arguments = arguments.as_object().expect("an object").clone();
            let context = Context::new(TenantId::local(), "s-1".parse().expect("legal"));
            let _answered = host.call(CallRequest::new(context, &name, arguments)).await;
        }
        let lines = lines.0.lock().expect("not poisoned").clone();
        assert_eq!(lines.len(), 3, "{lines:?}");
        for (line, outcome) in lines.iter().zip(["ok", "tool-error", "internal"]) {
            let line: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!([&line["plugin"], &line["tool"], &line["session"]], ["app", "t", "s-1"], "{line}");
            assert_eq!(line["outcome"], outcome);
            assert!(!line.to_string().contains("secret"), "{line}");
        }
    }
}
