//! What a person sees of work that takes long: on standard error, once it has gone on for a
//! moment, and gone when it is done.
//!
//! On a terminal that is a line that moves. Where standard error is something else, or a
//! terminal that can move nothing (`TERM=dumb`), it is a line now and then. It has no colours.

use std::{
    io::{IsTerminal as _, Write, stderr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing_subscriber::fmt::MakeWriter;

use crate::bytes::size;

/// What is done sooner is not shown.
const UNSEEN: Duration = Duration::from_millis(500);
/// How often a line moves.
const FRAME: Duration = Duration::from_millis(100);
/// How often another line says that work goes on.
const NEXT_LINE: Duration = Duration::from_secs(10);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressDisplay {
    /// Not at all.
    Nothing,
    /// By a line now and then.
    Lines,
    /// By one line that moves.
    Moving,
}

impl ProgressDisplay {
    /// What suits standard error, and a person who may want none of it.
    pub(crate) fn of_standard_error(quiet: bool) -> Self {
        Self::of(quiet, stderr().is_terminal(), std::env::var("TERM").ok().as_deref())
    }

    fn of(quiet: bool, is_terminal: bool, terminal: Option<&str>) -> Self {
        match (quiet, is_terminal && terminal != Some("dumb")) {
            (true, _) => Self::Nothing,
            (false, false) => Self::Lines,
            (false, true) => Self::Moving,
        }
    }

    /// Begins to show `what`, until what is returned is dropped.
    pub(crate) fn step(self, what: impl Into<String>) -> Step {
        let bytes = Arc::new(AtomicU64::new(0));
        let (over, is_over) = mpsc::channel();
        let work = Work { what: what.into(), bytes: Arc::clone(&bytes), began: Instant::now() };
        let shown = (self != Self::Nothing).then(|| std::thread::spawn(move || work.show(self, &is_over)));
        Step { bytes, over: Some(over), shown }
    }
}

/// Work that goes on.
pub(crate) struct Step {
    bytes: Arc<AtomicU64>,
    over: Option<mpsc::Sender<()>>,
    shown: Option<JoinHandle<()>>,
}

impl Step {
    /// Says how many bytes have come.
    pub(crate) fn came(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

impl Drop for Step {
    /// What was shown is gone when this returns: what is printed next stands alone.
    fn drop(&mut self) {
        self.over = None;
        // Progress that could not be shown changes nothing.
        let _ = self.shown.take().map(JoinHandle::join);
    }
}

struct Work {
    what: String,
    bytes: Arc<AtomicU64>,
    began: Instant,
}

impl Work {
    fn show(&self, display: ProgressDisplay, is_over: &Receiver<()>) {
        if ends_within(is_over, UNSEEN) {
            return;
        }
        if display == ProgressDisplay::Moving {
            self.move_line(is_over);
        } else {
            self.print_lines(is_over);
        }
    }

    fn move_line(&self, is_over: &Receiver<()>) {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_elapsed(self.began.elapsed());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        *MOVING.lock() = Some(bar.clone());
        loop {
            bar.set_message(self.said());
            bar.tick();
            if ends_within(is_over, FRAME) {
                break;
            }
        }
        *MOVING.lock() = None;
        bar.finish_and_clear();
    }

    fn print_lines(&self, is_over: &Receiver<()>) {
        loop {
            // A reader that has gone is told nothing.
            let _ = writeln!(stderr(), "{}", self.said());
            if ends_within(is_over, NEXT_LINE) {
                break;
            }
        }
    }

    fn said(&self) -> String {
        let seconds = self.began.elapsed().as_secs();
        let mut said = self.what.clone();
        match self.bytes.load(Ordering::Relaxed) {
            0 => {}
            bytes => said = format!("{said}: {}", size(bytes)),
        }
        if seconds > 0 { format!("{said} ({seconds} s)") } else { said }
    }
}

fn ends_within(is_over: &Receiver<()>, time: Duration) -> bool {
    is_over.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}

/// The line that moves now.
static MOVING: parking_lot::Mutex<Option<ProgressBar>> = parking_lot::Mutex::new(None);

/// Standard error for the log, whose lines do not run into a line that moves.
pub(crate) struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let moving = MOVING.lock().clone();
        match moving {
            Some(bar) => bar.suspend(|| stderr().write(bytes)),
            None => stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        stderr().flush()
    }
}

impl MakeWriter<'_> for LogWriter {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        Self
    }
}

/// Whether the log may have colours: on a terminal that shows them, unless `NO_COLOR` is set.
pub(crate) fn has_colours() -> bool {
    let says_no = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !says_no && stderr().is_terminal() && std::env::var("TERM").ok().as_deref() != Some("dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminal_that_can_move_lines_gets_one_and_a_quiet_person_gets_none() {
        assert_eq!(ProgressDisplay::of(false, true, Some("xterm-256color")), ProgressDisplay::Moving);
        assert_eq!(ProgressDisplay::of(false, true, None), ProgressDisplay::Moving);
        assert_eq!(ProgressDisplay::of(false, true, Some("dumb")), ProgressDisplay::Lines);
        assert_eq!(ProgressDisplay::of(false, false, Some("xterm")), ProgressDisplay::Lines);
        assert_eq!(ProgressDisplay::of(true, true, Some("xterm")), ProgressDisplay::Nothing);
    }

    #[test]
    fn it_says_what_goes_on_how_much_has_come_and_for_how_long() {
        let began = Instant::now() - Duration::from_secs(3);
        let work = Work { what: "fetching x".to_owned(), bytes: Arc::new(AtomicU64::new(2048)), began };
        assert!(work.said().starts_with("fetching x: 2"), "{}", work.said());
        assert!(work.said().ends_with("(3 s)"), "{}", work.said());
    }
}
