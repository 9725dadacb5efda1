//! How long a wait goes on, and how often it looks.

use std::{
    fmt::{Debug, Display},
    panic::Location,
    time::{Duration, Instant},
};

use crate::{AMPLE, soon};

/// Before the second look: what happens at once is seen at once.
const FIRST: Duration = Duration::from_millis(1);
/// What lasts is not looked at more often, since looks take from what is waited for.
const LONGEST: Duration = Duration::from_millis(16);

/// One wait.
pub(crate) struct Patience {
    until: Instant,
    pause: Duration,
    caller: &'static Location<'static>,
}

impl Patience {
    pub(crate) fn new(caller: &'static Location<'static>) -> Self {
        Self { until: soon(), pause: FIRST, caller }
    }

    /// The pause before the next look.
    ///
    /// # Panics
    /// Where there was time enough.
    pub(crate) fn next(&mut self, what: &impl Display, last: &impl Debug) -> Duration {
        if Instant::now() >= self.until {
            panic!("{}: waited for {} s in vain: {what}\nat last: {last:?}", self.caller, AMPLE.as_secs());
        }
        let pause = self.pause;
        self.pause = LONGEST.min(pause * 2);
        pause
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn looks_become_rarer_up_to_a_bound() {
        let mut patience = Patience::new(Location::caller());
        let pauses: Vec<_> = (0..7).map(|_| patience.next(&"", &"").as_millis()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 16, 16]);
    }

    #[test]
    fn a_wait_in_vain_says_what_it_waited_for_where_and_what_it_saw_last() {
        let told = catch_unwind(|| {
            let mut patience = Patience { until: Instant::now(), ..Patience::new(Location::caller()) };
            patience.next(&"the sea is empty", &"water")
        });
        let told = told.expect_err("in vain").downcast::<String>().expect("words");
        assert!(told.contains("src/pause.rs:"), "{told}");
        assert!(told.ends_with("in vain: the sea is empty\nat last: \"water\""), "{told}");
    }
}
