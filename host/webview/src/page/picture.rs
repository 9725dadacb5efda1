//! What a page looks like to those who watch it: one picture for all of them, and not more often than
//! they need.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

use super::Page;
use crate::{Failure, WebViewBackend};

/// How old a picture is that is shown again.
const FRESH: Duration = Duration::from_millis(900);
/// After which it is let go, where nobody has asked for another one.
const KEPT: Duration = Duration::from_secs(10);

type Taken = Result<Arc<[u8]>, Failure>;

/// The latest picture of a page, and whether another one is being taken.
#[derive(Debug, Default)]
pub(crate) struct Picture(watch::Sender<Slot>);

#[derive(Debug, Default)]
struct Slot {
    latest: Option<(Instant, Taken)>,
    is_under_way: bool,
}

impl Slot {
    fn fresh(&self, now: Instant) -> Option<&Taken> {
        let (at, taken) = self.latest.as_ref()?;
        (now.duration_since(*at) < FRESH).then_some(taken)
    }
}

impl Page {
    /// A picture of now, or of less than a second ago. Of a page that does not answer within
    /// `patience` there is none, and none is asked for again before it does.
    pub(crate) async fn picture(
        self: &Arc<Self>,
        backend: &Arc<dyn WebViewBackend>,
        patience: Duration,
    ) -> Option<Taken> {
        let Picture(slot) = &self.picture;
        let begins = slot.send_if_modified(|slot| {
            let begins = slot.fresh(Instant::now()).is_none() && !slot.is_under_way;
            slot.is_under_way |= begins;
            begins
        });
        if begins {
            let (page, backend) = (Arc::clone(self), Arc::clone(backend));
            self.runtime.spawn(async move {
                let taken = backend.picture(page.id).await.map(Arc::from);
                page.picture.0.send_modify(|slot| {
                    *slot = Slot { latest: Some((Instant::now(), taken)), is_under_way: false };
                });
            });
        }
        let mut slot = slot.subscribe();
        let fresh = timeout(patience, slot.wait_for(|slot| slot.fresh(Instant::now()).is_some())).await.ok()?.ok()?;
        fresh.latest.as_ref().map(|(_, taken)| taken.clone())
    }

    /// Lets go of a picture that nobody looks at any more.
    pub(crate) fn forget_picture(&self) {
        self.picture.0.send_if_modified(|slot| {
            let is_old = slot.latest.as_ref().is_some_and(|(at, _)| at.elapsed() > KEPT);
            if is_old {
                slot.latest = None;
            }
            is_old
        });
    }
}
