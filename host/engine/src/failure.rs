//! Why a host function fails: it refuses, and the guest goes on, or the call ends.
//!
//! Every function of the contract fails with this type, so an adapter writes `?` where a backend
//! refuses, where the guest is wrong and where a limit is exceeded.

use tokio::task::JoinError;
use wasmtime::component::ResourceTableError;
use wharf_completion::stream::StreamError;
use wharf_core::{Code, Error, QuotaFull, grant::Denied};
use wharf_process::ProcessError;
use wharf_state::StateError;
use wharf_terminal::TerminalError;
use wharf_webview::WebViewError;
use wharf_workspace::WorkspaceError;

use crate::budget::ExceededLimit;

/// Why a host function fails.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "the generated bindings name it in their public traits")]
pub enum Failure {
    /// The guest gets the error and goes on.
    Refused(Error),
    /// The call ends.
    Trap(wasmtime::Error),
}

macro_rules! refused {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Refused(error.into())
            }
        })*
    };
}

refused!(Error, Denied, QuotaFull, ProcessError, StateError, StreamError, TerminalError, WebViewError, WorkspaceError,);

impl From<JoinError> for Failure {
    /// A thread of the host's panicked.
    fn from(error: JoinError) -> Self {
        Self::Refused(Error::new(Code::Internal, error.to_string()))
    }
}

impl From<ExceededLimit> for Failure {
    fn from(exceeded: ExceededLimit) -> Self {
        Self::Trap(wasmtime::Error::new(exceeded))
    }
}

impl From<ResourceTableError> for Failure {
    /// The guest used a handle that it does not have.
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}
