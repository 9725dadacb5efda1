//! Whether the program in front waits for input of its terminal, as the system
//! knows it.
//!
//! No program is asked and none is stopped: `/proc` says in which system call
//! each thread sleeps, and on which descriptors. Only what is known is said: a
//! program that also listens elsewhere may go on by itself, and of one that the
//! host may not look at nothing is known.
//!
//! What is read of a program can make the reader wait, by the program's doing
//! or by chance, so a thread reads it that nobody waits for longer than
//! [`PATIENCE`]; a session has one such thread at most. Knows nothing of turns.

mod call;
mod descriptors;
mod processes;

use std::{
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{AcqRel, Release},
        },
    },
    thread,
    time::Duration,
};

use tokio::{sync::oneshot, time::timeout};

use self::{call::Doing, descriptors::Descriptors};
use crate::pty::Inside;

/// A look takes some tenths of a millisecond.
const PATIENCE: Duration = Duration::from_millis(100);
/// A program that draws the whole screen and waits with a limit draws it again
/// after that; with a shorter one it may be about to.
const SHORTEST_LIMIT: Duration = Duration::from_secs(1);

/// Looks at the programs of one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Probe {
    /// A thread is looking, or is held up.
    looking: Arc<AtomicBool>,
}

/// Whom to look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Front {
    /// The program of the session.
    pub(crate) leader: u32,
    /// The process group in the foreground.
    pub(crate) group: u32,
    /// It draws the whole screen, as editors do.
    pub(crate) owns_screen: bool,
}

/// What all that is in front does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// It waits for this terminal and for nothing else.
    Waits,
    /// It listens to the terminal and does not compute, but may go on by itself:
    /// it listens for a limited time, or elsewhere too.
    Listens,
    /// Nothing of it listens to the terminal.
    GoesOn,
}

impl Probe {
    /// Nothing where it cannot be said.
    pub(crate) async fn waits(&self, front: Front, terminal: Inside) -> Option<Found> {
        if self.looking.swap(true, AcqRel) {
            return None;
        }
        let (found, answer) = oneshot::channel();
        let looking = Looking(Arc::clone(&self.looking));
        let look = move || {
            let _looking = looking;
            // Whoever asked may have gone.
            let _ = found.send(waits(front, terminal));
        };
        thread::Builder::new().name("wharf-probe".into()).stack_size(256 << 10).spawn(look).ok()?;
        timeout(PATIENCE, answer).await.ok()?.ok()?
    }
}

/// Ends with the look, however that ends.
struct Looking(Arc<AtomicBool>);

impl Drop for Looking {
    fn drop(&mut self) {
        self.0.store(false, Release);
    }
}

fn waits(front: Front, terminal: Inside) -> Option<Found> {
    let (mut listens, mut goes_on, mut both, mut found) = (false, false, false, false);
    let group = processes::of_group(front.leader, front.group)?;
    let descriptors = Descriptors::new(&group, terminal.device);
    for &process in &group {
        for thread in processes::threads(process)? {
            found = true;
            match call::doing(process, thread, &descriptors, terminal.read_limit)? {
                Doing::Listens { limit: None } => listens = true,
                Doing::Listens { limit: Some(limit) } if front.owns_screen && limit >= SHORTEST_LIMIT => listens = true,
                Doing::Listens { limit: Some(_) } | Doing::ListensElsewhereToo => both = true,
                Doing::WaitsForOthers => {}
                Doing::GoesOn => goes_on = true,
            }
        }
    }
    match (found, listens, both, goes_on) {
        (true, true, false, false) => Some(Found::Waits),
        (true, _, true, false) => Some(Found::Listens),
        (true, false, false, _) => Some(Found::GoesOn),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pty::Device;

    #[tokio::test]
    async fn a_look_that_is_held_up_holds_up_nobody_and_the_next_is_not_begun() {
        let probe = Probe::default();
        probe.looking.store(true, Release);
        let terminal =
            Inside { device: Device { number: 0, file_system: 0 }, has_unread_input: false, read_limit: None };
        let front = Front { leader: 1, group: 1, owns_screen: false };
        assert_eq!(probe.waits(front, terminal).await, None);
    }
}
