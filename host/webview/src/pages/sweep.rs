//! Closes pages that are not used, forgets pages that were closed long ago, and closes
//! all pages of a session, a plugin or the host.

use std::{cmp::Reverse, collections::HashMap, sync::Arc, time::Duration};

use tokio::time::Instant;
use wharf_core::{PluginName, SessionId, TenantId, WebViewOwner};

use super::{Core, PageTable, WebViews};
use crate::{CloseReason, PageId, PageInfo, page::Page, shares::makes_room};

/// How many closed pages of one owner are remembered.
const REMEMBERED_OF_OWNER: u64 = 8;

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepReport {
    /// Pages that were not used, and are being closed.
    pub closed: usize,
    /// Pages that were closed long ago, and are forgotten now.
    pub forgotten: usize,
}

impl WebViews {
    /// Closes the pages that are not used, and forgets those that were closed long ago.
    /// A host does this once a minute; deadlines do not wait for it.
    pub fn sweep(&self) -> SweepReport {
        let core = &self.core;
        let idle = Duration::from_secs(core.limits.idle_seconds);
        let mut closed = 0;
        for page in core.pages(|_| true) {
            page.forget_picture();
            // In one step, so that a use meanwhile keeps it open.
            let closes = core.change(&page, |state, now| {
                state.idle(now).is_some_and(|unused| unused >= idle) && state.close(now, CloseReason::Idle)
            });
            if closes {
                core.counters.closed(CloseReason::Idle);
                closed += 1;
            }
        }
        let forgotten = core.forget(&mut core.table(), Instant::now());
        SweepReport { closed, forgotten: forgotten.len() }
    }

    /// Every page and its owner, for the operator.
    #[must_use]
    pub fn all(&self) -> Vec<(WebViewOwner, PageInfo)> {
        let pages = self.core.pages(|_| true);
        pages.iter().map(|page| (page.owner.clone(), self.core.info(page))).collect()
    }

    /// Closes a page of any owner, for the operator. The page afterwards; none where it
    /// does not exist.
    pub async fn close_for_operator(&self, id: PageId, patience: Duration) -> Option<PageInfo> {
        let page = self.core.page(id)?;
        self.core.close(&page, CloseReason::Operator);
        self.core.closed(&page, Instant::now() + patience).await;
        Some(self.core.info(&page))
    }

    /// Closes all pages of a session. How many were open.
    pub async fn end_session(&self, tenant: &TenantId, session: &SessionId, patience: Duration) -> usize {
        let pages = self.core.pages(|page| page.owner.tenant == *tenant && page.owner.session == *session);
        let open: Vec<_> = pages.into_iter().filter(|page| self.core.look(page, |state, _| state.is_open())).collect();
        self.core.close_all(&open, CloseReason::Operator, patience).await;
        open.len()
    }

    /// Closes all pages of a plugin in all sessions. How many were open.
    pub async fn end_plugin(&self, plugin: &PluginName, patience: Duration) -> usize {
        let pages = self.core.pages(|page| page.owner.plugin == *plugin);
        let open: Vec<_> = pages.into_iter().filter(|page| self.core.look(page, |state, _| state.is_open())).collect();
        self.core.close_all(&open, CloseReason::Operator, patience).await;
        open.len()
    }

    /// Closes all pages, opens no more, and ends the backend. Returns once nothing is
    /// left, and at the latest after `patience`.
    pub async fn shut_down(&self, patience: Duration) {
        let core = &self.core;
        let all = {
            let mut table = core.table();
            table.closed = true;
            table.pages.values().cloned().collect::<Vec<_>>()
        };
        for page in &all {
            core.close(page, CloseReason::ShuttingDown);
        }
        core.backend.shut_down(patience).await;
        for page in &all {
            core.change(page, |state, now| state.gone(now, None));
        }
    }
}

impl Core {
    /// All at once.
    async fn close_all(&self, pages: &[Arc<Page>], why: CloseReason, patience: Duration) {
        let until = Instant::now() + patience;
        for page in pages {
            self.close(page, why);
        }
        for page in pages {
            self.closed(page, until).await;
        }
    }

    /// Forgets pages that were closed long ago, and the oldest beyond what is kept: 8
    /// of one owner, and of session, tenant and host as many as may be open. Returns
    /// those, to be dropped without the lock. No page of a tenant is forgotten for one
    /// of another.
    pub(super) fn forget(&self, table: &mut PageTable, now: Instant) -> Vec<Arc<Page>> {
        let remembered = Duration::from_secs(self.limits.closed_seconds);
        let mut closed: Vec<_> = table
            .pages
            .values()
            .filter_map(|page| {
                let (ended, is_closed) = page.decide(|state, _| (state.ended(), state.is_closed()));
                Some((ended?, is_closed, Arc::clone(page)))
            })
            .collect();
        closed.sort_by_key(|(at, _, page)| (Reverse(*at), Reverse(page.serial)));
        let mut kept_of = HashMap::<WebViewOwner, u64>::new();
        let (mut kept, mut forgotten) = (Vec::new(), Vec::new());
        for (at, is_closed, page) in closed {
            let of_owner = kept_of.entry(page.owner.clone()).or_default();
            let long_ago = now.saturating_duration_since(at) >= remembered;
            // A page that its backend still works on holds a share, and has to be
            // counted.
            if long_ago || (is_closed && *of_owner >= REMEMBERED_OF_OWNER) {
                table.drop_page(&page);
                forgotten.push(page);
            } else {
                *of_owner += 1;
                kept.extend(is_closed.then_some(page));
            }
        }
        // The oldest first.
        kept.reverse();
        let is_remembered = |page: &Page| page.decide(|state, _| state.remembered.is_some());
        for page in &kept {
            if is_remembered(page) {
                continue;
            }
            let share = loop {
                let full = match page.shares.remembered() {
                    Ok(share) => break Some(share),
                    Err(full) => full,
                };
                let goes = |other: &&Arc<Page>| makes_room(full.level, &page.owner, &other.owner);
                let Some(oldest) = kept.iter().filter(goes).find(|other| is_remembered(other)) else { break None };
                table.drop_page(oldest);
                forgotten.push(Arc::clone(oldest));
            };
            match share {
                Some(share) => page.decide(|state, _| state.remembered = Some(share)),
                None => {
                    table.drop_page(page);
                    forgotten.push(Arc::clone(page));
                }
            }
        }
        forgotten
    }
}
