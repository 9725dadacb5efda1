//! Opening a page: who may, and who makes room.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{runtime::Handle, time::Instant};
use wharf_core::{
    Context,
    grant::{GrantedWebView, WebViewOwner},
};

use super::{Core, Table, WebViews, hear::Ear, keep::keep, wanted::Wanted};
use crate::{
    PageId, PageInfo, PageSettings, Place, Sink, WebViewError, Why,
    page::{Command, Known, Page, State},
    wrapper::Shelf,
};

/// A page that was used within this time makes no room for another one, whoever asks.
const IN_USE: Duration = Duration::from_secs(60);

impl WebViews {
    /// Opens a page, empty at first. Returns at once: what is asked of it before it
    /// is open waits for that. Has to be called on a tokio runtime.
    ///
    /// Where the host has as many pages as it may, the one that is idle for longest
    /// makes room, whoever owns it, if nothing of it is pending and nobody has used
    /// it for a minute.
    ///
    /// # Errors
    /// [`WebViewError::Invalid`]; [`WebViewError::TooManyPages`];
    /// [`WebViewError::Full`]; [`WebViewError::ShuttingDown`].
    pub fn open(
        &self,
        granted: &GrantedWebView<'_>,
        context: &Context,
        place: Option<Place>,
        wanted: Wanted,
    ) -> Result<PageInfo, WebViewError> {
        let core = &self.core;
        wanted.check()?;
        let size = wanted.size()?;
        let runtime = Handle::try_current().map_err(|_| WebViewError::Unavailable {
            problem: "pages are opened on a tokio runtime; call this on one".to_owned(),
            retryable: false,
        })?;
        let id = PageId::random().map_err(WebViewError::no_randomness)?;
        let shelf = Shelf::random().map_err(WebViewError::no_randomness)?;
        let downloads = granted.grant().downloads && place.is_some();
        let ear: Weak<Core> = Arc::downgrade(core);
        let sink = Sink::new(id, Arc::new(Ear(ear.clone())));
        let settings = PageSettings {
            width: size.0,
            height: size.1,
            policy: granted.policy(),
            downloads,
            locale: wanted.locale,
            time_zone: wanted.time_zone,
            user_agent: wanted.user_agent,
            limits: Arc::clone(&core.limits),
        };
        let open = Command::Open(Box::new(settings), sink);
        let state = State::new(Instant::now(), Arc::clone(&core.limits), wanted.dialogs, size, open);
        let owner = granted.owner(context);
        let (page, evicted, _forgotten) = {
            let mut table = core.table();
            let forgotten = core.forget(&mut table, Instant::now());
            let evicted = core.make_room(&mut table, &owner, granted.grant().maximum_pages)?;
            table.last_serial += 1;
            let known = Known { id, serial: table.last_serial, shelf, runtime, downloads };
            let page = Arc::new(Page::new(known, owner, place, state));
            table.pages.insert(id, Arc::clone(&page));
            (page, evicted, forgotten)
        };
        if let Some(evicted) = evicted {
            core.counters.closed(Why::Evicted);
            core.change(&evicted, |_, _| ());
        }
        core.counters.opened();
        page.runtime.spawn(keep(ear, Arc::clone(&page), core.settings.staging.clone()));
        Ok(core.change(&page, |state, now| page.info(state, now)))
    }
}

impl Core {
    /// Finds a place for a further page. Which page makes room for it: that one is
    /// closed, and its backend has not been asked yet.
    fn make_room(
        &self,
        table: &mut Table,
        owner: &WebViewOwner,
        of_owner: u64,
    ) -> Result<Option<Arc<Page>>, WebViewError> {
        if table.closed {
            return Err(WebViewError::ShuttingDown);
        }
        let (mut open, mut of_this_owner, mut closing) = (0_u64, 0_u64, 0_u64);
        let mut idle: Option<(Duration, &Arc<Page>)> = None;
        for page in table.pages.values() {
            let (is_open, is_closed, unused) =
                page.decide(|state, now| (state.is_open(), state.is_closed(), state.idle(now)));
            open += u64::from(is_open);
            of_this_owner += u64::from(is_open && page.owner == *owner);
            closing += u64::from(!is_open && !is_closed);
            if let Some(unused) = unused.filter(|unused| *unused >= IN_USE)
                && idle.is_none_or(|(longest, _)| unused > longest)
            {
                idle = Some((unused, page));
            }
        }
        if of_this_owner >= of_owner {
            return Err(WebViewError::TooManyPages { limit: of_owner });
        }
        let limit = self.limits.pages;
        // What a backend is slow to close takes up memory, too.
        if open + closing >= 2 * limit {
            return Err(WebViewError::Full { limit });
        }
        if open < limit {
            return Ok(None);
        }
        let (_, longest) = idle.ok_or(WebViewError::Full { limit })?;
        longest.decide(|state, now| state.close(now, Why::Evicted));
        Ok(Some(Arc::clone(longest)))
    }
}
