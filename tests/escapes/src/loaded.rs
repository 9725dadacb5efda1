//! This crate inside a process that is not its own.
//!
//! The dynamic linker loads it by `LD_PRELOAD`. It opens what an attacker may hold from before the confinement, waits
//! until the file [`BEGIN`] is in the data directory, tries every way out on a thread of the host, and writes what came
//! of it to [`REPORT`] beside. It does nothing in a process to which nobody gave the [`variables`].

use std::{
    env,
    ffi::c_int,
    fs,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::attempts::{AttemptPlace, Ready, all};

/// A file of the data directory: the attempts begin once it is there. It holds the processes that they go for beside
/// the parent, one on a line.
pub const BEGIN: &str = "escape";
/// A file of the data directory, which appears when all was tried: a line for each attempt, which has the number of the
/// error, a space and the name.
pub const REPORT: &str = "escaped";

const INSIDE: &str = "WHARF_ESCAPES_INSIDE";
const OUTSIDE: &str = "WHARF_ESCAPES_OUTSIDE";
const BEYOND: &str = "WHARF_ESCAPES_BEYOND";

static HELD: OnceLock<(AttemptPlace, Ready)> = OnceLock::new();
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// What a process is given so that the attempts are made in it. This library lies beside the test that depends on it.
///
/// # Errors
/// Where the system does not say which program runs.
pub fn variables(place: &AttemptPlace) -> std::io::Result<[(&'static str, String); 4]> {
    let shown = |path: &Path| path.display().to_string();
    let library = env::current_exe()?.with_file_name("libwharf_escapes.so");
    Ok([
        ("LD_PRELOAD", shown(&library)),
        (INSIDE, shown(&place.inside)),
        (OUTSIDE, shown(&place.outside)),
        (BEYOND, place.beyond.clone()),
    ])
}

/// Runs before `main`, and so before anything is given up.
#[ctor::ctor(unsafe)]
fn hold() {
    let variable = |name| env::var_os(name).map(PathBuf::from);
    if let (Some(inside), Some(outside), Ok(beyond)) = (variable(INSIDE), variable(OUTSIDE), env::var(BEYOND)) {
        let place = AttemptPlace { inside, outside, beyond };
        // Children of the host load this too, and may have nothing to open.
        if let Ok(ready) = Ready::new(&place) {
            let _ = HELD.set((place, ready));
        }
    }
}

/// The call of the C library that a runtime waits in. Its threads are confined by then, and so is one that they start.
///
/// # Safety
/// As of the C library.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "it stands in the place of a function of the C library")]
pub unsafe extern "C" fn epoll_wait(
    poll: c_int,
    events: *mut libc::epoll_event,
    count: c_int,
    milliseconds: c_int,
) -> c_int {
    begin();
    let no_mask = std::ptr::null::<libc::sigset_t>();
    // SAFETY: what the caller gave, by the call that every architecture has.
    let ready = unsafe { libc::syscall(libc::SYS_epoll_pwait, poll, events, count, milliseconds, no_mask, 8_usize) };
    c_int::try_from(ready).unwrap_or(-1)
}

fn begin() {
    let Some((place, ready)) = HELD.get() else { return };
    if HAS_BEGUN.load(Ordering::Relaxed) {
        return;
    }
    let Ok(others) = fs::read_to_string(place.inside.join(BEGIN)) else { return };
    if HAS_BEGUN.swap(true, Ordering::Relaxed) {
        return;
    }
    std::thread::spawn(move || {
        let others: Vec<_> = others.lines().filter_map(|line| line.parse().ok()).collect();
        let lines = all(place, ready, &others).into_iter().map(|(name, outcome)| {
            // Nothing is refused with zero: it is what came of an attempt that went well.
            let number = outcome.err().map_or(0, |error| error.raw_os_error().unwrap_or(-1));
            format!("{number} {name}\n")
        });
        let report: String = lines.collect();
        let unfinished = place.inside.join("escaping");
        if fs::write(&unfinished, report).is_ok() {
            let _ = fs::rename(unfinished, place.inside.join(REPORT));
        }
    });
}
