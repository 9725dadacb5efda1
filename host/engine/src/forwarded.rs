//! What a worker has in place of what the runtime does itself in a host: streams of files, requests
//! and lines for the log, each by a function of the host that no guest can name.

mod requests;
mod streams;

use wharf_core::text;

pub(crate) use self::{
    requests::{BodyPart, Fields, RequestHead, fields, frame_of, headers, part_of, send_by_host, told},
    streams::{CHUNK_BYTES, FailureOfHost, ReadFromHost, StreamEnd, WrittenToHost, input, output},
};
use crate::call::ActiveCall;

/// Their numbers: they are linked before all others, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum OwnFunction {
    Log,
    ReadStream,
    EndInput,
    WriteStream,
    EndOutput,
    BeginRequest,
    WriteBody,
    ReadHead,
    ReadBody,
    EndRequest,
}

/// How many there are.
pub(crate) const OWN_FUNCTIONS: u16 = OwnFunction::EndRequest as u16 + 1;

/// A longer line is cut by the host, which a worker spares the way.
const MAX_LINE_BYTES: usize = 8 << 10;

impl ActiveCall {
    /// Sends a line to the log of the host, which counts it.
    pub(crate) fn log_in_host(&self, level: &str, message: &str) {
        let line = (level.to_owned(), text::cut(message, MAX_LINE_BYTES).to_owned());
        // Without a host there is no log.
        let _ = self.tell_host(OwnFunction::Log as u16, &line);
    }
}
