//! One call: a fresh instance, its limits armed, its answer checked.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wasmtime::Store;
use wharf_core::{
    Answer, CallLimits, Claims, Code, Content, Context, Error, Events, Grants, InputRequired, Quota, QuotaFull,
    audit::CallAudit, json::Estimate, limit::TimeLeft, text, tool,
};
use wharf_state::Turns;

use crate::{
    adapter::MAX_MESSAGE_BYTES,
    bindings::{exports::wharf::plugin::tools as wit, wharf::plugin::types},
    epoch, error,
    function::{Code as Linked, Function, Returned},
    guest::{Guest, Setting},
    rooms::Rooms,
    runtime::Runtime,
};

/// One call of a tool, as the host has checked it.
pub struct Invocation {
    /// On whose behalf.
    pub context: Context,
    /// What the plugin may use.
    pub grants: Arc<Grants>,
    /// What the call may use up.
    pub limits: Arc<CallLimits>,
    /// JSON text of what the operator set for the plugin.
    pub settings: Arc<str>,
    /// What came with the request besides.
    pub request_meta: Map<String, Value>,
    /// Who listens.
    pub events: Events,
    /// Ends the call when it fires.
    pub cancel: CancellationToken,
    /// The tool's own name, or the prompt's; empty where nothing is named.
    pub tool: String,
    /// JSON text of an object that conforms to the tool's schema, or is what the
    /// prompt takes.
    pub arguments: String,
    /// Who hears of its host calls, and of how much it answers.
    pub audit: Option<Arc<CallAudit>>,
    /// How long the host has computed for it already; that is time of the call.
    pub charged: Duration,
}

/// Calls one function in an instance of its own.
pub(crate) async fn run(
    runtime: &Runtime,
    code: &Linked,
    setting: Setting,
    limits: &CallLimits,
    stack_bytes: u64,
    function: Function<'_>,
) -> Result<(Returned, TimeLeft), Error> {
    let _ticking = runtime.ticker.hold();
    let guest = Guest::new(setting, limits);
    let (clock, budget) = (Arc::clone(&guest.clock), Arc::clone(&guest.budget));
    let mut store = Store::new(&runtime.engine, guest);
    store.limiter(|guest| &mut guest.limiter);
    // The budget knows the exact limit of one call; this one keeps the runtime
    // from copying more than that before the budget is asked.
    let largest = limits.host_call_bytes.max(limits.output_bytes).saturating_add(64 << 10);
    store.set_hostcall_fuel(usize::try_from(largest).unwrap_or(usize::MAX));
    store.set_epoch_deadline(1);
    let schedule = runtime.schedule.clone();
    store.epoch_deadline_callback(move |store| Ok(epoch::ended(&schedule, store.data())));

    let finished = clock.drive(function.call(code, &mut store)).await;
    match finished {
        Ok(Ok(returned)) => match budget.exceeded() {
            Some(exceeded) => Err(exceeded.into()),
            None => Ok((with_reason(returned, budget.full()), clock.left())),
        },
        Ok(Err(failure)) => Err(error::of_call(&failure, &clock, &budget, stack_bytes)),
        Err(why) => Err(clock.describe(why).unwrap_or_else(|| Error::new(Code::Internal, "the call was stopped"))),
    }
}

/// Says which limit a failed call met where it wrote: WASI tells a guest a number at most,
/// and of a stream not even that. What was refused and yet succeeded stays as it is.
fn with_reason(returned: Returned, full: Option<&QuotaFull>) -> Returned {
    let Some(full) = full else { return returned };
    let limit = |said: &str| types::Error {
        code: Code::Limit.as_str().to_owned(),
        message: format!(
            "a write of this call was refused: {}; remove what is not needed. The tool said: {said}",
            full.rule()
        ),
        retryable: true,
    };
    match returned {
        Returned::Answer(Err(error)) => Returned::Answer(Err(limit(&error.message))),
        Returned::Answer(Ok(answer)) if answer.is_error => {
            let texts = answer.content.iter().filter(|part| part.mime_type == "text/plain");
            let said = texts.map(|part| String::from_utf8_lossy(&part.data)).collect::<Vec<_>>().join("\n");
            Returned::Answer(Err(limit(&said)))
        }
        Returned::Prompt(Err(error)) => Returned::Prompt(Err(limit(&error.message))),
        Returned::Read(Err(error)) => Returned::Read(Err(limit(&error.message))),
        other => other,
    }
}

impl Invocation {
    /// Takes apart what [`run`] needs and what is called.
    pub(crate) fn into_setting(
        self,
        plugin: wharf_core::PluginName,
        wall_time: wharf_core::limit::WallTime,
        claims: Arc<Claims>,
        rooms: Rooms,
        turns: Arc<Turns>,
        open_handles: Arc<Quota>,
    ) -> (Setting, Arc<CallLimits>) {
        let setting = Setting {
            plugin,
            context: self.context,
            grants: self.grants,
            settings: self.settings,
            request_meta: self.request_meta,
            events: self.events,
            claims,
            rooms,
            turns,
            open_handles,
            tool: self.tool.as_str().into(),
            wall_time,
            cancel: self.cancel,
            audit: self.audit,
            charged: self.charged,
        };
        (setting, self.limits)
    }
}

/// Checks and converts what a tool answered.
pub(crate) fn answer(returned: Result<wit::Answer, types::Error>, limits: &CallLimits) -> Result<Answer, Error> {
    let answer = returned.map_err(guest_error)?;
    tool::check_size(answer_bytes(&answer), answer.content.len(), limits)?;
    let mut meta = object(answer.meta.as_deref())?;
    let answer = Answer {
        content: answer.content.into_iter().map(content).collect::<Result<_, _>>()?,
        structured: answer.structured.as_deref().map(|raw| json(raw, limits)).transpose()?,
        is_error: answer.is_error,
        input_required: InputRequired::take(&mut meta)?,
        meta,
    };
    answer.checked()
}

pub(crate) fn guest_error(error: types::Error) -> Error {
    let told = text::visible(text::cut(&error.message, MAX_MESSAGE_BYTES).to_owned());
    let message = if told.trim().is_empty() { "the plugin refused this and does not say why".to_owned() } else { told };
    Error { code: Code::from_guest(&error.code), message, retryable: error.retryable }
}

pub(crate) fn answer_bytes(answer: &wit::Answer) -> u64 {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let parts: usize =
        answer.content.iter().map(|part| part.data.len() + part.mime_type.len() + length(&part.meta)).sum();
    (parts + length(&answer.structured) + length(&answer.meta)) as u64
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("the tool broke its contract: {what}"))
}

fn content(part: wit::Content) -> Result<Content, Error> {
    Ok(Content { mime_type: part.mime_type, data: part.data, meta: object(part.meta.as_deref())? })
}

fn json(raw: &str, limits: &CallLimits) -> Result<Value, Error> {
    let bytes = Estimate::of(raw.as_bytes()).bytes();
    if bytes > limits.answer_json_bytes {
        return Err(Error::new(
            Code::Limit,
            format!(
                "the tool's structured answer takes about {bytes} bytes of memory, more than {} (limit \
                 `answer_json_bytes`); ask for less at a time",
                limits.answer_json_bytes
            ),
        ));
    }
    serde_json::from_str(raw).map_err(|error| broken(format!("its structured answer is not JSON: {error}")))
}

pub(crate) fn object(raw: Option<&str>) -> Result<Map<String, Value>, Error> {
    let Some(raw) = raw else { return Ok(Map::new()) };
    serde_json::from_str(raw).map_err(|error| broken(format!("the `meta` of its answer is no JSON object: {error}")))
}
