//! Pages through a result: the part that is kept here, and the rest that is still in
//! the page.

use std::time::Duration;

use tokio::time::timeout;
use wharf_core::WebViewOwner;

use super::{Core, WebViews};
use crate::{
    Injection, RequestId, Settled, Token, WebViewError,
    page::{BackendCommand, Page},
    requests::{RequestEnd, RequestLookup, RequestResult, RequestState},
    wrapper::{StoredPiece, piece},
};

/// The largest piece.
const MAXIMUM_BYTES: usize = 1 << 20;

/// A piece of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPiece {
    /// The byte at which it begins: the one asked for, or the next at which a
    /// character does.
    pub start: u64,
    /// The byte to go on from.
    pub next: u64,
    /// How many bytes the whole result has.
    pub bytes: u64,
    /// The piece; of text, no character is split. Empty at the end.
    pub data: Vec<u8>,
    /// Whether the whole result is a text.
    pub is_text: bool,
}

impl WebViews {
    /// A piece of a result from a byte on, of `max_bytes` and 1 MiB at most. The part
    /// that was cut is fetched from the page, within `patience`.
    ///
    /// # Errors
    /// [`WebViewError::NoRequest`]; [`WebViewError::Conflict`] where it has not ended
    /// in `done`, or a dialog blocks the page; [`WebViewError::Gone`] where it is not
    /// kept any more; [`WebViewError::Unavailable`] where the page does not answer.
    pub async fn read_result(
        &self,
        owner: &WebViewOwner,
        id: RequestId,
        from: u64,
        max_bytes: usize,
        patience: Duration,
    ) -> Result<ResultPiece, WebViewError> {
        let page = self.find_request(owner, id)?;
        let most = max_bytes.clamp(1, MAXIMUM_BYTES);
        let done = self.core.look(&page, |state, now| {
            state.touch(now);
            let conflict = |problem: &str| Err(WebViewError::Conflict { problem: problem.to_owned() });
            match state.requests.look(id) {
                RequestLookup::Unknown => Err(WebViewError::NoRequest),
                RequestLookup::Expired => Err(WebViewError::Gone { what: "this result" }),
                RequestLookup::Kept(request) => match &request.state {
                    RequestState::Pending { .. } => conflict("this request is pending; wait for its end first"),
                    RequestState::Ended { ended: RequestEnd::Failed(_), .. } => {
                        conflict("this request failed; it has no result")
                    }
                    RequestState::Ended { ended: RequestEnd::Done(done), .. } => Ok(done.clone()),
                },
            }
        })?;
        if let Some(piece) = kept(&done, from, most) {
            return Ok(piece);
        }
        let StoredPiece { start, data } = self.core.fetch(&page, id, from, most, patience).await?;
        // A hostile page may answer anything, but never more than there is.
        let next = (start + data.len() as u64).min(done.bytes);
        Ok(ResultPiece { start, next, bytes: done.bytes, data: data.into_bytes(), is_text: true })
    }
}

impl Core {
    /// Fetches a piece from the page.
    async fn fetch(
        &self,
        page: &Page,
        id: RequestId,
        from: u64,
        most: usize,
        patience: Duration,
    ) -> Result<StoredPiece, WebViewError> {
        const GONE: WebViewError = WebViewError::Gone { what: "the rest of this result" };
        let busy = |problem: &str| WebViewError::Unavailable { problem: problem.to_owned(), retryable: true };
        let token = Token::random().map_err(WebViewError::no_randomness)?;
        let answer = self.change(page, |state, now| {
            let cut = state.cut(id).cloned().ok_or(GONE)?;
            if state.dialog(now).is_some() {
                let problem = "the rest of this result is in the page, and a dialog keeps that; answer it first";
                return Err(WebViewError::Conflict { problem: problem.to_owned() });
            }
            let sources = page.result_store.read(cut.number, from, most);
            let answer =
                state.expect_read(token).ok_or_else(|| busy("too many results are read at once; try again"))?;
            state.hand(BackendCommand::Inject(Injection { token, sources, isolated: cut.isolated, frame: cut.frame }));
            Ok(answer)
        })?;
        let settled = match timeout(patience, answer).await {
            Ok(Ok(settled)) => settled,
            // The page went elsewhere, crashed or was closed.
            Ok(Err(_)) => return Err(GONE),
            Err(_) => {
                self.change(page, |state, _| state.give_up_read(token));
                return Err(busy("the page does not answer, so the rest of this result cannot be read now; try again"));
            }
        };
        match settled {
            Settled::Envelope(envelope) => piece(&envelope, from, most).ok_or(GONE),
            Settled::Syntax { .. } | Settled::Done(_) | Settled::Failed(_) => Err(GONE),
        }
    }
}

/// A piece of the part that is kept here; an empty one behind the end.
fn kept(done: &RequestResult, from: u64, most: usize) -> Option<ResultPiece> {
    let is_text = is_text(done.mime_type);
    let piece = |start: usize, end: usize| ResultPiece {
        start: start as u64,
        next: end as u64,
        bytes: done.bytes,
        data: done.data[start..end].to_vec(),
        is_text,
    };
    if from >= done.bytes {
        return Some(ResultPiece { start: done.bytes, next: done.bytes, bytes: done.bytes, data: Vec::new(), is_text });
    }
    let start = usize::try_from(from).ok().filter(|from| *from < done.data.len())?;
    let end = start.saturating_add(most).min(done.data.len());
    if !is_text {
        return Some(piece(start, end));
    }
    let text = std::str::from_utf8(&done.data).unwrap_or_default();
    let start = (start..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let end = (start + 1..=end).rev().find(|at| text.is_char_boundary(*at));
    let end = end.or_else(|| (start + 1..=text.len()).find(|at| text.is_char_boundary(*at)));
    end.map(|end| piece(start, end))
}

pub(super) fn is_text(mime_type: &str) -> bool {
    mime_type == "application/json" || mime_type.starts_with("text/")
}
