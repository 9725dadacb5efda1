//! What runners of tests say last, which is repeated when all parts are over.

use anyhow::Result;

/// Picks what nextest says from its closing line on, which is where it repeats the output
/// of failed tests.
#[derive(Default)]
pub(super) struct LastWords {
    lines: usize,
}

impl LastWords {
    /// More than this many lines are not repeated: the rest of them stands further up.
    const MOST_LINES: usize = 400;

    pub(super) fn keep(&mut self, line: &str) -> bool {
        if self.lines > 0 || closes_a_run(line) {
            self.lines += 1;
        }
        closes_a_run(line) || (1..=Self::MOST_LINES).contains(&self.lines)
    }
}

/// Puts the output of failed tests into the error: it is printed when all parts are over,
/// where those who see only the end of a long log find it.
pub(super) fn with_failures(tested: Result<()>, said: &[String]) -> Result<()> {
    let failures: Vec<_> = said.iter().map(String::as_str).filter(|line| !closes_a_run(line)).collect();
    tested.map_err(|error| match failures.is_empty() {
        true => error,
        false => error.context(failures.join("\n")),
    })
}

/// Whether a line is the last word of nextest, or of a test binary that cargo ran
/// and that had something to run. What nextest quotes from failed tests is
/// indented.
pub(crate) fn closes_a_run(line: &str) -> bool {
    let of_cargo = line.starts_with("test result: ") && !line.contains(" 0 passed; 0 failed;");
    of_cargo || line.trim_start().starts_with("Summary [")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_both_runners_are_recognised() {
        assert!(closes_a_run("     Summary [   0.006s] 1 test run: 1 passed, 0 skipped"));
        assert!(closes_a_run("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"));
        assert!(!closes_a_run("test tests::a_summary ... ok"));
        assert!(!closes_a_run("    test result: FAILED. 0 passed; 1 failed; 0 ignored; quoted by nextest"));
        assert!(!closes_a_run("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"));
    }

    #[test]
    fn the_output_of_failed_tests_is_repeated_at_the_end() {
        let mut words = LastWords::default();
        let said = ["PASS a", "Summary [ 1s] 2 tests run: 1 passed, 1 failed", "FAIL b", "  left: 1"];
        let kept: Vec<_> = said.into_iter().filter(|line| words.keep(line)).map(str::to_owned).collect();
        assert_eq!(kept, said[1..]);
        let error = with_failures(Err(anyhow::anyhow!("exit status: 100")), &kept).expect_err("it failed");
        assert_eq!(format!("{error:#}"), "FAIL b\n  left: 1: exit status: 100");
        assert!(with_failures(Ok(()), &kept).is_ok());
        let longest = (0..LastWords::MOST_LINES * 2).filter(|_| words.keep("more")).count();
        assert!(longest < LastWords::MOST_LINES, "{longest}");
    }
}
