//! How live turns went. Knows no program.

use crate::median;

/// A turn that ended at the wrong time.
#[derive(Debug)]
pub struct Failure {
    /// The program.
    pub program: &'static str,
    /// What was typed.
    pub typed: String,
    /// What the detector said.
    pub why: String,
    /// What was wrong.
    pub what: String,
}

/// How many turns there were, and which were wrong.
#[derive(Debug, Default)]
pub struct Tally {
    /// All.
    pub turns: usize,
    /// Told to be complete before they were.
    pub premature: Vec<Failure>,
    /// Told more than a second after the fact, or by silence or a limit where
    /// something better applies.
    pub late: Vec<Failure>,
    /// After how long those told in time were, in seconds.
    pub delays: Vec<f64>,
    /// Programs that this machine does not have.
    pub absent: Vec<&'static str>,
}

impl Tally {
    /// A line for people, and one for each failure.
    #[must_use]
    pub fn lines(&self, group: &str) -> Vec<String> {
        let (turns, premature, late) = (self.turns, self.premature.len(), self.late.len());
        let delay = median(self.delays.clone()) * 1e3;
        let absent =
            if self.absent.is_empty() { String::new() } else { format!("; absent: {}", self.absent.join(", ")) };
        let all =
            format!("{group}: {turns} turns, {premature} premature, {late} late, told after {delay:.0} ms{absent}");
        let failures = |kind: &'static str, failures: &'_ [Failure]| {
            let line = |Failure { program, typed, why, what }: &Failure| {
                format!("  {kind}: {program}: {typed:?}: {why}: {what}")
            };
            failures.iter().map(line).collect::<Vec<_>>()
        };
        [vec![all], failures("premature", &self.premature), failures("late", &self.late)].concat()
    }
}

/// The two groups of programs.
#[derive(Debug, Default)]
pub struct Report {
    /// Those that the detector was tuned on.
    pub known: Tally,
    /// The others.
    pub strange: Tally,
}
