//! Whether this host may act: how long ago its last beat arrived.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use wharf_core::{Code, Error};

use crate::Incarnation;

/// What this host knows of its own life. A host that was stopped, or cut off from the database,
/// finds out here before it acts.
#[derive(Debug)]
pub(crate) struct Standing {
    lost_contact: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    incarnation: Incarnation,
    /// When the last beat that arrived was sent.
    beaten: Instant,
    is_draining: bool,
    is_member: bool,
    /// The host is about to end, and takes no further session.
    is_ending: bool,
    /// The host ends, and takes no other life.
    is_leaving: bool,
}

/// A life that may act now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Living {
    pub(crate) incarnation: Incarnation,
    pub(crate) is_draining: bool,
}

impl Standing {
    /// Of a host that has not joined yet.
    pub(crate) fn new(incarnation: Incarnation, lost_contact: Duration) -> Self {
        let state = State {
            incarnation,
            beaten: Instant::now(),
            is_draining: false,
            is_member: false,
            is_ending: false,
            is_leaving: false,
        };
        Self { lost_contact, state: Mutex::new(state) }
    }

    pub(crate) fn incarnation(&self) -> Incarnation {
        self.state.lock().incarnation
    }

    pub(crate) fn is_draining(&self) -> bool {
        let state = self.state.lock();
        state.is_draining || state.is_ending
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.state.lock().is_ending
    }

    /// The host is about to end.
    pub(crate) fn ending(&self) {
        self.state.lock().is_ending = true;
    }

    /// The host has joined under this life with a request of that time.
    pub(crate) fn joined(&self, incarnation: Incarnation, sent: Instant) {
        let mut state = self.state.lock();
        *state = State { incarnation, beaten: sent, is_member: true, ..*state };
    }

    /// Another life is to begin, which has not joined yet.
    pub(crate) fn renamed(&self, incarnation: Incarnation) {
        let mut state = self.state.lock();
        *state = State { incarnation, is_member: false, is_draining: false, ..*state };
    }

    /// A beat has arrived that was sent at that time.
    pub(crate) fn beaten(&self, sent: Instant, is_draining: bool) {
        let mut state = self.state.lock();
        (state.beaten, state.is_draining) = (sent, is_draining);
    }

    /// The host ends.
    pub(crate) fn leaving(&self) {
        self.state.lock().is_leaving = true;
    }

    /// The life is over.
    pub(crate) fn ended(&self) {
        self.state.lock().is_member = false;
    }

    /// The life that may act.
    ///
    /// # Errors
    /// `unavailable` where no beat has arrived for so long that the others may take this host
    /// for dead soon.
    pub(crate) fn check(&self) -> Result<Living, Error> {
        let State { incarnation, beaten, is_draining, is_member, is_ending, is_leaving } = *self.state.lock();
        if is_leaving {
            let told = "this host is ending; call again in a moment, and another one answers";
            return Err(Error::retryable(Code::Unavailable, told));
        }
        if is_member && beaten.elapsed() < self.lost_contact {
            return Ok(Living { incarnation, is_draining: is_draining || is_ending });
        }
        let told = "this host has lost contact with the database of its cell, so that another host may have taken its \
                    sessions over; calls that need no process, terminal, page or file go on";
        Err(Error::retryable(Code::Unavailable, told))
    }

    /// Whether this life has acted all the time.
    ///
    /// # Errors
    /// `unavailable` where it has lost contact or is over.
    pub(crate) fn confirm(&self, living: Living) -> Result<(), Error> {
        let State { incarnation, beaten, is_member, .. } = *self.state.lock();
        // One that leaves has its sessions until it has left.
        let is_kept = is_member && beaten.elapsed() < self.lost_contact && incarnation == living.incarnation;
        match is_kept {
            true => Ok(()),
            false => Err(Error::retryable(
                Code::Unavailable,
                "this host lost contact with its cell while the call ran, so its answer may be out of date; the call \
                 may have run",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(number: i64) -> Incarnation {
        Incarnation::from_i64(number).expect("a number")
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_has_lost_contact_acts_no_more_until_a_beat_arrives() {
        let standing = Standing::new(life(1), Duration::from_secs(10));
        assert!(standing.check().is_err(), "it has not joined");
        standing.joined(life(1), Instant::now());
        let living = standing.check().expect("it lives");
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(standing.check().expect_err("no beat").code, Code::Unavailable);
        assert!(standing.confirm(living).is_err(), "an answer of that time does not count");
        standing.beaten(Instant::now(), true);
        assert!(standing.check().expect("it lives").is_draining);
        assert!(standing.confirm(living).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_beat_counts_from_when_it_was_sent() {
        let standing = Standing::new(life(1), Duration::from_secs(10));
        standing.joined(life(1), Instant::now());
        let sent = Instant::now();
        tokio::time::advance(Duration::from_secs(11)).await;
        standing.beaten(sent, false);
        assert!(standing.check().is_err(), "the database took eleven seconds");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_of_an_earlier_life_does_not_count() {
        let standing = Standing::new(life(1), Duration::from_secs(10));
        standing.joined(life(1), Instant::now());
        let living = standing.check().expect("it lives");
        standing.ended();
        assert!(standing.check().is_err());
        standing.joined(life(2), Instant::now());
        assert!(standing.check().is_ok());
        assert_eq!(standing.confirm(living).expect_err("another life").code, Code::Unavailable);
    }
}
