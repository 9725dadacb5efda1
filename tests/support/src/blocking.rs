//! The same for tests without a runtime: the thread waits.

use std::{
    fmt::{Debug, Display},
    panic::Location,
    thread,
    time::Duration,
};

use crate::{Look, attempts::Attempts, pause::Patience};

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

/// The result of an attempt that was soon enough; see [`soon_once`](crate::soon_once).
///
/// # Panics
/// Where all of them were too late.
#[track_caller]
pub fn soon_once<T, E: Debug>(what: impl Display, mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let mut attempts = Attempts::new(Location::caller());
    loop {
        match attempt() {
            Ok(soon) => return soon,
            Err(late) => attempts.was_late(&what, late),
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
