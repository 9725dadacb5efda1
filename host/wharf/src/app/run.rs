//! One call of an app's tool: on a task of its own, so that code that blocks or
//! panics ends no call but its own.

use std::{any::Any, sync::Arc};

use serde_json::{Map, Value};
use tokio::{
    task::JoinError,
    time::{Instant, sleep_until},
};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;
use wharf_core::{Answer, CallLimits, Code, Error, InputGiven, Permit, service::Caller, text, tool::check_size};

use super::{AppCall, Registered};

/// Longest message of an error for a client.
const MAX_MESSAGE_BYTES: usize = 4 << 10;
/// What the log shows of a panic.
const MAX_PANIC_BYTES: usize = 1 << 10;

impl Registered {
    /// Runs it until it has answered, its time is over, or the client takes the
    /// call back. Dropping the future ends the call. The place is given back
    /// once the tool is really gone, which code that blocks may delay.
    pub(crate) async fn run(
        &self,
        caller: &Arc<Caller>,
        arguments: Map<String, Value>,
        input: InputGiven,
        limits: &CallLimits,
        place: Permit,
    ) -> Result<Answer, Error> {
        let cancel = &caller.cancel;
        let cancelled = || Error::new(Code::Cancelled, "the call was cancelled");
        if cancel.is_cancelled() {
            return Err(cancelled());
        }
        let wall_time = limits.wall_time(self.tool.wall_time);
        let deadline = Instant::now() + wall_time.time;
        let call = AppCall::new(caller, arguments, input, deadline.into_std(), limits);
        let _ended = call.ended.clone().drop_guard();
        let action = Arc::clone(&self.action);
        let working = async move {
            let answered = action.call(call).await;
            drop(place);
            answered
        };
        let mut task = AbortOnDropHandle::new(tokio::spawn(working.in_current_span()));
        let answer = tokio::select! {
            biased;
            joined = &mut task => joined.unwrap_or_else(|error| Err(self.failed(error))).map_err(visible)?,
            () = cancel.cancelled() => return Err(cancelled()),
            () = sleep_until(deadline) => return Err(wall_time.exceeded()),
        };
        check_size(answer.bytes(), answer.content.len(), limits)?;
        answer.checked()
    }

    fn failed(&self, error: JoinError) -> Error {
        match error.try_into_panic() {
            Ok(panic) => {
                let tool = &self.tool.definition.name;
                tracing::error!(tool, "a tool of the app panicked: {}", text::line(words(&*panic), MAX_PANIC_BYTES));
                Error::new(Code::Internal, "the tool panicked; the host's log says more. Only this call ended")
            }
            Err(_) => Error::new(Code::Unavailable, "the host is shutting down"),
        }
    }
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it gave no reason")
}

fn visible(error: Error) -> Error {
    Error { message: text::visible(text::cut(&error.message, MAX_MESSAGE_BYTES).to_owned()), ..error }
}
