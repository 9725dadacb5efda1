//! Patience for the tests of every crate.
//!
//! Owns how a test waits: [`until`] something is so, for a future that has to end
//! [`in_time`], or for time itself, [`let_time_pass`]. A wait that is in vain says what
//! it waited for, where, and what it saw last. [`blocking`] has the same for threads.
//!
//! Knows no other crate, so that each of them may use it. `cargo xtask tidy`
//! refuses a `sleep` in tests anywhere else.

mod attempts;
#[cfg(feature = "certificates")]
pub mod authority;
pub mod blocking;
mod look;
#[cfg(target_os = "linux")]
pub mod machine;
#[cfg(all(target_os = "linux", feature = "certificates"))]
pub mod nats;
mod pause;
#[cfg(target_os = "linux")]
pub mod postgres;
#[cfg(unix)]
mod private;
#[cfg(target_os = "linux")]
pub mod processes;
#[cfg(feature = "sigstore")]
pub mod sigstore;
#[cfg(target_os = "linux")]
pub mod unpacked;

use std::{
    fmt::{Debug, Display},
    net::{SocketAddr, TcpListener},
    panic::Location,
    time::{Duration, Instant},
};

use attempts::Attempts;
pub use look::{Look, NotYet};
use pause::Patience;
#[cfg(unix)]
pub use private::write_private;

/// An address of this machine at which nobody listened a moment ago.
///
/// # Panics
/// Where there is none.
#[must_use]
pub fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port")
}

/// Long enough for any machine, however busy: only a defect waits for it to pass.
pub const AMPLE: Duration = Duration::from_secs(120);

/// A deadline that only a defect reaches.
#[must_use]
pub fn soon() -> Instant {
    Instant::now() + AMPLE
}

/// Looks again and again until it is so, and gives what was found.
///
/// A look that finds nothing yet comes as `false`, `None` or, to be shown where the wait is
/// in vain, as `Err`. The limit is [`AMPLE`] on the machine's clock, also where tokio's is paused.
///
/// # Panics
/// Where it does not become so.
#[track_caller]
pub fn until<L: Look>(what: impl Display, mut look: impl FnMut() -> L) -> impl Future<Output = L::Found> {
    let mut patience = Patience::new(Location::caller());
    async move {
        loop {
            match look().found() {
                Ok(found) => return found,
                Err(last) => tokio::time::sleep(patience.next(&what, &last)).await,
            }
        }
    }
}

/// Like [`until`], for a look that has to wait for its answer. An answer that never comes is
/// given up, too.
///
/// # Panics
/// Where it does not become so.
#[track_caller]
pub fn until_async<L: Look>(what: impl Display, mut look: impl AsyncFnMut() -> L) -> impl Future<Output = L::Found> {
    let caller = Location::caller();
    let mut patience = Patience::new(caller);
    async move {
        loop {
            match within(&what, caller, look()).await.found() {
                Ok(found) => return found,
                Err(last) => tokio::time::sleep(patience.next(&what, &last)).await,
            }
        }
    }
}

/// The result of a future that has to end, however busy the machine is.
///
/// The limit is [`AMPLE`] on tokio's clock.
///
/// # Panics
/// Where it does not end.
#[track_caller]
pub fn in_time<F: Future>(what: impl Display, future: F) -> impl Future<Output = F::Output> {
    let caller = Location::caller();
    async move { within(&what, caller, future).await }
}

/// The result of an attempt that was soon enough, where a test is about just that.
///
/// An attempt that was too late is an error. A machine that is busy with other things may make
/// one late, and hardly each of three; what an attempt asserts beside that holds in each.
///
/// # Panics
/// Where all of them were too late.
#[track_caller]
pub fn soon_once<T, E: Debug>(
    what: impl Display,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> impl Future<Output = T> {
    let mut attempts = Attempts::new(Location::caller());
    async move {
        loop {
            match attempt().await {
                Ok(soon) => return soon,
                Err(late) => attempts.was_late(&what, late),
            }
        }
    }
}

async fn within<F: Future>(what: &impl Display, caller: &Location<'_>, future: F) -> F::Output {
    match tokio::time::timeout(AMPLE, future).await {
        Ok(output) => output,
        Err(_) => panic!("{caller}: waited for {} s in vain: {what}", AMPLE.as_secs()),
    }
}

/// Lets time pass, where time itself is what a test is about, and no condition could tell that
/// it is over: something lasts so long, or must not happen for a while.
///
/// `why` is for readers of the test. Where tokio's clock is paused, no time is lost.
///
/// # Panics
/// Where there is no reason.
pub async fn let_time_pass(time: Duration, why: &str) {
    assert!(!why.is_empty(), "why must time pass?");
    tokio::time::sleep(time).await;
}
