//! What of a message is read before the protocol crate has it: enough to know which permits
//! it takes. The arguments of a large call are taken out.

use bytes::Bytes;
use rmcp::model::RequestId;
use serde::Deserialize;

use super::outline;
use crate::carried::CarriedArguments;

const CALL: &str = "tools/call";
/// A call whose JSON takes more goes past the protocol crate without its arguments.
const CARRIED_BYTES: u64 = 256 << 10;

/// A message from a client.
pub(super) struct ReadMessage {
    /// Its id and its method, where it is a request.
    pub(super) request: Option<(RequestId, String)>,
    /// Of a large call.
    pub(super) arguments: Option<CarriedArguments>,
    /// What the protocol crate takes of memory beside the estimate, in bytes.
    pub(super) further_bytes: u64,
}

/// The members of a message that tell what it is.
#[derive(Deserialize)]
struct MessageOutline {
    id: Option<RequestId>,
    method: Option<String>,
}

/// Reads a message whose values take `estimate_bytes`, and leaves what the protocol crate is
/// to have.
///
/// # Errors
/// Where the body is no message.
pub(super) fn read(body: &mut Bytes, estimate_bytes: u64) -> serde_json::Result<ReadMessage> {
    let outline = serde_json::from_slice::<MessageOutline>(body)?;
    let mut read = ReadMessage { request: outline.id.zip(outline.method), arguments: None, further_bytes: 0 };
    let Some((_, method)) = read.request.as_ref().filter(|_| estimate_bytes > CARRIED_BYTES) else { return Ok(read) };
    if method == CALL
        && let Some((rest, arguments)) = outline::take_out(body)
    {
        *body = rest.into();
        read.arguments = Some(arguments);
    } else if method != CALL {
        // The protocol crate builds it more than once.
        read.further_bytes = estimate_bytes * 2;
    }
    Ok(read)
}
