//! The host's side of a call in a worker: it calls the functions that the guest asks for.

use std::{collections::VecDeque, sync::Arc};

use tokio::task::JoinSet;
use wasmtime::{AsContextMut as _, Store};
use wharf_core::{Code, Error};

use super::{
    frames::{self, AskedFunction, CallOrder, EndedHead, NumberedOrder},
    inbox::Said,
    pool::WorkerPool,
    process::{Conversation, Worker},
    setup::WorkerSetup,
};
use crate::{
    call::ActiveCall,
    coarse::ClockResolution,
    function::{GuestFunction, LinkedPlugin},
    guest::Guest,
    watch::{
        crossing::from_bytes,
        linked::{AskedOfHost, LinkedFunctions},
    },
};

/// Functions of one call that go on beside it.
const MOST_BESIDE: usize = 256;

/// Why a call in a worker has no result.
#[derive(Debug)]
pub(crate) enum WorkerFailure {
    /// A function of the host ended it.
    Trap(wasmtime::Error),
    /// It failed in the worker, or the worker is gone.
    Error(Error),
}

impl From<Error> for WorkerFailure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Runs a call in a worker. Dropping the future ends the call there.
pub(crate) async fn run<F: GuestFunction>(
    workers: &WorkerPool,
    setup: &WorkerSetup,
    functions: &LinkedFunctions<Guest>,
    (linked, is_loading): (&LinkedPlugin, bool),
    mut store: Store<Guest>,
    asked: AskedFunction,
) -> Result<F::Returned, WorkerFailure> {
    let call = Arc::clone(&store.data().call);
    let code = linked.code().ok_or_else(|| Error::new(Code::Internal, "no process can have its code"))?;
    let largest = usize::try_from(linked.most_copied_bytes(call.limits())).unwrap_or(usize::MAX);
    let mut order = order(&call, linked, asked);
    let mut conversation = loop {
        let worker = if is_loading {
            workers.alone(setup).await?
        } else {
            workers.worker(&call.context().tenant, &call.plugin, setup).await?
        };
        // It may just have ended, for want of work.
        match worker.begin(code, largest, order) {
            Ok(conversation) => break Told { conversation, alone: is_loading.then_some(worker) },
            Err(unused) => order = unused,
        }
    };
    let (head, rest) = serve(functions, &mut store, &mut conversation.conversation).await?;
    call.clock.charge(head.computed);
    held(&call, head.memory_bytes);
    let malformed = |_| Error::new(Code::Internal, "the process that ran the call answered what no plugin answers");
    if head.has_returned {
        Ok(from_bytes(&rest).map_err(malformed)?)
    } else {
        Err(frames::error_of(from_bytes(&rest).map_err(malformed)?).into())
    }
}

/// Tells the audit how much memory the call holds, as far as the worker is to be believed.
fn held(call: &ActiveCall, bytes: u64) {
    if let Some(audit) = call.audit() {
        audit.held_memory(bytes.min(call.limits().memory_bytes));
    }
}

/// A conversation, and the worker that ends with it where nobody else has it.
struct Told {
    conversation: Conversation,
    alone: Option<Arc<Worker>>,
}

impl Drop for Told {
    fn drop(&mut self) {
        if let Some(worker) = &self.alone {
            worker.retire();
        }
    }
}

fn order(call: &ActiveCall, linked: &LinkedPlugin, function: AskedFunction) -> Box<NumberedOrder> {
    let is_foreign = linked.functions().is_some();
    let order = CallOrder {
        component: 0,
        declared: call.declared,
        remaining: call.clock.remaining(),
        charged: call.clock.used(),
        limits: frames::limits_to_numbers(call.limits()),
        // One that knows the contract asks for them.
        settings: if is_foreign { call.request.policy.settings.to_string() } else { "{}".to_owned() },
        clock_step: call.request.policy.clock_resolution.map(ClockResolution::step),
        // Its worker knows.
        is_looked_for: false,
        function,
    };
    Box::new((0, order))
}

/// Calls what the guest asks for until the call ends in the worker.
pub(super) async fn serve(
    functions: &LinkedFunctions<Guest>,
    store: &mut Store<Guest>,
    conversation: &mut Conversation,
) -> Result<(EndedHead, bytes::Bytes), WorkerFailure> {
    let answers = conversation.answers();
    let call = Arc::clone(&store.data().call);
    let mut beside = JoinSet::new();
    let mut waiting = VecDeque::new();
    loop {
        let said = match waiting.pop_front() {
            Some(said) => said,
            None => conversation.next_soon().await.ok_or_else(|| conversation.lost())?,
        };
        let (request, function, parameters) = match said {
            Said::Ended { head, rest } => return Ok((head, rest)),
            Said::Asked { request, function, memory_bytes, parameters } => {
                held(&call, memory_bytes);
                (request, function, parameters)
            }
        };
        match functions.asked(function, store.as_context_mut(), &parameters) {
            AskedOfHost::Within(running) => {
                let mut running = Box::into_pin(running);
                let returned = loop {
                    tokio::select! {
                        biased;
                        returned = &mut running => break returned.map_err(WorkerFailure::Trap)?,
                        // What the guest does beside waits, and the end of the worker does not.
                        said = conversation.next(), if waiting.len() < MOST_BESIDE => match said {
                            None => return Err(conversation.lost().into()),
                            Some(Said::Ended { head, rest }) => return Ok((head, rest)),
                            Some(asked) => waiting.push_back(asked),
                        },
                    }
                };
                answers.answer(request, call.clock.remaining(), &returned);
            }
            AskedOfHost::Beside(running) => {
                while beside.try_join_next().is_some() {}
                if beside.len() >= MOST_BESIDE {
                    let told = format!("a call may have {MOST_BESIDE} requests under way");
                    return Err(Error::new(Code::Limit, told).into());
                }
                let (answers, call) = (answers.clone(), Arc::clone(&call));
                beside.spawn(async move {
                    // An error leaves the request without an answer, and the call to its end.
                    if let Ok(returned) = Box::into_pin(running).await {
                        answers.answer(request, call.clock.remaining(), &returned);
                    }
                });
            }
        }
    }
}
