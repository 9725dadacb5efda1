//! Counts and times of many lines, in little memory.

use std::collections::BTreeMap;

use crate::AuditEntry;

/// Most groups that are counted apart; the rest counts as one.
const MAX_GROUPS: usize = 10_000;
/// Steps of times within a power of two: 6 %.
const STEPS: u32 = 8;

/// The group of a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuditGroup {
    /// `call`, `host-call` and others.
    pub kind: String,
    /// The plugin.
    pub plugin: String,
    /// The tool, or the function of the host.
    pub name: String,
    /// The outcome.
    pub outcome: String,
}

/// The sums of a group of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFigures {
    /// Number of events.
    pub count: u64,
    /// Microseconds of all.
    pub microseconds: u64,
    /// Microseconds of the longest.
    pub longest: u64,
    /// Bytes of all inputs.
    pub bytes_in: u64,
    /// Bytes of all answers.
    pub bytes_out: u64,
    /// Most bytes of linear memory that one of them had; 0 where none ran a component.
    pub memory_bytes: u64,
    // Number of events by the step of their time.
    times: BTreeMap<u32, u64>,
}

/// Counts of lines by group.
#[derive(Debug, Default)]
pub struct AuditSummary {
    /// The groups, in order.
    pub groups: BTreeMap<AuditGroup, AuditFigures>,
    /// Number of records that hosts dropped.
    pub dropped: u64,
}

impl AuditSummary {
    /// Counts a line.
    pub fn add(&mut self, entry: AuditEntry) {
        if entry.kind == "dropped" {
            self.dropped = self.dropped.saturating_add(entry.count);
            return;
        }
        let times = entry.times();
        let AuditEntry {
            kind, plugin, tool, function, outcome, microseconds, bytes_in, bytes_out, memory_bytes, ..
        } = entry;
        let name = if function.is_empty() { tool } else { function };
        let mut group = AuditGroup { kind, plugin, name, outcome };
        if self.groups.len() >= MAX_GROUPS && !self.groups.contains_key(&group) {
            let other = || "(other)".to_owned();
            group = AuditGroup { kind: other(), plugin: other(), name: other(), outcome: other() };
        }
        let figures = self.groups.entry(group).or_default();
        figures.count = figures.count.saturating_add(times);
        figures.microseconds = figures.microseconds.saturating_add(microseconds);
        // A line of several events has only the sum of their times.
        let each = microseconds / times;
        figures.longest = figures.longest.max(each);
        figures.bytes_in = figures.bytes_in.saturating_add(bytes_in);
        figures.bytes_out = figures.bytes_out.saturating_add(bytes_out);
        figures.memory_bytes = figures.memory_bytes.max(memory_bytes);
        let alike = figures.times.entry(step(each)).or_default();
        *alike = alike.saturating_add(times);
    }
}

/// The step of a time.
fn step(microseconds: u64) -> u32 {
    let power = microseconds.checked_ilog2().unwrap_or(0);
    let beyond = microseconds.saturating_sub(1 << power);
    let within = u32::try_from((u128::from(beyond) * u128::from(STEPS)) >> power).unwrap_or(0);
    power * STEPS + within
}

/// The end of a step.
fn end(step: u32) -> u64 {
    let (power, within) = (step / STEPS, step % STEPS);
    u64::try_from((u128::from(STEPS + within + 1) << power) / u128::from(STEPS)).unwrap_or(u64::MAX)
}

impl AuditFigures {
    /// The time in microseconds that this share of the events did not exceed, to 13 %.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank"
        )]
        let rank = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (at, count) in &self.times {
            seen = count.saturating_add(seen);
            if seen >= rank {
                return end(*at).min(self.longest);
            }
        }
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{line, tests::record};

    fn entry(tool: &str, microseconds: u64) -> AuditEntry {
        let mut entry = AuditEntry::read(line(&record(tool)).as_bytes()).expect("a line");
        entry.microseconds = microseconds;
        entry.memory_bytes = 65_536;
        entry
    }

    #[test]
    fn calls_are_counted_by_plugin_tool_and_outcome_with_their_times() {
        let mut summary = AuditSummary::default();
        for microseconds in 1..=1_000 {
            summary.add(entry("echo", microseconds));
        }
        summary.add(entry("other", 0));
        let figures: Vec<_> = summary.groups.values().collect();
        assert_eq!((figures[0].count, figures[0].microseconds, figures[0].longest), (1_000, 500_500, 1_000));
        let median = figures[0].quantile(0.5);
        assert!((500..=565).contains(&median), "{median}");
        assert_eq!(figures[0].quantile(1.0), 1_000);
        assert_eq!((figures[1].count, figures[1].quantile(0.5)), (1, 0));
        assert_eq!((figures[0].bytes_out, figures[0].memory_bytes), (4_000, 65_536), "memory is a peak, no sum");
    }

    #[test]
    fn no_number_is_too_large_and_no_file_makes_too_many_groups() {
        let mut summary = AuditSummary::default();
        summary.add(entry("echo", u64::MAX));
        summary.add(entry("echo", u64::MAX));
        assert_eq!(summary.groups.values().next().map(|figures| figures.quantile(0.5)), Some(u64::MAX));
        for number in 0..MAX_GROUPS + 10 {
            summary.add(entry(&format!("t{number}"), 1));
        }
        assert_eq!(summary.groups.len(), MAX_GROUPS + 1);
    }
}
