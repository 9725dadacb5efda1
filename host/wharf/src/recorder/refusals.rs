//! Requests without a token that opens anything: the first one is told at once, those
//! that follow it are counted, and the count is told after a while.
//!
//! A stranger can send thousands a second, and none of them costs more than a number.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::runtime::Handle;
use wharf_core::audit::{Refusal, RefusalSink};

use crate::recorder::Recorder;

/// How long the first count is gathered...
const SHORTEST: Duration = Duration::from_secs(1);
/// ...and each one after it for twice as long, up to this.
const LONGEST: Duration = Duration::from_secs(60);
/// How many senders are told apart in that time. Those beyond are counted together, without their addresses...
const MOST_ADDRESSES: usize = 256;
/// ...and beyond this without their names, too.
const MOST: usize = 4_096;

/// Counts what was refused. What was not told yet is told when this is dropped.
pub(crate) struct Refusals {
    recorder: Arc<Recorder>,
    itself: Weak<Self>,
    // A blocking lock: held for a look-up.
    gathered: Mutex<RefusalCounts>,
}

#[derive(Default)]
struct RefusalCounts {
    /// How many were not told yet. What is here was told once since `gathering` began.
    counts: HashMap<Refusal, u64>,
    gathering: bool,
}

impl RefusalCounts {
    /// Counts one that was told before; whether it was.
    fn counts_again(&mut self, refusal: &Refusal) -> bool {
        self.counts.get_mut(refusal).map(|count| *count += 1).is_some()
    }
}

impl Refusals {
    pub(crate) fn new(recorder: Arc<Recorder>) -> Arc<Self> {
        let recording = Arc::clone(&recorder);
        let refusals = Arc::new_cyclic(|itself| Self { recorder, itself: itself.clone(), gathered: Mutex::default() });
        recording.refusals.lock().push(Arc::downgrade(&refusals));
        refusals
    }

    fn gathered(&self) -> MutexGuard<'_, RefusalCounts> {
        self.gathered.lock()
    }

    /// Tells what was counted; whether there was anything.
    pub(super) fn tell(&self) -> bool {
        let counts: Vec<_> = {
            let mut gathered = self.gathered();
            let counts = gathered.counts.iter_mut().filter(|(_, count)| **count > 0);
            counts.map(|(of, count)| (of.clone(), std::mem::take(count))).collect()
        };
        counts.into_iter().map(|(refusal, count)| self.recorder.refused(refusal, count)).count() > 0
    }
}

impl RefusalSink for Refusals {
    fn refused(&self, mut refusal: Refusal) {
        let gather = {
            let mut gathered = self.gathered();
            if gathered.counts_again(&refusal) {
                return;
            }
            if gathered.counts.len() >= MOST_ADDRESSES {
                refusal.requester.address = None;
            }
            if gathered.counts.len() >= MOST {
                (refusal.requester, refusal.tenant) = Default::default();
            }
            if gathered.counts_again(&refusal) {
                return;
            }
            gathered.counts.insert(refusal.clone(), 0);
            !std::mem::replace(&mut gathered.gathering, true)
        };
        self.recorder.refused(refusal, 1);
        if !gather {
            return;
        }
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(gather_for_a_while(Weak::clone(&self.itself)))),
            // Without a runtime, no task would tell the count later.
            Err(_) => *self.gathered() = RefusalCounts::default(),
        }
    }
}

impl Drop for Refusals {
    fn drop(&mut self) {
        self.tell();
    }
}

/// Ends once nothing came for a while.
async fn gather_for_a_while(refusals: Weak<Refusals>) {
    let mut time = SHORTEST;
    loop {
        tokio::time::sleep(time).await;
        let Some(refusals) = refusals.upgrade() else { return };
        if !refusals.tell() {
            let mut gathered = refusals.gathered();
            // One that came meanwhile is told with the next.
            if gathered.counts.values().all(|count| *count == 0) {
                *gathered = RefusalCounts::default();
                return;
            }
        }
        time = (time * 2).min(LONGEST);
    }
}
