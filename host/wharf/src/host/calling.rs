//! A call, from its arrival to its answer. Tools of plugins and of the app take the
//! same way; only the code that does the work differs.

mod request_size;

use std::{
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
use tokio::sync::watch;
use wharf_core::{
    Answer, CallLimits, CallRequest, Code, Error, InputGiven, Permit, RequestMemory, Schema, TenantId, Tool,
    ToolDefinition, ToolService, Tracer,
    audit::{AuditOutcome, CallAudit},
    limit::TimeLeft,
    service::{Arguments, CallableTool, Caller, HomeQuestion, HomeRequest, Preparing, Viewer},
    text,
};
use wharf_engine::Call;

use super::{
    Host,
    approving::Permission,
    homes::{At, Way},
};
use crate::{
    answer_schema::{ANSWER, promised, unfit_answer},
    app::Registered,
    approvals::by_client,
    checking::{Check, Fitting, Unfit},
    installed::Installed,
    registry::Callee,
    tool_name::{FRONT_END_PREFIX, front_end_of},
};
pub(super) use request_size::{argument_bytes, request_bytes};

/// What is checked, in words.
const ARGUMENTS: &str = "the arguments";
/// What is shown of a name that nobody has.
const MAX_SHOWN_BYTES: usize = 128;

impl Host {
    /// Calls a tool by its full name.
    ///
    /// # Errors
    /// As [`ToolService::find`] and [`CallableTool::call`].
    pub async fn call(&self, request: CallRequest) -> Result<Answer, Error> {
        let CallRequest { caller, tool, arguments, input, .. } = request;
        if let Some(preparing) = self.preparing(&caller, &tool) {
            preparing.await?;
        }
        let callee = self.look_up(&caller, &tool)?;
        self.run(&tool, &callee, &caller, arguments, input).await
    }

    /// The one place that says what a name stands for, and for which caller.
    pub(super) fn look_up(&self, caller: &Caller, name: &str) -> Result<Arc<Callee>, Error> {
        self.seen(caller.viewer(), name).ok_or_else(|| {
            let running = self.shared.recorder.begin(caller, name, None);
            let front_ends = self.shared.front_ends.definitions(caller.viewer().tenant);
            let hint = self.registry().hint(caller.viewer(), name, front_ends.as_deref().unwrap_or_default());
            let told = format!("there is no tool `{}`; {hint}", text::line(name, MAX_SHOWN_BYTES));
            running.ended(AuditOutcome::Failed(Code::NotFound));
            Error::new(Code::NotFound, told)
        })
    }

    pub(super) fn seen(&self, viewer: Viewer<'_>, name: &str) -> Option<Arc<Callee>> {
        let front_ends = &self.shared.front_ends;
        let of_front_end = || {
            let here = front_ends.find(viewer.tenant, name).map(Callee::FrontEnd);
            let elsewhere = || front_ends.find_elsewhere(viewer.tenant, name).map(Callee::OtherFrontEnd);
            here.or_else(elsewhere).map(Arc::new)
        };
        let found = self.registry().find(name).cloned().or_else(of_front_end);
        found.filter(|callee| callee.is_seen_by(viewer, name))
    }

    fn found(&self, name: &str, callee: Arc<Callee>) -> Arc<dyn CallableTool> {
        Arc::new(FoundTool { host: self.clone(), name: name.to_owned(), callee })
    }

    async fn run(
        &self,
        name: &str,
        callee: &Callee,
        caller: &Arc<Caller>,
        arguments: Arguments,
        input: InputGiven,
    ) -> Result<Answer, Error> {
        let owner = match callee {
            Callee::Plugin { owner, .. } => owner,
            Callee::OtherFrontEnd(other) => {
                let running = self.shared.recorder.begin(caller, name, Some(callee));
                let asked = HomeQuestion::Call { tool: name.to_owned(), arguments, input };
                return self.call_at_other(other, name, caller, running, asked).await;
            }
            Callee::App(_) | Callee::FrontEnd(_) => {
                return self.run_here(name, callee, caller, arguments, input).await;
            }
        };
        match self.home_of(owner, caller, Way::Arrived).await? {
            At::Here(hold) => hold.confirmed(self.run_here(name, callee, caller, arguments, input).await),
            At::There(home) => {
                let running = self.shared.recorder.begin(caller, name, Some(callee));
                let asked = HomeQuestion::Call { tool: name.to_owned(), arguments, input };
                let request = HomeRequest { caller: Arc::clone(caller), asked };
                self.ask_home(&*home, owner, running, request).await?.into_call()
            }
        }
    }

    /// Runs a call on this host.
    pub(super) async fn run_here(
        &self,
        name: &str,
        callee: &Callee,
        caller: &Arc<Caller>,
        arguments: Arguments,
        input: InputGiven,
    ) -> Result<Answer, Error> {
        let running = self.shared.recorder.begin(caller, name, Some(callee));
        self.record_arguments(name, running.audit(), &arguments);
        let _listed = self.shared.running_calls.enter(running.audit(), name, caller);
        let called = Called { name, callee, caller, audit: running.audit() };
        let answered = match callee {
            Callee::Plugin { owner, tool } => {
                self.call_plugin(called, owner, &owner.plugin.tools()[*tool], arguments, input).await
            }
            Callee::App(registered) => self.call_app(called, registered, arguments, input).await,
            // It was checked when it came, so that the front end could be told.
            Callee::FrontEnd(registered) => {
                self.run_app(called, registered, arguments, input).await.map(|(answer, _)| answer)
            }
            // Another host has taken it for here, and it has moved on: no call goes to a third one.
            Callee::OtherFrontEnd(_) => Err(Error::retryable(
                Code::Gone,
                "the front end of this tool has connected to another host in the meantime; call again",
            )),
        };
        running.ended(AuditOutcome::of(&answered));
        answered
    }

    async fn call_plugin(
        &self,
        called: Called<'_>,
        owner: &Installed,
        tool: &Tool,
        arguments: Arguments,
        input: InputGiven,
    ) -> Result<Answer, Error> {
        let Called { caller, audit, .. } = called;
        let limits = &*owner.policy.limits;
        let text = Arc::clone(arguments.text());
        argument_bytes(text.len() as u64, limits)?;
        let time = limits.wall_time(tool.wall_time).start(limits);
        let check = of_caller(caller, &tool.input, ARGUMENTS, limits, time);
        // The guest gets their text.
        let (_, charged) = self.checked_arguments(check, arguments.into_values()).await?;
        audit.took_in(text.len() as u64);
        let bytes = request_bytes(caller, &input, limits)?.saturating_add(text.len() as u64);
        let (input, is_kept) = match self.permitted(called, input, || Arc::clone(&text)).await? {
            Permission::Run { input, is_kept } => (input, is_kept),
            Permission::Ask(question) => return Ok(question),
        };
        let _place = self.admit(caller, bytes).await?;
        let call = Call {
            caller: Arc::clone(caller),
            input,
            policy: Arc::clone(&owner.policy),
            audit: Some(Arc::clone(audit)),
            approver: self.approver(called.name, owner, caller, audit, || Arc::clone(&text)),
            charged,
        };
        let (mut answer, time) = owner.plugin.call(call, tool, &text).await?;
        if is_kept {
            by_client::keep_allowed(&mut answer);
        }
        self.checked_answer(answer, tool, caller, limits, time).await
    }

    async fn call_app(
        &self,
        called: Called<'_>,
        registered: &Registered,
        arguments: Arguments,
        input: InputGiven,
    ) -> Result<Answer, Error> {
        let (answer, time) = self.run_app(called, registered, arguments, input).await?;
        self.checked_answer(answer, &registered.tool, called.caller, &self.shared.app_limits, time).await
    }

    /// The answer of a tool that is no plugin's, before it is held against its schema.
    async fn run_app(
        &self,
        called: Called<'_>,
        registered: &Registered,
        arguments: Arguments,
        input: InputGiven,
    ) -> Result<(Answer, TimeLeft), Error> {
        let Called { caller, audit, .. } = called;
        let (tool, limits) = (&registered.tool, &*self.shared.app_limits);
        let bytes = arguments.bytes();
        argument_bytes(bytes, limits)?;
        let wall_time = limits.wall_time(tool.wall_time);
        let check = of_caller(caller, &tool.input, ARGUMENTS, limits, wall_time.start(limits));
        let (arguments, computed) = self.checked_arguments(check, arguments.into_values()).await?;
        let bytes = request_bytes(caller, &input, limits)?.saturating_add(bytes);
        audit.took_in(bytes);
        let text = || serde_json::to_string(&arguments).unwrap_or_default().into();
        let (input, is_kept) = match self.permitted(called, input, text).await? {
            Permission::Run { input, is_kept } => (input, is_kept),
            Permission::Ask(question) => return Ok((question, wall_time.start(limits))),
        };
        let place = self.admit(caller, bytes).await?;
        let time = wall_time.start_after(limits, computed);
        let mut answer = registered.run(caller, arguments, input, limits, place).await?;
        if is_kept {
            by_client::keep_allowed(&mut answer);
        }
        audit.gave_out(answer.bytes());
        let memory = self.shared.engine.answer_memory();
        memory.charge(&mut answer, &caller.context.tenant, limits)?;
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
        caller: &Caller,
        limits: &CallLimits,
        time: TimeLeft,
    ) -> Result<Answer, Error> {
        let Some(schema) = promised(&answer, tool)? else { return Ok(answer) };
        let Some(structured) = answer.structured.take() else { return Ok(answer) };
        let check = of_caller(caller, schema, ANSWER, limits, time);
        answer.structured = Some(self.shared.checks.check(check, structured).await.map_err(unfit_answer)?.value);
        Ok(answer)
    }

    /// Waits for a place among the running calls.
    pub(super) async fn admit(&self, caller: &Caller, bytes: u64) -> Result<Permit, Error> {
        let admitting = self.shared.admission.admit(&caller.context, bytes, Instant::now() + self.shared.wait);
        tokio::select! {
            biased;
            place = admitting => place,
            () = caller.cancel.cancelled() => Err(Error::new(Code::Cancelled, "the call was cancelled")),
        }
    }
}

/// A call that this host runs.
#[derive(Clone, Copy)]
pub(super) struct Called<'c> {
    /// What clients call the tool.
    pub(super) name: &'c str,
    pub(super) callee: &'c Callee,
    pub(super) caller: &'c Arc<Caller>,
    pub(super) audit: &'c Arc<CallAudit>,
}

/// A tool that was found, and the host that has it.
struct FoundTool {
    host: Host,
    name: String,
    callee: Arc<Callee>,
}

#[async_trait::async_trait]
impl CallableTool for FoundTool {
    fn repeated_arguments(&self) -> Option<Arc<Map<String, Value>>> {
        self.callee.repeated_arguments()
    }

    async fn call(&self, caller: Arc<Caller>, arguments: Arguments, input: InputGiven) -> Result<Answer, Error> {
        self.host.run(&self.name, &self.callee, &caller, arguments, input).await
    }
}

impl ToolService for Host {
    fn tools(&self, viewer: Viewer<'_>) -> Arc<[ToolDefinition]> {
        let of_all = self.registry().definitions(viewer);
        let Some(own) = self.shared.front_ends.definitions(viewer.tenant) else { return of_all };
        let seen = |definition: &&ToolDefinition| {
            viewer.allows(front_end_of(&definition.name)) && viewer.allows_tool(&definition.name)
        };
        let mut both: Vec<_> = of_all.iter().chain(own.iter().filter(seen)).cloned().collect();
        both.sort_by(|one, other| one.name.cmp(&other.name));
        both.into()
    }

    fn callable(&self, viewer: Viewer<'_>, name: &str) -> Option<Arc<dyn CallableTool>> {
        self.seen(viewer, name).map(|callee| self.found(name, callee))
    }

    fn changes(&self, tenant: &TenantId) -> Option<watch::Receiver<u64>> {
        Some(self.shared.backends.announcements.listen_to_tools_of_tenant(tenant))
    }

    fn preparing(&self, caller: &Arc<Caller>, name: &str) -> Option<Preparing> {
        if name.starts_with(FRONT_END_PREFIX) {
            let preparing = self.shared.front_ends.preparing(&caller.context.tenant)?;
            return Some(Box::pin(async {
                preparing.await;
                Ok(())
            }));
        }
        self.wait_for_compiled(caller, name)
    }

    fn preparing_list(&self, tenant: &TenantId) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        Some(Box::pin(self.shared.front_ends.preparing(tenant)?))
    }

    fn find(&self, caller: &Arc<Caller>, name: &str) -> Result<Arc<dyn CallableTool>, Error> {
        self.look_up(caller, name).map(|callee| self.found(name, callee))
    }

    fn tracer(&self) -> Option<Tracer> {
        self.shared.recorder.tracer.clone()
    }

    fn request_memory(&self) -> Option<RequestMemory> {
        Some(self.shared.request_memory.clone())
    }
}

/// A check for which its caller waits.
fn of_caller<'c>(
    caller: &'c Caller,
    schema: &'c Schema,
    what: &'static str,
    limits: &'c CallLimits,
    time: TimeLeft,
) -> Check<'c> {
    Check { context: &caller.context, schema, what, limits, time, cancel: &caller.cancel }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use parking_lot::Mutex;
    use serde_json::json;
    use wharf_core::{AuditRecord, AuditSink, Context, TenantId};

    use super::*;
    use crate::{AppCall, AppTool, Configuration, audit::line};

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl AuditSink for Lines {
        fn record(&self, record: AuditRecord) {
            self.0.lock().push(line(&record));
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
        let lines = lines.0.lock().clone();
        assert_eq!(lines.len(), 3, "{lines:?}");
        for (line, outcome) in lines.iter().zip(["ok", "tool-error", "internal"]) {
            let line: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!([&line["plugin"], &line["tool"], &line["session"]], ["app", "t", "s-1"], "{line}");
            assert_eq!(line["outcome"], outcome);
            assert!(!line.to_string().contains("secret"), "{line}");
        }
    }
}
