//! A call, from its arrival to its answer: the same way for tools of plugins
//! and of the app, but for who does the work.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use wharf_contract::caller;
use wharf_core::{
    Answer, CallLimits, CallRequest, Code, Context, Error, InputGiven, Permit, RequestMemory, Schema, TenantId, Tool,
    ToolDefinition, ToolService, Tracer,
    audit::{AuditOutcome, CallAudit},
    limit::TimeLeft,
    tool::json_bytes,
};
use wharf_engine::Invocation;

use super::Host;
use crate::{
    app::Registered,
    checking::{Check, Fitting, Unfit},
    registry::{Callee, Installed, Off, Registry},
};

/// What may come with a request besides its arguments; the contract says so.
const MAX_REQUEST_META_BYTES: u64 = 64 << 10;
/// What is checked, in words.
const ARGUMENTS: &str = "the arguments";
pub(crate) const ANSWER: &str = "the structured answer";

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
            Some(Callee::App(registered)) => self.call_app(request, registered, audit).await,
            // It was checked when it came, so that the front end could be told.
            Some(Callee::FrontEnd(registered)) => {
                self.run_app(request, registered, audit).await.map(|(answer, ..)| answer)
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
        let (context, cancel) = (request.context.clone(), request.cancel.clone());
        let limits = &installed.limits;
        let arguments = argument_text(&request.arguments, limits)?;
        let time = limits.wall_time(tool.wall_time).start(limits);
        let check = Check { context: &context, schema: &tool.input, what: ARGUMENTS, limits, time, cancel: &cancel };
        let (checked, charged) = self.checked_arguments(check, request.arguments).await?;
        // The guest gets their text.
        drop(checked);
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
            charged,
        };
        let (answer, time) = installed.plugin.call(invocation, tool).await?;
        self.checked_answer(answer, tool, &context, &installed.limits, time, &cancel).await
    }

    async fn call_app(
        &self,
        request: CallRequest,
        registered: &Registered,
        audit: &CallAudit,
    ) -> Result<Answer, Error> {
        let (context, cancel) = (request.context.clone(), request.cancel.clone());
        let (answer, time) = self.run_app(request, registered, audit).await?;
        self.checked_answer(answer, &registered.tool, &context, &self.shared.app_limits, time, &cancel).await
    }

    /// The answer of a tool that is no plugin's, before it is held against its schema.
    async fn run_app(
        &self,
        request: CallRequest,
        registered: &Registered,
        audit: &CallAudit,
    ) -> Result<(Answer, TimeLeft), Error> {
        let (tool, limits) = (&registered.tool, &self.shared.app_limits);
        let bytes = json_bytes(&request.arguments);
        check_argument_bytes(bytes, limits)?;
        let wall_time = limits.wall_time(tool.wall_time);
        let (context, cancel) = (request.context.clone(), request.cancel.clone());
        let time = wall_time.start(limits);
        let check = Check { context: &context, schema: &tool.input, what: ARGUMENTS, limits, time, cancel: &cancel };
        let (arguments, _) = self.checked_arguments(check, request.arguments).await?;
        let bytes = check_input(&request.input, limits)?.saturating_add(bytes);
        audit.took_in(bytes);
        let mut request_meta = request.request_meta;
        check_request_meta(&mut request_meta, limits)?;
        let place = self.admit(&request.context, bytes, &request.cancel).await?;
        let request = CallRequest { arguments, request_meta, ..request };
        let time = wall_time.start(limits);
        let answer = registered.run(request, limits, place).await?;
        audit.gave_out(answer.bytes());
        Ok((answer, time))
    }

    /// Arguments that conform to the schema, and what finding that out has computed.
    async fn checked_arguments(
        &self,
        check: Check<'_>,
        arguments: Map<String, Value>,
    ) -> Result<(Map<String, Value>, Duration), Error> {
        let Fitting { value, computed } =
            self.shared.checks.check(check, Value::Object(arguments)).await.map_err(|unfit| match unfit {
                Unfit::Violations(violations) => {
                    Error::new(Code::Invalid, format!("the arguments do not fit the tool's schema:\n{violations}"))
                }
                Unfit::Failed(error) => error,
            })?;
        match value {
            Value::Object(arguments) => Ok((arguments, computed)),
            _ => Err(Error::new(Code::Internal, "arguments are no object")),
        }
    }

    /// An answer that keeps what its tool promised, in what is left of the call's time.
    async fn checked_answer(
        &self,
        mut answer: Answer,
        tool: &Tool,
        context: &Context,
        limits: &CallLimits,
        time: TimeLeft,
        cancel: &CancellationToken,
    ) -> Result<Answer, Error> {
        let Some(schema) = promised(&answer, tool)? else { return Ok(answer) };
        let Some(structured) = answer.structured.take() else { return Ok(answer) };
        let check = Check { context, schema, what: ANSWER, limits, time, cancel };
        answer.structured = Some(self.shared.checks.check(check, structured).await.map_err(unfit_answer)?.value);
        Ok(answer)
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

    fn request_memory(&self) -> Option<RequestMemory> {
        Some(self.shared.request_memory.clone())
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

/// The text of arguments that are small enough. Of others no more is written than may be.
fn argument_text(arguments: &Map<String, Value>, limits: &CallLimits) -> Result<String, Error> {
    let mut text = Bounded { bytes: Vec::with_capacity(SMALL), limit: limits.argument_bytes };
    match serde_json::to_writer(&mut text, arguments).ok().and_then(|()| String::from_utf8(text.bytes).ok()) {
        Some(text) => Ok(text),
        None => {
            check_argument_bytes(json_bytes(arguments), limits)?;
            Err(Error::new(Code::Internal, "the arguments have no text"))
        }
    }
}

/// What most arguments have at most.
const SMALL: usize = 256;

/// Takes so many bytes, and no more.
struct Bounded {
    bytes: Vec<u8>,
    limit: u64,
}

impl io::Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + more.len()) as u64 > self.limit {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether arguments of so many bytes may be sent.
pub(super) fn check_argument_bytes(bytes: u64, limits: &CallLimits) -> Result<(), Error> {
    if bytes <= limits.argument_bytes {
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
    let client = meta.remove(caller::CLIENT);
    meta.retain(|key, _| !key.starts_with(caller::OWN_PREFIX));
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
    meta.insert(caller::CLIENT.to_owned(), client);
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
        members.insert(caller::RESPONSES.to_owned(), Value::Object(input.responses));
        if let Some(state) = input.state {
            members.insert(caller::STATE.to_owned(), state.into());
        }
        meta.insert(caller::INPUT.to_owned(), Value::Object(members));
    }
    Ok(given.saturating_add(client))
}

/// The schema that an answer has to keep, where it has to.
///
/// # Errors
/// Where what it promises is not there.
pub(crate) fn promised<'t>(answer: &Answer, tool: &'t Tool) -> Result<Option<&'t Schema>, Error> {
    let promised = !answer.is_error && answer.input_required.is_none();
    let schema = tool.output.as_ref().filter(|_| promised);
    if schema.is_some() && answer.structured.is_none() {
        return Err(broken("is missing"));
    }
    Ok(schema)
}

/// What is told of an answer that does not keep its schema.
pub(crate) fn unfit_answer(unfit: Unfit) -> Error {
    match unfit {
        Unfit::Violations(violations) => broken(&format!("does not fit its output schema:\n{violations}")),
        Unfit::Failed(error) => error,
    }
}

fn broken(what: &str) -> Error {
    Error::new(Code::Internal, format!("the tool broke its contract: its structured answer {what}"))
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
