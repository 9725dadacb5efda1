//! To ask and to wait in one step: the wait is in the host, bounded, and nothing
//! polls.

use std::time::Duration;

use serde_json::Value;
use wharf_contract::webview::FailureKind as Known;

use super::{Dialog, FailureKind, Finished, Operation, Outcome, RequestState, Script, WebPages};
use crate::host::Host;
use crate::{ErrorCode, ToolError};

/// How long something may take that names no deadline.
const PATIENCE: Duration = Duration::from_secs(10);
/// What of the time of a call is left for its answer.
const RESERVE: Duration = Duration::from_millis(750);
/// The host ends a request at its deadline, and says why: the wait is longer.
const GRACE: Duration = Duration::from_secs(1);
const PIECE_BYTES: u32 = 1 << 20;

/// Why something that was asked of a page has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptFailure {
    /// The host did not take it.
    #[error(transparent)]
    Refused(#[from] ToolError),
    /// The page, or the browser, could not do it.
    #[error("{kind}: {message}")]
    Failed {
        /// Why, in a word.
        kind: FailureKind,
        /// Why, for a person or a model; much of it may be words of the page.
        message: String,
    },
    /// A dialog opened meanwhile, and nothing goes on until it is answered.
    #[error("a {} dialog is open, and nothing goes on until it is answered", dialog.kind)]
    Dialog {
        /// What has to be answered.
        dialog: Dialog,
        /// The request, which goes on afterwards until its deadline.
        request: String,
    },
}

impl ScriptFailure {
    /// Why the page could not do it, in a word.
    #[must_use]
    pub fn kind(&self) -> Option<&FailureKind> {
        match self {
            Self::Failed { kind, .. } => Some(kind),
            Self::Dialog { .. } => Some(&FailureKind::DialogOpen),
            Self::Refused(_) => None,
        }
    }
}

impl From<ScriptFailure> for ToolError {
    fn from(failure: ScriptFailure) -> Self {
        let message = failure.to_string();
        match failure {
            ScriptFailure::Refused(error) => error,
            ScriptFailure::Dialog { .. } => Self { code: ErrorCode::Conflict, message, retryable: false },
            ScriptFailure::Failed { kind, message } => {
                let (code, retryable) = code_of(&kind);
                Self { code, message: format!("{kind}: {message}"), retryable }
            }
        }
    }
}

fn code_of(kind: &FailureKind) -> (ErrorCode, bool) {
    match kind.known() {
        Some(Known::Denied) => (ErrorCode::Denied, false),
        Some(Known::TimeOut) => (ErrorCode::Timeout, true),
        Some(Known::Navigated) => (ErrorCode::Conflict, true),
        Some(Known::DialogOpen | Known::Cancelled) => (ErrorCode::Conflict, false),
        Some(Known::BackendGone | Known::Crashed) => (ErrorCode::Unavailable, true),
        Some(Known::Network) => (ErrorCode::Unavailable, false),
        Some(Known::Limit) => (ErrorCode::Limit, false),
        Some(Known::Exception | Known::Syntax | Known::Unserialisable | Known::Unsupported | Known::Invalid) | None => {
            (ErrorCode::Invalid, false)
        }
    }
}

impl WebPages<'_> {
    /// Runs a script, waits for it in the host and acknowledges its result: at most until
    /// its deadline, 10 s unless it says otherwise, and never longer than the call has.
    ///
    /// A dialog that opens meanwhile ends the wait, not the script.
    ///
    /// # Errors
    /// Why it has no result. `limit` where the result is larger than the script's
    /// `max_bytes`: [`WebPages::execute`] and [`WebPages::read_result`] page through one.
    pub fn run(&self, id: &str, script: &Script) -> Result<Value, ScriptFailure> {
        let deadline = self.affordable(script.deadline);
        let request = self.execute(id, &script.clone().deadline(deadline))?;
        let outcome = self.ended(&request, deadline)?;
        if outcome.truncated {
            self.acknowledge(&request)?;
            let message = format!("the result has {} bytes, more than were asked for; return less", outcome.bytes);
            return Err(ScriptFailure::Failed { kind: FailureKind::Limit, message });
        }
        let value = serde_json::from_slice(&outcome.data).map_err(ToolError::from);
        self.acknowledge(&request)?;
        Ok(value?)
    }

    /// The same for anything else: waits for an operation in the host, takes the
    /// whole of its result and lets go of it.
    ///
    /// # Errors
    /// Why it has no result.
    pub fn carry_out(
        &self,
        id: &str,
        operation: &Operation,
        deadline: Option<Duration>,
    ) -> Result<Finished, ScriptFailure> {
        let deadline = self.affordable(deadline);
        let request = self.perform(id, operation, Some(deadline))?;
        let Outcome { mime_type, mut data, truncated, bytes, .. } = self.ended(&request, deadline)?;
        let whole = usize::try_from(bytes).unwrap_or(usize::MAX);
        while truncated && data.len() < whole {
            let piece = self.read_result(&request, u64::try_from(data.len()).unwrap_or(u64::MAX), PIECE_BYTES)?;
            if piece.data.is_empty() {
                break;
            }
            data.extend(piece.data);
        }
        self.acknowledge(&request)?;
        Ok(Finished { mime_type, data })
    }

    fn affordable(&self, deadline: Option<Duration>) -> Duration {
        let left = self.host.remaining().saturating_sub(RESERVE);
        deadline.unwrap_or(PATIENCE).min(left).max(Duration::from_millis(1))
    }

    /// The outcome of a request that has ended with a result; of one that has not
    /// by then, that it was cancelled.
    fn ended(&self, request: &str, deadline: Duration) -> Result<Outcome, ScriptFailure> {
        let outcome = self.wait(request, deadline.saturating_add(GRACE))?;
        match (&outcome.state, outcome.dialog) {
            (RequestState::Done, dialog) => Ok(Outcome { dialog, ..outcome }),
            (RequestState::Failed, _) => {
                self.acknowledge(request)?;
                let kind = outcome.kind.unwrap_or(FailureKind::Exception);
                Err(ScriptFailure::Failed { kind, message: outcome.message })
            }
            (RequestState::Pending, Some(dialog)) => Err(ScriptFailure::Dialog { dialog, request: request.to_owned() }),
            (RequestState::Pending, None) => {
                self.cancel(request)?;
                self.acknowledge(request)?;
                let message = format!("it took longer than {} ms and was cancelled", deadline.as_millis());
                Err(ScriptFailure::Failed { kind: FailureKind::TimeOut, message })
            }
            // Expired, unknown, or of a later contract.
            _ => Err(ToolError::gone("the result is not kept any more").into()),
        }
    }
}
