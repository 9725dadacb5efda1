//! What the host and a worker say to each other.

use std::time::Duration;

use bytes::Bytes;
use wharf_core::{CallLimits, Code, Error, text};

use crate::{
    adapter::types::MAX_MESSAGE_BYTES,
    watch::crossing::{Crossing, Incoming, Malformed, crossing, from_bytes, one_of, to_bytes},
};

/// A function of a plugin, with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AskedFunction {
    /// An instance is made, and that is all.
    Start,
    ListTools,
    /// Name and arguments.
    CallTool((String, String)),
    ListPrompts,
    /// Name and arguments.
    GetPrompt((String, String)),
    ListClaims,
    ListTemplates,
    ListResources,
    /// The address.
    ReadResource(String),
    /// Kind, name, argument, what was typed, and the others.
    Complete((String, String, String, String, String)),
}

one_of!(AskedFunction {
    Start = 0,
    ListTools = 1,
    CallTool(named) = 2,
    ListPrompts = 3,
    GetPrompt(named) = 4,
    ListClaims = 5,
    ListTemplates = 6,
    ListResources = 7,
    ReadResource(uri) = 8,
    Complete(completing) = 9,
});

/// A component, of which the code comes beside this over the socket for descriptors.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct ComponentCode {
    pub(super) number: u32,
    pub(super) bytes: u64,
    /// Its exported functions are its tools.
    pub(super) exports_functions: bool,
}

/// A call, as the host gives it to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallOrder {
    /// The number of the component.
    pub(super) component: u32,
    /// How long its function says that it takes at most.
    pub(super) declared: Option<Duration>,
    /// How long the call may still take.
    pub(super) remaining: Duration,
    /// What the host has computed for it.
    pub(super) charged: Duration,
    /// The limits of the call, in the order of their table.
    pub(super) limits: Vec<u64>,
    /// What a component that knows no contract finds in its environment.
    pub(super) settings: String,
    /// The steps of its clocks.
    pub(super) clock_step: Option<Duration>,
    /// The host looks for what the worker says, so that it answers at once: the worker may look, too.
    pub(super) is_looked_for: bool,
    pub(super) function: AskedFunction,
}

crossing! { self::CallOrder { component, declared, remaining, charged, limits, settings, clock_step, is_looked_for, function }; }

/// The number of a call, which its worker gives out in the host, and what it is.
pub(super) type NumberedOrder = (u64, CallOrder);

/// The limits of a call as they cross.
pub(super) fn limits_to_numbers(limits: &CallLimits) -> Vec<u64> {
    limits.values().map(|(_, value)| value).collect()
}

pub(super) fn limits_of_numbers(numbers: &[u64]) -> Result<CallLimits, Malformed> {
    if numbers.len() != CallLimits::TABLE.len() {
        return Err(Malformed);
    }
    let mut limits = CallLimits::default();
    for (row, value) in CallLimits::TABLE.iter().zip(numbers) {
        limits.set(row.name, *value).map_err(|_| Malformed)?;
    }
    Ok(limits)
}

/// What the host says. Calls have numbers, which it chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ToWorker {
    Call(Box<NumberedOrder>),
    /// The call is over for the host.
    Stop(u64),
}

one_of!(ToWorker { Call(order) = 0, Stop(call) = 1 });

/// In front of what a function of the host came to, which is the rest of the frame.
pub(super) const RETURNED: u8 = 2;

/// The call, the request, and how long the call may still take.
pub(super) type ReturnedHead = (u64, u32, Duration);

/// What a worker says, by the first byte of a frame.
pub(super) const READY: u8 = 0;
/// A function of the host is asked for; the rest of the frame has the parameters.
pub(super) const ASKED: u8 = 1;
/// A call is over; the rest of the frame is what the guest returned, or a [`Refusal`].
pub(super) const ENDED: u8 = 2;

/// The call, the request, the number of the function, and the memory that the call holds. Nobody waits
/// for what a request of number 0 comes to.
pub(super) type AskedHead = (u64, u32, u16, u64);
pub(super) const TOLD: u32 = 0;

/// How a call ended in a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EndedHead {
    pub(super) call: u64,
    /// What it computed.
    pub(super) computed: Duration,
    /// The memory that it held in the end.
    pub(super) memory_bytes: u64,
    /// Whether the guest returned.
    pub(super) has_returned: bool,
}

crossing! { self::EndedHead { call, computed, memory_bytes, has_returned }; }

/// An error of a call in a worker.
pub(super) type Refusal = (String, String, bool);

pub(super) fn refusal(error: &Error) -> Refusal {
    (error.code.as_str().to_owned(), error.message.clone(), error.retryable)
}

/// The worker may have said anything.
pub(super) fn error_of((code, message, retryable): Refusal) -> Error {
    let message = text::visible(text::cut(&message, MAX_MESSAGE_BYTES).to_owned());
    Error { retryable, ..Error::new(Code::from_guest(&code), message) }
}

/// A frame: a kind, its head, and perhaps a rest.
pub(super) fn frame(kind: u8, head: &impl Crossing, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rest.len() + 32);
    bytes.push(kind);
    head.write(&mut bytes);
    bytes.extend_from_slice(rest);
    bytes
}

/// The head of what follows the kind, and the rest.
pub(super) fn split<T: Crossing>(bytes: &Bytes) -> Result<(T, Bytes), Malformed> {
    let mut from = Incoming::of(bytes);
    let head = T::read(&mut from)?;
    Ok((head, bytes.slice(bytes.len() - from.len()..)))
}

impl ToWorker {
    pub(super) fn to_frame(&self) -> Vec<u8> {
        to_bytes(self)
    }

    pub(super) fn of_frame(frame: &[u8]) -> Result<Self, Malformed> {
        from_bytes(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_and_its_limits_come_back_whole() {
        let limits = CallLimits { host_calls: 7, ..CallLimits::default() };
        let order = CallOrder {
            component: 3,
            declared: Some(Duration::from_millis(300)),
            remaining: Duration::from_secs(60),
            charged: Duration::from_micros(5),
            limits: limits_to_numbers(&limits),
            settings: "{}".to_owned(),
            clock_step: Some(Duration::from_millis(20)),
            is_looked_for: true,
            function: AskedFunction::CallTool(("echo".to_owned(), "{\"a\":1}".to_owned())),
        };
        let call = ToWorker::Call(Box::new((9, order.clone())));
        assert_eq!(ToWorker::of_frame(&call.to_frame()), Ok(call));
        assert_eq!(limits_of_numbers(&order.limits), Ok(limits));
        assert_eq!(limits_of_numbers(&order.limits[1..]), Err(Malformed));
        assert_eq!(limits_of_numbers(&vec![u64::MAX; order.limits.len()]), Err(Malformed));
    }

    #[test]
    fn an_error_of_a_worker_has_a_code_of_ours_and_a_message_that_can_be_shown() {
        let said = ("no such code".to_owned(), format!("a\u{1b}[2J{}", "x".repeat(1 << 20)), true);
        let error = error_of(said);
        assert_eq!(error.code, Code::Internal);
        assert!(error.message.len() <= 2 * MAX_MESSAGE_BYTES && !error.message.contains('\u{1b}'), "{error}");
        let limit = Error::retryable(Code::Limit, "full");
        assert_eq!(error_of(refusal(&limit)).to_string(), limit.to_string());
    }
}
