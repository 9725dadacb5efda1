//! Rounds of input: a call that needs something of its caller is made again with
//! what was given.
//!
//! A client of 2026-07-28 makes it again itself and carries a sealed state from one
//! round to the next; for one of 2025-11-25 that is done here, by asking it. Knows
//! neither tools nor prompts.

mod ask;
mod needs;
mod seal;

use std::{collections::BTreeMap, time::Duration};

use rmcp::{
    ErrorData,
    model::{ErrorCode, InputRequest, InputRequiredResult, InputResponses},
};
use serde_json::{Map, Value, json};
use wharf_core::{Answer, AnswerShare, Code, Error, InputGiven, InputRequired, service::offer::PromptAnswer};

pub use seal::StateKeys;
pub(crate) use seal::{StateBinding, StateSealer};

use crate::client_request::{ClientRequest, MAX_WAITING, guarded};

/// How often one call may ask: more than any dialogue needs, and an end to one that
/// never ends.
pub(crate) const MAX_ROUNDS: u32 = 32;

/// Between two rounds in which nothing is asked: such a call waits for something else.
const PAUSE: Duration = Duration::from_millis(100);

/// What may ask for input instead of answering.
pub(crate) trait AsksForInput {
    /// What it asks for.
    fn take_required(&mut self) -> Option<InputRequired>;

    /// What its JSON takes of the account of answers.
    fn memory(&self) -> &AnswerShare;
}

impl AsksForInput for Answer {
    fn take_required(&mut self) -> Option<InputRequired> {
        self.input_required.take()
    }

    fn memory(&self) -> &AnswerShare {
        &self.memory
    }
}

impl AsksForInput for PromptAnswer {
    fn take_required(&mut self) -> Option<InputRequired> {
        self.input_required.take()
    }

    fn memory(&self) -> &AnswerShare {
        &self.memory
    }
}

/// The outcome of a request.
pub(crate) enum RoundOutcome<A> {
    /// The answer.
    Done(A),
    /// The client of the newer era has to give something first.
    Asks(InputRequiredResult),
    /// It cannot be answered at all.
    Refused(ErrorData),
}

/// What the client sent of an earlier round.
pub(crate) struct CarriedInput {
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<String>,
}

/// Makes a call, in as many rounds as it takes. `binding` is what a state is bound
/// to, and absent for clients of the older era, who carry none.
///
/// # Errors
/// What the call fails with; `limit` where it asks too often.
pub(crate) async fn run<A, F>(
    request: &ClientRequest,
    sealer: &StateSealer,
    binding: Option<&StateBinding<'_>>,
    carried: CarriedInput,
    mut make: impl FnMut(InputGiven) -> F,
) -> Result<RoundOutcome<A>, Error>
where
    A: AsksForInput,
    F: Future<Output = Result<A, Error>>,
{
    let (mut round, mut input) = match (binding, carried) {
        (None, _) => (0, InputGiven::default()),
        (Some(binding), CarriedInput { responses, state }) => {
            let (round, state) = match state {
                None => (0, None),
                Some(sealed) => match sealer.open(binding, &sealed)? {
                    Some(opened) => (opened.round, opened.state),
                    None => return Ok(RoundOutcome::Refused(foreign_state())),
                },
            };
            let responses = responses.map(Map::from_iter).unwrap_or_default();
            (round, InputGiven { responses, state })
        }
    };
    loop {
        let mut answer = guarded(make(input)).await?;
        let required = answer.take_required();
        let Some(required) = required else {
            request.keep(answer.memory().clone());
            return Ok(RoundOutcome::Done(answer));
        };
        round += 1;
        if round > MAX_ROUNDS {
            return Err(Error::new(
                Code::Limit,
                format!("this call has asked for input in {MAX_ROUNDS} rounds and still has no answer; it ends here"),
            ));
        }
        let missing = needs::missing(&required.requests, request.caller.capabilities.as_ref());
        if !missing.is_empty() {
            return lacking(missing, binding.is_some());
        }
        let InputRequired { requests, state } = required;
        let requests = ask::requests(requests)?;
        match binding {
            Some(binding) => {
                let sealed = sealer.seal(binding, round, state)?;
                let requests = Some(requests).filter(|requests| !requests.is_empty());
                request.keep(answer.memory().clone());
                return Ok(RoundOutcome::Asks(InputRequiredResult::new(requests, Some(sealed))));
            }
            None => input = InputGiven { responses: Box::pin(given(request, requests)).await?, state },
        }
    }
}

/// Asks a client of the older era.
async fn given(request: &ClientRequest, requests: BTreeMap<String, InputRequest>) -> Result<Map<String, Value>, Error> {
    let Ok(_place) = request.waiting.try_acquire() else {
        return Err(Error::retryable(
            Code::Limit,
            format!(
                "{MAX_WAITING} calls of this connection wait for input already; answer some of their questions first"
            ),
        ));
    };
    let Some(peer) = &request.peer else {
        return Err(Error::new(Code::Internal, "this client is asked for input by the answer, not on its connection"));
    };
    let responses = if requests.is_empty() {
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = request.caller.cancel.cancelled() => {}
        }
        Map::new()
    } else {
        ask::ask(peer, requests, &request.caller.cancel).await
    };
    if request.caller.cancel.is_cancelled() || peer.is_transport_closed() {
        return Err(Error::new(Code::Cancelled, "the client took the call back while it was asked for input"));
    }
    Ok(responses)
}

fn lacking<A>(missing: Map<String, Value>, modern: bool) -> Result<RoundOutcome<A>, Error> {
    let names: Vec<_> = missing.keys().map(|name| format!("`{name}`")).collect();
    let told = format!("this needs {} of its client, which the client has not declared", names.join(" and "));
    if !modern {
        return Err(Error::new(Code::Unavailable, told));
    }
    let data = json!({ "requiredCapabilities": missing });
    Ok(RoundOutcome::Refused(ErrorData::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, told, Some(data))))
}

/// Does not say why, which would help only a forger.
pub(crate) fn foreign_state() -> ErrorData {
    let told = "`requestState` is not what this host gave for this very request within the last hour; \
                make the request again without `requestState` and `inputResponses`";
    ErrorData::invalid_params(told, None)
}
