//! Which parts run at the same time.
//!
//! The Rust tests have deadlines, and wait for children, browsers and clocks meanwhile. Parts that
//! only compute take what they leave of the processors. Once they are through, the parts that wait
//! for clients run in two rows, since what makes a component computes on one processor: that of the
//! slow client and of authors, and all others.

use std::path::Path;
use std::process::Command;
use std::{fs, panic, thread};

use super::TestPart;
use super::outcome::PartOutcome;
use crate::command;
use crate::workspace::Workspace;

/// The lowest priority, at which the computing of one part delays no other part.
const LOWEST: &str = "19";

/// Runs the parts; what became of each, row by row.
pub(super) fn run(workspace: &Workspace, parts: Vec<TestPart>) -> Vec<PartOutcome> {
    let (behind, parts): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| part.only_computes());
    let (alone, parts): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| *part == TestPart::Rust);
    let (first, second): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| matches!(part, TestPart::Client | TestPart::Author));
    let all = |parts: Vec<TestPart>| parts.into_iter().map(|part| part.run(workspace)).collect::<Vec<_>>();
    thread::scope(|scope| {
        let behind = scope.spawn(|| {
            yield_to_others();
            all(behind)
        });
        let mut outcomes = all(alone);
        let first = scope.spawn(|| all(first));
        let second = all(second);
        for row in [first, behind] {
            outcomes.extend(row.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        }
        outcomes.extend(second);
        outcomes
    })
}

/// Gives this thread, and all that it starts, the lowest priority. Where that cannot be had, the
/// tests are slower and right.
fn yield_to_others() {
    let Ok(thread) = fs::read_link("/proc/thread-self") else { return };
    if let Some(id) = thread.file_name().map(Path::new) {
        let mut renice = Command::new("renice");
        let _ = command::capture(renice.args(["-n", LOWEST, "-p"]).arg(id));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_that_yields_starts_has_the_lowest_priority_and_nothing_else_has() {
        let priority = || command::capture(&mut Command::new("nice")).map(|said| said.trim().to_owned());
        let before = priority().expect("nice says its priority");
        let within = thread::spawn(move || {
            yield_to_others();
            priority().expect("nice says its priority")
        });
        assert_eq!(within.join().expect("a priority"), LOWEST);
        assert_eq!(priority().expect("nice says its priority"), before);
    }
}
