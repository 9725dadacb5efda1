//! What a request holds on to while it is answered.
//!
//! The protocol crate has no place for it, so a request carries it among its extensions, and
//! its transport keeps what has to stay until the answer is written.

use std::{any::Any, sync::Arc};

use parking_lot::Mutex;
use wharf_core::AnswerShare;

/// The memory of what answers a request. The protocol crate keeps an answer as values until
/// its message is written as text, which may wait for the client; so the transport of the
/// request keeps a clone of this until then.
#[derive(Clone, Default)]
pub(crate) struct AnswerHold(Arc<Mutex<Vec<AnswerShare>>>);

impl AnswerHold {
    pub(crate) fn keep(&self, share: AnswerShare) {
        if !share.is_empty() {
            self.0.lock().push(share);
        }
    }
}

/// What a transport counts for a request until its answer is made, such as a place and
/// memory. It is free by the time that the client reads the answer.
#[derive(Clone)]
pub(crate) struct RequestPermit {
    _held: Arc<dyn Any + Send + Sync>,
    answer: AnswerHold,
}

impl RequestPermit {
    pub(crate) fn new(held: Arc<impl Send + Sync + 'static>, answer: AnswerHold) -> Self {
        Self { _held: held, answer }
    }

    /// The memory of what answers the request.
    pub(crate) fn answer(&self) -> &AnswerHold {
        &self.answer
    }
}
