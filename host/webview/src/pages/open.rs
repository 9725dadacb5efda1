//! Opening a page: which owner may, and which page makes room.

use std::{
    cmp::Reverse,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{runtime::Handle, time::Instant};
use wharf_core::{
    Context,
    grant::{GrantedWebView, WebViewOwner},
};

use super::{Core, PageTable, WebViews, keep::keep, parameters::OpenPageRequest, reports::CoreReceiver};
use crate::{
    CloseReason, PageId, PageInfo, PageSettings, PageShares, PageWorkspace, Sink, WebViewError, files,
    page::{BackendCommand, NewPage, Page, PageState},
    shares::{OpenPageShares, makes_room},
    wrapper::ResultStore,
};

/// A page that was used within this time never makes room for another one.
const IN_USE: Duration = Duration::from_secs(60);

impl WebViews {
    /// Opens a page, empty at first. Returns at once: requests before it is open wait
    /// for that. Has to be called on a tokio runtime.
    ///
    /// Where session, tenant or host have as many pages as they may, the one of the
    /// same session or tenant that is idle for longest makes room, if nothing of it is
    /// pending and nobody has used it for a minute. A page of another tenant never
    /// does.
    ///
    /// # Errors
    /// [`WebViewError::Invalid`]; [`WebViewError::TooManyPages`];
    /// [`WebViewError::Full`]; [`WebViewError::ShuttingDown`].
    pub fn open(
        &self,
        granted: &GrantedWebView<'_>,
        context: &Context,
        workspace: Option<PageWorkspace>,
        wanted: OpenPageRequest,
    ) -> Result<PageInfo, WebViewError> {
        let core = &self.core;
        wanted.check()?;
        let size = wanted.size()?;
        let runtime = Handle::try_current().map_err(|_| WebViewError::Unavailable {
            problem: "pages are opened on a tokio runtime; call this on one".to_owned(),
            retryable: false,
        })?;
        let id = core.settings.handles.handle().map(PageId).map_err(WebViewError::no_randomness)?;
        let result_store = ResultStore::random().map_err(WebViewError::no_randomness)?;
        let downloads = granted.grant().downloads && workspace.is_some();
        let ear: Weak<Core> = Arc::downgrade(core);
        let sink = Sink::new(id, Arc::new(CoreReceiver(ear.clone())));
        let owner = granted.owner(context);
        let shares = PageShares::new(&core.quotas, &owner);
        let policy = granted.policy();
        let settings = PageSettings {
            tenant: owner.tenant.clone(),
            width: size.0,
            height: size.1,
            policy: Arc::clone(&policy),
            downloads,
            locale: wanted.locale,
            time_zone: wanted.time_zone,
            user_agent: wanted.user_agent,
            limits: Arc::clone(&core.limits),
            shares: shares.clone(),
        };
        let open = BackendCommand::Open(Box::new(settings), sink);
        let (page, evicted, _forgotten) = {
            let mut table = core.table();
            let forgotten = core.forget(&mut table, Instant::now());
            let (places, evicted) = core.make_room(&table, &owner, granted.grant().maximum_pages, &shares)?;
            let limits = Arc::clone(&core.limits);
            let state = PageState::new(Instant::now(), limits, wanted.dialogs, size, open, (places, &shares));
            table.last_serial += 1;
            let known = NewPage { id, serial: table.last_serial, result_store, runtime, policy, downloads, shares };
            let page = Arc::new(Page::new(known, owner, workspace, state));
            table.pages.insert(id, Arc::clone(&page));
            (page, evicted, forgotten)
        };
        if let Some(evicted) = evicted {
            core.counters.closed(CloseReason::Evicted);
            core.change(&evicted, |_, _| ());
        }
        core.counters.opened();
        let staging = core.settings.staging.as_deref().map(|staging| files::staging_of(staging, &page.owner.tenant));
        page.runtime.spawn(keep(ear, Arc::clone(&page), staging));
        Ok(core.change(&page, |state, now| page.info(state, now)))
    }
}

impl Core {
    /// Takes the shares of a further page, and says which page makes room for it: that
    /// one is closed, and its backend has not been asked yet.
    fn make_room(
        &self,
        table: &PageTable,
        owner: &WebViewOwner,
        of_owner: u64,
        shares: &PageShares,
    ) -> Result<(OpenPageShares, Option<Arc<Page>>), WebViewError> {
        if table.closed {
            return Err(WebViewError::ShuttingDown);
        }
        let is_open = |page: &Page| page.decide(|state, _| state.is_open());
        let own = table.pages.values().filter(|page| page.owner == *owner && is_open(page)).count() as u64;
        if own >= of_owner {
            return Err(WebViewError::TooManyPages { limit: of_owner });
        }
        let _present = Some(shares.present().map_err(|full| WebViewError::Full { full })?);
        let full = match shares.open() {
            Ok(open) => return Ok((OpenPageShares { open: Some(open), _present }, None)),
            Err(full) => full,
        };
        let idle = table.pages.values().filter(|page| makes_room(full.level, owner, &page.owner)).filter_map(|page| {
            let unused = page.decide(|state, now| state.idle(now)).filter(|unused| *unused >= IN_USE)?;
            Some((unused, page))
        });
        let Some((_, longest)) = idle.max_by_key(|(unused, page)| (*unused, Reverse(page.serial))) else {
            return Err(WebViewError::Full { full });
        };
        longest.decide(|state, now| state.close(now, CloseReason::Evicted));
        // It counted at every level, so its share is enough.
        let evicted = Some(Arc::clone(longest));
        match shares.open() {
            Ok(open) => Ok((OpenPageShares { open: Some(open), _present }, evicted)),
            Err(full) => {
                self.change(longest, |_, _| ());
                Err(WebViewError::Full { full })
            }
        }
    }
}
