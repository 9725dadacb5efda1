//! Whether the program in front waits for input of its terminal, as the system
//! knows it.
//!
//! Linux alone knows it; elsewhere nothing is said. No program is asked and none
//! is stopped: `/proc` says in which system call each thread sleeps, and on which
//! descriptors. Only what is known is said: a program that also listens elsewhere
//! may go on by itself, and nothing is known of a program that the host may not
//! look at.
//!
//! Reading what the system says of a program can make the reader wait, by the
//! program's doing or by chance. A thread reads it, so nobody waits for longer than
//! [`PATIENCE`]; a session has one such thread at most. A confined host may look into no program
//! and has a part outside of its confinement look. Never knows turns.

#[cfg(target_os = "linux")]
mod call;
#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(target_os = "linux")]
mod outside;
#[cfg(target_os = "linux")]
mod processes;

use std::{
    path::PathBuf,
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

use serde::{Deserialize, Serialize};
use tokio::{sync::oneshot, time::timeout};
use wharf_completion::detection::Beside;

#[cfg(target_os = "linux")]
use self::{call::ThreadActivity, descriptors::GroupDescriptors};
use crate::pty::SlaveState;
#[cfg(target_os = "linux")]
use crate::pty::TerminalDevice;

/// A look takes some tenths of a millisecond.
const PATIENCE: Duration = Duration::from_millis(100);
/// A machine that is busy answers within that. A program that holds looks up for longer is known by
/// its screen alone.
const HELD_UP: Duration = Duration::from_secs(1);
/// A program that draws the whole screen and waits for so long draws it again
/// after that; with a shorter limit it may be about to.
const LONG_FOR_A_SCREEN: Duration = Duration::from_secs(1);
/// A program that waits for so long behind a prompt has something to do now and
/// then, such as writing its history; with a shorter limit it may look after
/// what it was asked for.
const LONG_BEHIND_A_PROMPT: Duration = Duration::from_secs(5);

/// A thread that sleeps for longer is not waited for: nothing is said of a program
/// that has one, but what its screen says.
#[cfg(target_os = "linux")]
const LONGEST_SLEEP: Duration = Duration::from_secs(2);

/// Looks at the programs of one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct ForegroundProbe {
    /// A thread is looking, or is held up.
    looking: Arc<AtomicBool>,
}

/// The programs to look at.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ForegroundGroup {
    /// The program of the session.
    pub(crate) leader: u32,
    /// The process group in the foreground.
    pub(crate) group: u32,
}

/// What the screen says of the program in front.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScreenSigns {
    /// It draws the whole screen, as editors do.
    pub(crate) owns_screen: bool,
    /// The cursor is behind what may be a prompt.
    pub(crate) prompt: bool,
}

/// What the programs in front wait for, taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ForegroundWait {
    /// For this terminal, and for nothing else.
    ForInput {
        /// How long at most, before it goes on.
        limit: Option<Duration>,
    },
    /// For this terminal and, within a limit, for other things.
    Rests {
        /// How long at most, before all of it has gone on.
        wakes: Duration,
        /// For nothing but time beside the terminal.
        alone: bool,
    },
    /// Some of it listens to the terminal, and some computes.
    Computes,
    /// Nothing of it listens to the terminal.
    NotForInput,
}

impl ForegroundWait {
    /// Whether it waits for input and does nothing without; nothing where that
    /// cannot be said.
    pub(crate) fn for_input(self, shown: ScreenSigns) -> Option<bool> {
        match self {
            Self::NotForInput => Some(false),
            Self::Rests { .. } | Self::Computes => None,
            Self::ForInput { limit: None } => Some(true),
            Self::ForInput { limit: Some(limit) } => {
                let is_long = (shown.owns_screen && limit >= LONG_FOR_A_SCREEN)
                    || (shown.prompt && limit >= LONG_BEHIND_A_PROMPT);
                is_long.then_some(true)
            }
        }
    }

    /// What it does beside listening.
    pub(crate) fn beside(self) -> Beside {
        match self {
            Self::ForInput { limit: Some(wakes) } => Beside::Rests { wakes, alone: true },
            Self::Rests { wakes, alone } => Beside::Rests { wakes, alone },
            Self::Computes => Beside::Computes,
            Self::ForInput { limit: None } | Self::NotForInput => Beside::Unknown,
        }
    }
}

/// The system has not answered in time, or does not answer a look of before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LateLook;

/// Looks in a row that were late.
#[derive(Debug, Default)]
pub(crate) struct LateLooks {
    /// When the first of them was.
    since: Option<Duration>,
}

impl LateLooks {
    /// Whether a look that was late now is made again, before anything is decided.
    pub(crate) fn again(&mut self, now: Duration) -> bool {
        now.saturating_sub(*self.since.get_or_insert(now)) < HELD_UP
    }

    /// A look was in time.
    pub(crate) fn over(&mut self) {
        self.since = None;
    }
}

impl ForegroundProbe {
    /// What all that is in front waits for; nothing where that cannot be said.
    pub(crate) async fn waits(
        &self,
        front: ForegroundGroup,
        terminal: SlaveState,
    ) -> Result<Option<ForegroundWait>, LateLook> {
        if self.looking.swap(true, AcqRel) {
            return Err(LateLook);
        }
        let (found, answer) = oneshot::channel();
        let looking = ProbeGuard(Arc::clone(&self.looking));
        let look = move || {
            let _looking = looking;
            // The task that asked may have gone.
            let _ = found.send(waits(front, terminal));
        };
        if thread::Builder::new().name("wharf-probe".into()).stack_size(256 << 10).spawn(look).is_err() {
            return Ok(None);
        }
        match timeout(PATIENCE, answer).await {
            Ok(answered) => Ok(answered.unwrap_or_default()),
            Err(_) => Err(LateLook),
        }
    }
}

/// Ends with the look, however that ends.
struct ProbeGuard(Arc<AtomicBool>);

impl Drop for ProbeGuard {
    fn drop(&mut self) {
        self.0.store(false, Release);
    }
}

/// Whether a program of the host has ended, or is about to. Elsewhere than on Linux, nothing
/// says so before its end is told.
#[cfg(target_os = "linux")]
pub(crate) fn ends(program: u32) -> bool {
    processes::ends(program)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn ends(_: u32) -> bool {
    false
}

/// The directory that a program is in, where the system says so.
#[cfg(target_os = "linux")]
pub(crate) fn directory(program: u32) -> Option<PathBuf> {
    if wharf_spawn::confine::is_confined() { outside::directory(program) } else { directory_here(program) }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn directory(_: u32) -> Option<PathBuf> {
    None
}

#[cfg(target_os = "linux")]
fn directory_here(program: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{program}/cwd")).ok()
}

#[cfg(target_os = "linux")]
fn waits(front: ForegroundGroup, terminal: SlaveState) -> Option<ForegroundWait> {
    let (device, read_limit) = (terminal.device, terminal.read_limit);
    if wharf_spawn::confine::is_confined() {
        outside::waits(front, device, read_limit)
    } else {
        waits_here(front, device, read_limit)
    }
}

#[cfg(target_os = "linux")]
fn waits_here(front: ForegroundGroup, device: TerminalDevice, read_limit: Option<Duration>) -> Option<ForegroundWait> {
    let group = processes::of_group(front.leader, front.group)?;
    let descriptors = GroupDescriptors::new(&group, device);
    let mut activities = Vec::new();
    for &process in &group {
        for thread in processes::threads(process)? {
            activities.push(call::activity(process, thread, &descriptors, read_limit)?);
        }
    }
    combined(&activities)
}

/// Other systems do not say what a program waits for.
#[cfg(not(target_os = "linux"))]
fn waits(_: ForegroundGroup, _: SlaveState) -> Option<ForegroundWait> {
    None
}

/// What follows for all from what each thread does.
#[cfg(target_os = "linux")]
fn combined(activities: &[ThreadActivity]) -> Option<ForegroundWait> {
    let (mut listens, mut alone, mut unknown, mut computes, mut goes_on) =
        (false, true, activities.is_empty(), false, false);
    let (mut listening, mut sleeping) = (None::<Duration>, None::<Duration>);
    for activity in activities {
        match *activity {
            ThreadActivity::Listens { limit } => {
                listens = true;
                // The first that goes on is all that counts where all listen.
                listening = [listening, limit].into_iter().flatten().min();
            }
            ThreadActivity::ListensElsewhereToo { limit } => {
                (listens, alone) = (true, false);
                sleeping = sleeping.max(limit);
            }
            ThreadActivity::Sleeps { limit } => sleeping = sleeping.max(Some(limit)),
            ThreadActivity::WaitsForService => unknown = true,
            ThreadActivity::Computes => computes = true,
            ThreadActivity::GoesOn => goes_on = true,
            ThreadActivity::WaitsForOthers => {}
        }
    }
    match (listens, sleeping) {
        _ if unknown => None,
        (false, _) => Some(ForegroundWait::NotForInput),
        _ if goes_on => None,
        _ if computes => Some(ForegroundWait::Computes),
        (true, None) => alone.then_some(ForegroundWait::ForInput { limit: listening }),
        (true, Some(wakes)) => {
            let wakes = listening.map_or(wakes, |limit| limit.max(wakes));
            (wakes <= LONGEST_SLEEP).then_some(ForegroundWait::Rests { wakes, alone })
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::pty::TerminalDevice;

    #[tokio::test]
    async fn a_look_that_is_held_up_holds_up_nobody_and_the_next_is_not_begun() {
        let probe = ForegroundProbe::default();
        probe.looking.store(true, Release);
        let terminal = SlaveState {
            device: TerminalDevice { number: 0, file_system: 0 },
            has_unread_input: false,
            read_limit: None,
        };
        let front = ForegroundGroup { leader: 1, group: 1 };
        assert_eq!(probe.waits(front, terminal).await, Err(LateLook));
    }

    #[test]
    fn a_late_look_is_made_again_for_a_second_and_anew_after_one_in_time() {
        let mut late = LateLooks::default();
        let at = Duration::from_millis;
        assert_eq!(
            [5_000, 5_500, 5_999, 6_000, 9_000].map(|now| late.again(at(now))),
            [true, true, true, false, false]
        );
        late.over();
        assert!(late.again(at(9_001)));
    }

    #[test]
    fn all_that_is_in_front_has_to_wait_for_the_terminal_alone() {
        let forever = ThreadActivity::Listens { limit: None };
        let second = ThreadActivity::Listens { limit: Some(Duration::from_secs(1)) };
        let waits = |limit| Some(ForegroundWait::ForInput { limit });
        assert_eq!(combined(&[forever, ThreadActivity::WaitsForOthers, forever]), waits(None));
        assert_eq!(combined(&[forever, second, ThreadActivity::WaitsForOthers]), waits(Some(Duration::from_secs(1))));
        let elsewhere = |limit| ThreadActivity::ListensElsewhereToo { limit };
        for other in [ThreadActivity::GoesOn, elsewhere(None), ThreadActivity::WaitsForService] {
            assert_eq!(combined(&[forever, other]), None);
        }
        assert_eq!(combined(&[elsewhere(None), ThreadActivity::WaitsForOthers]), None);
        assert_eq!(
            combined(&[ThreadActivity::GoesOn, ThreadActivity::WaitsForOthers]),
            Some(ForegroundWait::NotForInput)
        );
        // A service may read the terminal in place of the program that asked it to.
        assert_eq!(combined(&[ThreadActivity::WaitsForService, ThreadActivity::WaitsForOthers]), None);
        assert_eq!(combined(&[]), None);
    }

    #[test]
    fn a_program_that_listens_and_sleeps_rests_until_all_of_it_has_woken() {
        let listens = |limit| ThreadActivity::Listens { limit };
        let sleeps = |milliseconds| ThreadActivity::Sleeps { limit: Duration::from_millis(milliseconds) };
        let rests =
            |milliseconds, alone| Some(ForegroundWait::Rests { wakes: Duration::from_millis(milliseconds), alone });
        assert_eq!(combined(&[listens(None), sleeps(100), sleeps(80)]), rests(100, true));
        let second = Some(Duration::from_secs(1));
        assert_eq!(combined(&[listens(second), sleeps(100)]), rests(1_000, true));
        assert_eq!(combined(&[ThreadActivity::ListensElsewhereToo { limit: second }]), rests(1_000, false));
        assert_eq!(combined(&[listens(None), sleeps(2_001)]), None, "nobody waits for that");
        assert_eq!(combined(&[listens(None), sleeps(100), ThreadActivity::Computes]), Some(ForegroundWait::Computes));
        assert_eq!(combined(&[ThreadActivity::Computes, sleeps(100)]), Some(ForegroundWait::NotForInput));
    }

    #[test]
    fn a_limit_counts_by_what_is_on_the_screen() {
        let (plain, prompt) =
            (ScreenSigns { owns_screen: false, prompt: false }, ScreenSigns { owns_screen: false, prompt: true });
        let screen = ScreenSigns { owns_screen: true, prompt: false };
        let waits =
            |seconds, shown| ForegroundWait::ForInput { limit: Some(Duration::from_secs(seconds)) }.for_input(shown);
        assert_eq!([waits(4, plain), waits(100, plain), waits(4, prompt), waits(0, screen)], [None; 4]);
        assert_eq!([waits(5, prompt), waits(1, screen)], [Some(true); 2]);
    }
}
