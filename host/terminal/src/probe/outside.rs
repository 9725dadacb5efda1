//! Both sides of the part of a confined host that looks at programs.
//!
//! Linux lets a confined process look into no process outside of its confinement, and programs are outside. The part
//! says of a program what it waits for and where it is, and nothing that is in it.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use wharf_spawn::{OutsidePart, serve_outside};

use super::{ForegroundGroup, ForegroundWait};
use crate::pty::TerminalDevice;

/// First argument that makes this program look. No user types it.
const LOOK: &str = "wharf-terminal:look";

/// The part, once it was needed.
static PART: Mutex<Option<Arc<OutsidePart>>> = Mutex::new(None);

#[derive(Debug, Serialize, Deserialize)]
enum LookQuestion {
    Waits { front: ForegroundGroup, device: TerminalDevice, read_limit: Option<Duration> },
    Directory { program: u32 },
}

#[derive(Debug, Serialize, Deserialize)]
enum LookAnswer {
    Waits(Option<ForegroundWait>),
    Directory(Option<PathBuf>),
}

pub(super) fn waits(
    front: ForegroundGroup,
    device: TerminalDevice,
    read_limit: Option<Duration>,
) -> Option<ForegroundWait> {
    match ask(&LookQuestion::Waits { front, device, read_limit })? {
        LookAnswer::Waits(waits) => waits,
        LookAnswer::Directory(_) => None,
    }
}

pub(super) fn directory(program: u32) -> Option<PathBuf> {
    match ask(&LookQuestion::Directory { program })? {
        LookAnswer::Directory(directory) => directory,
        LookAnswer::Waits(_) => None,
    }
}

/// The answer; nothing where the part is gone. The next question starts another one.
fn ask(question: &LookQuestion) -> Option<LookAnswer> {
    let part = part().inspect_err(|error| tracing::warn!(%error, "no part of this host can look at programs")).ok()?;
    let answered = part.ask(question);
    if let Err(error) = &answered {
        tracing::warn!(%error, "the part of this host that looks at programs is gone");
        let mut kept = PART.lock();
        kept.take_if(|kept| Arc::ptr_eq(kept, &part));
    }
    answered.ok()
}

fn part() -> io::Result<Arc<OutsidePart>> {
    // Held while the part is started, so that there is one.
    let mut part = PART.lock();
    if let Some(part) = &*part {
        return Ok(Arc::clone(part));
    }
    Ok(Arc::clone(part.insert(Arc::new(OutsidePart::start(LOOK)?))))
}

/// Decides, before `main`, whether this process is here to look.
#[ctor::ctor(unsafe)]
fn before_main() {
    serve_outside(LOOK, |question| match question {
        LookQuestion::Waits { front, device, read_limit } => {
            LookAnswer::Waits(super::waits_here(front, device, read_limit))
        }
        LookQuestion::Directory { program } => LookAnswer::Directory(super::directory_here(program)),
    });
}
