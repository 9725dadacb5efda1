//! The same for tests without a runtime: the thread waits.

use std::{fmt::Display, panic::Location, thread, time::Duration};

use crate::{Look, pause::Patience};

/// Looks again and again until it is so, and gives what was found; see [`until`](crate::until).
///
/// # Panics
/// Where it does not become so.
#[track_caller]
pub fn until<L: Look>(what: impl Display, mut look: impl FnMut() -> L) -> L::Found {
    let mut patience = Patience::new(Location::caller());
    loop {
        match look().found() {
            Ok(found) => return found,
            Err(last) => thread::sleep(patience.next(&what, &last)),
        }
    }
}

/// Lets time pass, and keeps the thread; see [`let_time_pass`](crate::let_time_pass).
///
/// # Panics
/// Where there is no reason.
pub fn let_time_pass(time: Duration, why: &str) {
    assert!(!why.is_empty(), "why must time pass?");
    thread::sleep(time);
}
