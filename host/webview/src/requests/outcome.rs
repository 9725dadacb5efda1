//! The end of a request, as it is kept.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::Failure;

/// How a request ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RequestEnd {
    Done(RequestResult),
    Failed(Failure),
}

/// A result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestResult {
    pub(crate) mime_type: &'static str,
    /// The result, or its beginning.
    pub(crate) data: Arc<[u8]>,
    /// How many bytes the whole result has.
    pub(crate) bytes: u64,
    /// The number by which the page keeps the rest.
    pub(crate) rest: Option<u64>,
    pub(crate) meta: Map<String, Value>,
}

impl RequestEnd {
    /// How many bytes keeping it takes.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Done(done) => done.data.len() as u64,
            Self::Failed(failure) => failure.message.len() as u64,
        }
    }
}
