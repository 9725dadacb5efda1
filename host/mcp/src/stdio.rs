//! The protocol over standard input and output, or any other pair of streams: one connection
//! from its first byte to its end.
//!
//! Owns the order in which a connection ends. Knows nothing of single messages.
//!
//! | file | what it owns |
//! |---|---|
//! | `transport` | messages as lines: reading, refusing, delivering |
//! | `direct` | calls of tools that go past the protocol crate |
//! | `wire`, `scan` | one line and the message in it; the id of a message that cannot be parsed |
//! | `outbox`, `output` | what waits to be written; standard output that is a file |

mod direct;
mod outbox;
mod output;
mod scan;
mod transport;
mod wire;

use std::time::Duration;

use rmcp::{
    service::{ServerInitializeError, serve_server_with_ct},
    transport::stdio_pipes,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use wharf_core::ContextRules;

use crate::{handler::Handler, info::ServerInfo, served::Served, traced::Traced};
use direct::DirectCalls;
use output::FileOutput;
use transport::LineTransport;
pub use wire::MAX_MESSAGE_BYTES;

/// How long calls may still finish once the client has closed its end. Enough
/// for `echo REQUESTS | wharf serve --stdio` to be answered, and less than the
/// two seconds after which clients kill a server that does not leave.
const GRACE: Duration = Duration::from_millis(500);

/// Why a connection could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client opened the connection in a way that cannot be served.
    #[error("the client's opening of the connection failed")]
    Handshake(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The task that served the connection died.
    #[error("serving the connection failed")]
    Task(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Serves one client on standard input and output until it leaves or
/// `shutdown` fires. Needs a tokio runtime with I/O and time.
///
/// Nothing else may write to standard output meanwhile.
///
/// # Errors
/// Where the connection cannot be opened or its task dies. A client that
/// leaves is no error.
pub async fn serve_stdio(
    served: Served,
    rules: ContextRules,
    info: ServerInfo,
    shutdown: CancellationToken,
) -> Result<(), ServeError> {
    let (reader, writer) = stdio_pipes();
    match FileOutput::of_standard_output() {
        Some(file) => serve_streams(reader, file, served, rules, info, shutdown).await,
        None => serve_streams(reader, writer, served, rules, info, shutdown).await,
    }
}

/// Serves one client on a pair of streams, as [`serve_stdio`] does.
///
/// Where the client closes its end, calls in flight have half a second to
/// finish and are then cancelled; where `shutdown` fires, they are cancelled at
/// once. This returns when they are finished, and after 5 seconds in any case.
///
/// # Errors
/// As [`serve_stdio`].
pub async fn serve_streams<R, W>(
    reader: R,
    writer: W,
    served: Served,
    rules: ContextRules,
    info: ServerInfo,
    shutdown: CancellationToken,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let stop = shutdown.child_token();
    let closed = CancellationToken::new();
    let memory = served.tools.request_memory().unwrap_or_default();
    let over = closed.child_token();
    let _over = over.clone().drop_guard();
    let tenant = rules.tenant.clone();
    let handler = Traced::new(Handler::new(served, rules, info, over));
    let direct = DirectCalls::new(handler.clone(), stop.clone());
    let transport = LineTransport::new(reader, writer, (closed.clone(), direct), memory, tenant);
    let running = match serve_server_with_ct(handler, transport, stop.clone()).await {
        Ok(running) => running,
        Err(ServerInitializeError::Cancelled | ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        // The other end went away in the middle of the handshake.
        Err(ServerInitializeError::TransportError { .. }) if closed.is_cancelled() => return Ok(()),
        Err(error) => return Err(ServeError::Handshake(Box::new(error))),
    };
    let mut finished = std::pin::pin!(running.waiting());
    let outcome = tokio::select! {
        outcome = &mut finished => outcome,
        () = closed.cancelled() => {
            tokio::select! {
                outcome = &mut finished => outcome,
                () = tokio::time::sleep(GRACE) => {
                    // The protocol crate would let them run on for 5 seconds.
                    stop.cancel();
                    finished.await
                }
            }
        }
    };
    match outcome {
        Ok(rmcp::service::QuitReason::JoinError(error)) | Err(error) => Err(ServeError::Task(Box::new(error))),
        Ok(_) => Ok(()),
    }
}
