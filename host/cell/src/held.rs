//! The sessions whose home this host is.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::Mutex as AsyncMutex, time::Instant};
use wharf_core::{Error, SessionId, TenantId, service::HomeHold};

use crate::{
    SessionKey,
    standing::{Living, Standing},
};

/// The sessions whose home this host is, by the epoch of each tenure.
#[derive(Debug, Default)]
pub(crate) struct HeldHomes(Mutex<HashMap<SessionKey, Tenure>>);

#[derive(Debug)]
struct Tenure {
    epoch: i64,
    files: Arc<TenureFiles>,
    /// Calls that run.
    calls: usize,
    used: Instant,
}

/// What is known of the session's files in one tenure.
#[derive(Debug, Default)]
pub(crate) struct TenureFiles {
    /// Whether the database knows that they are here.
    are_entered: AtomicBool,
    /// Held while they are being entered: whether earlier ones were lost.
    pub(crate) were_lost: Arc<AsyncMutex<bool>>,
}

impl TenureFiles {
    /// The database knows that they are here.
    pub(crate) fn enter(&self) {
        self.are_entered.store(true, Ordering::Release);
    }

    pub(crate) fn are_entered(&self) -> bool {
        self.are_entered.load(Ordering::Acquire)
    }
}

/// A call that runs in a session that is at home here.
pub(crate) struct HeldCall {
    homes: Arc<HeldHomes>,
    session: SessionKey,
    standing: Arc<Standing>,
    living: Living,
    pub(crate) files: Arc<TenureFiles>,
    /// Whether they were known to be here when the call began.
    pub(crate) files_were_entered: bool,
}

impl HeldHomes {
    /// Begins a call in a session that is at home here.
    pub(crate) fn begin(
        self: &Arc<Self>,
        session: &SessionKey,
        standing: &Arc<Standing>,
        living: Living,
    ) -> Option<HeldCall> {
        let mut homes = self.0.lock();
        let tenure = homes.get_mut(session)?;
        tenure.calls += 1;
        tenure.used = Instant::now();
        let files = Arc::clone(&tenure.files);
        drop(homes);
        Some(HeldCall {
            homes: Arc::clone(self),
            session: session.clone(),
            standing: Arc::clone(standing),
            living,
            files_were_entered: files.are_entered(),
            files,
        })
    }

    /// This host has become the home of a session, or is it still under a later epoch.
    pub(crate) fn insert(&self, session: SessionKey, epoch: i64) {
        let mut homes = self.0.lock();
        let fresh = || Tenure { epoch, files: Arc::default(), calls: 0, used: Instant::now() };
        let tenure = homes.entry(session).or_insert_with(fresh);
        tenure.epoch = tenure.epoch.max(epoch);
    }

    /// This host is not the home of a session any more.
    pub(crate) fn remove(&self, session: &SessionKey) {
        self.0.lock().remove(session);
    }

    /// This life is over, and with it every tenure.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// How many calls run.
    pub(crate) fn calls(&self) -> usize {
        self.0.lock().values().map(|tenure| tenure.calls).sum()
    }

    /// Gives up, for the database to be told, the tenures in which no call runs, that nobody has
    /// used for so long, and in which nothing lives.
    pub(crate) fn take_idle(&self, idle: Duration, alive: &HashSet<(TenantId, SessionId)>) -> Vec<(SessionKey, i64)> {
        // What came to life since `alive` was looked up was made by a call that is no older.
        let is_idle = |key: &SessionKey, tenure: &Tenure| {
            tenure.calls == 0
                && tenure.used.elapsed() >= idle
                && !alive.contains(&(key.tenant.clone(), key.session.clone()))
        };
        let mut taken = Vec::new();
        self.0.lock().retain(|key, tenure| {
            let goes = is_idle(key, tenure);
            if goes {
                taken.push((key.clone(), tenure.epoch));
            }
            !goes
        });
        taken
    }
}

impl HomeHold for HeldCall {
    fn confirm(&self) -> Result<(), Error> {
        self.standing.confirm(self.living)
    }
}

impl Drop for HeldCall {
    fn drop(&mut self) {
        if let Some(tenure) = self.homes.0.lock().get_mut(&self.session) {
            // One of an earlier life may have been cleared away meanwhile.
            tenure.calls = tenure.calls.saturating_sub(1);
            tenure.used = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Incarnation;

    fn session(name: &str) -> SessionKey {
        SessionKey { tenant: wharf_core::TenantId::local(), session: name.parse().expect("legal") }
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_let_go_when_it_is_idle_and_nothing_lives_in_it() {
        let one = Incarnation::from_i64(1).expect("a number");
        let standing = Arc::new(Standing::new(one, Duration::from_secs(10)));
        standing.joined(one, Instant::now());
        let (living, homes) = (standing.check().expect("it lives"), Arc::new(HeldHomes::default()));
        for name in ["busy", "alive", "idle"] {
            homes.insert(session(name), 7);
        }
        let call = homes.begin(&session("busy"), &standing, living).expect("at home");
        assert!(homes.begin(&session("elsewhere"), &standing, living).is_none());
        let idle = Duration::from_secs(60);
        let alive = session("alive");
        let lives = &HashSet::from([(alive.tenant, alive.session)]);
        assert!(homes.take_idle(idle, lives).is_empty(), "all were used just now");
        tokio::time::advance(idle).await;
        assert_eq!(homes.take_idle(idle, lives), [(session("idle"), 7)]);
        drop(call);
        assert!(homes.take_idle(idle, lives).is_empty(), "its call has ended just now");
        tokio::time::advance(idle).await;
        assert_eq!(homes.take_idle(idle, lives), [(session("busy"), 7)]);
        assert_eq!(homes.len(), 1);
    }
}
