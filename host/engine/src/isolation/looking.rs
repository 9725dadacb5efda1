//! A side looks at its socket for a moment before it sleeps: to sleep and be woken costs more than most calls
//! compute.
//!
//! What looking may cost is bounded: one look lasts [`LONGEST`] at most, none is made where so many calls are
//! under way that they keep the processors busy, and a side whose looks come to nothing hardly looks
//! any more. Between looks the thread runs whatever else is ready.

use std::{
    sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use tokio::task::yield_now;

/// How long a side looks: longer than a side that sleeps takes to wake up and answer. Looks of half of it
/// would come to nothing once both sides sleep, and neither would begin to look again.
const LONGEST: Duration = Duration::from_micros(100);
/// How long it looks on before it lets others run.
const BURST: Duration = Duration::from_micros(5);
/// How many processors there are for each call that looks: it takes one here and one in its worker.
const PROCESSORS: usize = 4;
/// What looks are worth where they have always come to something.
const MOST_WORTH: u32 = 8;
/// What one loses that came to nothing; one that did not gains 1. So two of three have to come to something.
const LOST: u32 = 2;
/// One in so many is tried where none is worth it.
const TRIED: u32 = 32;

/// Calls of this process that are under way in workers.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// While one of these lives, one more call is under way.
pub(super) struct CallUnderWay(&'static AtomicUsize);

impl CallUnderWay {
    fn counted(calls: &'static AtomicUsize) -> Self {
        calls.fetch_add(1, Relaxed);
        Self(calls)
    }
}

impl Drop for CallUnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Whether it is worth it to look at one connection.
pub(super) struct Looks {
    worth: AtomicU32,
    /// Looks that were left out.
    left_out: AtomicU32,
    under_way: &'static AtomicUsize,
    /// How many calls may be under way.
    most: usize,
}

impl Looks {
    /// On so many processors.
    pub(super) fn on(processors: usize) -> Self {
        Self::counted(&UNDER_WAY, processors)
    }

    /// On so many processors, with calls of their own.
    #[cfg(test)]
    pub(super) fn apart(processors: usize) -> Self {
        Self::counted(Box::leak(Box::default()), processors)
    }

    fn counted(under_way: &'static AtomicUsize, processors: usize) -> Self {
        // On one alone, what is looked for would wait for the end of the look.
        let most = if processors > 1 { processors.div_ceil(PROCESSORS) } else { 0 };
        Self { worth: AtomicU32::new(MOST_WORTH), left_out: AtomicU32::new(0), under_way, most }
    }

    /// Counts a call.
    pub(super) fn begin_call(&self) -> CallUnderWay {
        CallUnderWay::counted(self.under_way)
    }

    /// Whether processors are free to look.
    pub(super) fn have_room(&self) -> bool {
        self.under_way.load(Relaxed) <= self.most && self.most > 0
    }

    /// Looks until something is there, for as long as one may. Dropped before, it counts as nothing.
    pub(super) async fn look_for<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        if !self.are_worth_it() {
            return None;
        }
        let until = Instant::now() + LONGEST;
        let found = loop {
            let before = Instant::now();
            yield_now().await;
            let mut now = Instant::now();
            // Where others had something to do, they have more of it.
            let burst_ends = if now - before < BURST { now + BURST } else { now };
            let found = loop {
                if let Some(found) = look() {
                    break Some(found);
                }
                now = Instant::now();
                if now >= burst_ends {
                    break None;
                }
            };
            // Where further calls have begun, this one says nothing of what looks are worth.
            if found.is_none() && !self.have_room() {
                return None;
            }
            if found.is_some() || now >= until {
                break found;
            }
        };
        self.count(found.is_some());
        found
    }

    fn are_worth_it(&self) -> bool {
        // One in so many all the same: things change.
        let is_tried = || self.left_out.fetch_add(1, Relaxed) % TRIED == TRIED - 1;
        self.have_room() && (self.worth.load(Relaxed) > 0 || is_tried())
    }

    fn count(&self, has_found: bool) {
        let worth = |worth: u32| if has_found { (worth + 1).min(MOST_WORTH) } else { worth.saturating_sub(LOST) };
        let _ = self.worth.fetch_update(Relaxed, Relaxed, |before| Some(worth(before)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often it was looked in a look that comes to nothing.
    async fn in_vain(looks: &Looks) -> u32 {
        let mut times = 0;
        let found = looks.look_for(|| -> Option<()> {
            times += 1;
            None
        });
        assert_eq!(found.await, None);
        times
    }

    #[tokio::test]
    async fn what_is_there_is_found_and_what_is_not_ends_the_look() {
        let looks = Looks::apart(2);
        let mut times = 0;
        let found = looks.look_for(|| {
            times += 1;
            (times == 3).then_some("it")
        });
        // The time of a look passes, and the third one may come too late on a busy machine.
        assert!(found.await == Some("it") || times < 3);
        assert!(in_vain(&looks).await > 0);
    }

    #[tokio::test]
    async fn looks_that_come_to_nothing_are_hardly_made_any_more_until_some_come_to_something() {
        let looks = Looks::apart(2);
        let mut made = 0;
        for _ in 0..MOST_WORTH + 10 * TRIED {
            made += u32::from(in_vain(&looks).await > 0);
        }
        let (at_first, tried) = (MOST_WORTH / LOST, 10);
        assert!((at_first..=at_first + tried).contains(&made), "{made} of them");
        let mut skipped = 0;
        while looks.look_for(|| Some(())).await.is_none() {
            skipped += 1;
        }
        assert!(skipped < TRIED && looks.look_for(|| Some(())).await.is_some(), "{skipped} were left out");
    }

    #[tokio::test]
    async fn none_is_made_on_one_processor_or_beside_many_calls() {
        assert_eq!(in_vain(&Looks::apart(1)).await, 0);
        let looks = Looks::apart(2 * PROCESSORS);
        let mut calls = vec![looks.begin_call(), looks.begin_call()];
        assert!(in_vain(&looks).await > 0);
        calls.push(looks.begin_call());
        assert_eq!(in_vain(&looks).await, 0, "it looks beside three");
        calls.pop();
        assert!(in_vain(&looks).await > 0);
    }

    #[tokio::test]
    async fn a_look_ends_where_further_calls_begin() {
        let looks = Looks::apart(2);
        let mut calls = vec![looks.begin_call()];
        let mut times = 0;
        let found = looks.look_for(|| -> Option<()> {
            times += 1;
            calls.push(looks.begin_call());
            let began = Instant::now();
            while began.elapsed() < BURST {}
            None
        });
        assert_eq!(found.await, None);
        assert_eq!(times, 1);
        assert_eq!(looks.worth.load(Relaxed), MOST_WORTH, "it counts as one that came to nothing");
    }
}
