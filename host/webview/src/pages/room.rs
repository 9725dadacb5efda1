//! Makes room for requests and their results: the oldest results of the same session or
//! tenant go, and nothing of another tenant.

use std::sync::Arc;

use wharf_core::{QuotaFull, WebViewOwner, quota::Level};

use super::Core;
use crate::{
    WebViewError,
    page::Page,
    shares::{RequestShares, makes_room},
};

impl Core {
    /// Shares for a further request of a page, which brings so many bytes.
    pub(super) fn reserve(&self, page: &Page, bytes: u64) -> Result<RequestShares, WebViewError> {
        self.make_room_for(page, || page.shares.request(bytes)).map_err(|full| WebViewError::TooMuch { full })
    }

    /// The share that `take` takes, once enough results were dropped for it.
    pub(super) fn make_room_for<T>(
        &self,
        page: &Page,
        take: impl Fn() -> Result<T, QuotaFull>,
    ) -> Result<T, QuotaFull> {
        loop {
            match take() {
                Ok(taken) => return Ok(taken),
                Err(full) if self.let_go_of_a_result(&page.owner, full.level) => {}
                Err(full) => return Err(full),
            }
        }
    }

    /// Drops the oldest result that may make room. Whether there was one.
    fn let_go_of_a_result(&self, owner: &WebViewOwner, level: Level) -> bool {
        let pages = self.pages(|page| makes_room(level, owner, &page.owner));
        let oldest = |page: &Arc<Page>| page.decide(|state, _| state.requests.oldest_end());
        let oldest = pages.iter().filter_map(|page| Some((oldest(page)?, page))).min_by_key(|(at, _)| *at);
        oldest.is_some_and(|(_, page)| page.decide(|state, _| state.requests.let_go_of_oldest()))
    }
}
