//! What became of each part of the run, and how it is told.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// What became of one part.
pub(super) struct PartOutcome {
    pub(super) name: &'static str,
    pub(super) result: Result<()>,
    pub(super) took: Duration,
    /// The runners' own closing lines.
    pub(super) closing: Vec<String>,
}

pub(super) fn timed(name: &'static str, work: impl FnOnce() -> Result<(Result<()>, Vec<String>)>) -> PartOutcome {
    let begun = Instant::now();
    let (result, closing) = match work() {
        Ok(done) => done,
        Err(error) => (Err(error), Vec::new()),
    };
    PartOutcome { name, result, took: begun.elapsed(), closing }
}

/// Prints what failed, the runners' closing lines, and one line for all.
pub(super) fn report(outcomes: &[PartOutcome]) -> Result<()> {
    println!();
    for outcome in outcomes {
        if let Err(error) = &outcome.result {
            println!("{} failed: {error:#}", outcome.name);
        }
    }
    // The words of the largest run come last.
    for line in outcomes.iter().rev().flat_map(|outcome| &outcome.closing) {
        println!("{line}");
    }
    println!("{}", summary(outcomes));
    let failed = outcomes.iter().filter(|outcome| outcome.result.is_err()).count();
    if failed > 0 {
        bail!("{failed} of {} parts failed", outcomes.len());
    }
    Ok(())
}

fn summary(outcomes: &[PartOutcome]) -> String {
    let parts: Vec<_> = outcomes
        .iter()
        .map(|outcome| {
            let verdict = if outcome.result.is_ok() { "ok" } else { "FAILED" };
            format!("{} {verdict} ({:.0} s)", outcome.name, outcome.took.as_secs_f64())
        })
        .collect();
    format!("xtask test: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_part_fails_the_run_and_is_named() {
        let outcome = |name, result| PartOutcome { name, result, took: Duration::from_secs(2), closing: Vec::new() };
        let outcomes = [outcome("rust", Ok(())), outcome("lint", Err(anyhow::anyhow!("unformatted")))];
        assert_eq!(summary(&outcomes), "xtask test: rust ok (2 s), lint FAILED (2 s)");
        assert!(report(&outcomes).is_err());
        assert!(report(&outcomes[..1]).is_ok());
    }
}
