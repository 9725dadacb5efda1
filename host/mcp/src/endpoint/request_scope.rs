//! What belongs to the request that is being answered, on its way through the
//! protocol crate and back: the crate calls [`super::session_table`] in the task of
//! the request, and has no place for any of this.

use std::{cell::RefCell, sync::Arc};

use bytes::Bytes;
use rmcp::model::JsonObject;
use tokio_util::sync::CancellationToken;
use wharf_core::service::CallableTool;

use super::{
    permits::{AnswerPermit, SessionPermit},
    refusal::EndpointRefusal,
    session::OpenedStream,
};

tokio::task_local! {
    static SCOPE: RequestScope;
}

/// What one request takes into the protocol crate, and what comes back.
pub(super) struct RequestScope {
    /// Absent where nothing answers the request.
    pub(super) answer: Option<Arc<AnswerPermit>>,
    /// Where it begins a connection, which is a session or a subscription:
    /// fires when that is over.
    pub(super) begins: RefCell<Option<CancellationToken>>,
    /// The tool that it calls.
    pub(super) tool: Option<Arc<dyn CallableTool>>,
    /// Of the session that it begins.
    pub(super) session: RefCell<Option<SessionPermit>>,
    pub(super) reply: RefCell<Option<SessionReply>>,
}

/// What a session answers, in place of what the protocol crate would.
pub(super) enum SessionReply {
    Json(Bytes),
    Stream(OpenedStream),
    Refused(EndpointRefusal),
}

impl RequestScope {
    /// Answers within this request, and returns what a session answered.
    pub(super) async fn enter<T>(self, answering: impl Future<Output = T>) -> (T, Option<SessionReply>) {
        SCOPE
            .scope(self, async {
                let answered = answering.await;
                (answered, SCOPE.with(|scope| scope.reply.take()))
            })
            .await
    }
}

pub(super) fn reply(reply: SessionReply) {
    // Outside of a request, nobody is there to be told.
    let _ = SCOPE.try_with(|scope| scope.reply.replace(Some(reply)));
}

pub(super) fn answer_permit() -> Option<Arc<AnswerPermit>> {
    SCOPE.try_with(|scope| scope.answer.clone()).ok().flatten()
}

/// What fires when the connection is over that the request begins.
pub(super) fn begins() -> Option<CancellationToken> {
    SCOPE.try_with(|scope| scope.begins.borrow().clone()).ok().flatten()
}

/// Has the request begin a connection after all: that of a session which goes on here. What is
/// returned fires when that is over.
pub(super) fn begin() -> CancellationToken {
    let over = CancellationToken::new();
    let _ = SCOPE.try_with(|scope| scope.begins.replace(Some(over.clone())));
    over
}

/// The input schema of the tool that the request calls, where the request has to repeat
/// arguments of it in its headers.
pub(crate) fn repeated_arguments() -> Option<Arc<JsonObject>> {
    SCOPE.try_with(|scope| scope.tool.as_ref()?.repeated_arguments()).ok().flatten()
}

/// The permit of the session that the request begins.
pub(super) fn session_permit() -> Option<SessionPermit> {
    SCOPE.try_with(|scope| scope.session.take()).ok().flatten()
}
