//! Pages as their operator watches them: of any owner, and never a use of theirs.

use std::{sync::Arc, time::Duration};

use wharf_core::WebViewOwner;

use super::WebViews;
use crate::{LogName, LogPage, PageId, PageInfo, WebViewError};

/// How long a page may take to be drawn.
const PATIENCE: Duration = Duration::from_secs(2);

impl WebViews {
    /// A page of any owner.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`].
    pub fn watched(&self, id: PageId) -> Result<(WebViewOwner, PageInfo), WebViewError> {
        let page = self.core.page(id).ok_or(WebViewError::NoPage)?;
        Ok((page.owner.clone(), self.core.info(&page)))
    }

    /// The last entries of a log of a page, `most` at most and 1,000 at most, the oldest first.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`].
    pub fn watched_entries(&self, id: PageId, log: LogName, most: usize) -> Result<LogPage, WebViewError> {
        let page = self.core.page(id).ok_or(WebViewError::NoPage)?;
        Ok(self.core.look(&page, |state, _| {
            let log = state.logs.of(log);
            let last = log.page(u64::MAX, 1).next;
            log.page(last.saturating_sub(most as u64), most)
        }))
    }

    /// What is seen of a page, as a JPEG of its size: of now, or of less than a second ago, however many
    /// watch it.
    ///
    /// # Errors
    /// [`WebViewError::NoPage`]; [`WebViewError::Gone`] once it is closed; [`WebViewError::Conflict`] where a
    /// dialog keeps it from being drawn; [`WebViewError::Unavailable`] where it does not answer within 2
    /// seconds, or the backend draws nothing.
    pub async fn watched_picture(&self, id: PageId) -> Result<Arc<[u8]>, WebViewError> {
        let page = self.core.page(id).ok_or(WebViewError::NoPage)?;
        self.core.look(&page, |state, now| {
            if !state.is_open() {
                return Err(WebViewError::Gone { what: "this page" });
            }
            match state.dialog(now) {
                Some(_) => {
                    Err(WebViewError::Conflict { problem: "the page waits for an answer to a dialog".to_owned() })
                }
                None => Ok(()),
            }
        })?;
        let unavailable = |problem: String| WebViewError::Unavailable { problem, retryable: true };
        match page.picture(&self.core.backend, PATIENCE).await {
            Some(taken) => taken.map_err(|failure| unavailable(failure.message)),
            None => Err(unavailable("the page does not answer".to_owned())),
        }
    }
}
