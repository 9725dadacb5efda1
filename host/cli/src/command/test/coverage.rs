//! The lines that native tests reach, as a table.

use std::path::PathBuf;

use anyhow::Result;
use wharf_author::{Coverage, CoveredFile, Project};

use crate::{command::build::unusable, listing::Listing};

/// Ranges of missed lines that are told of a file.
const MOST_RANGES: usize = 12;

/// Runs the native tests with counters, prints what they reach, and says whether all passed.
pub(super) fn report(project: &Project, lcov: Option<PathBuf>, commented: bool) -> Result<bool> {
    let Coverage { files, lcov, tests_passed } = project.coverage(lcov.as_deref()).map_err(unusable)?;
    let told = table(&files);
    let written = format!("written for other programs: {}", lcov.display());
    if commented {
        println!("{}", super::commented(&format!("{told}{written}")));
    } else {
        println!("\n{told}\n{written}");
    }
    Ok(tests_passed)
}

fn table(files: &[CoveredFile]) -> String {
    let mut listing = Listing::new(["file", "lines", "reached", "", "not reached"], 1..4);
    let share = |lines: usize, missed: usize| match lines {
        0 => "-".to_owned(),
        _ => format!("{} %", (lines - missed.min(lines)) * 100 / lines),
    };
    let (mut all, mut all_missed) = (0, 0);
    for CoveredFile { path, lines, missed } in files {
        (all, all_missed) = (all + lines, all_missed + missed.len());
        let path = wharf::text::line(&path.display().to_string(), 60);
        let reached = lines.saturating_sub(missed.len());
        listing.row([&path, lines, &reached, &share(*lines, missed.len()), &ranges(missed)]);
    }
    listing.row([&"all", &all, &(all - all_missed.min(all)), &share(all, all_missed), &""]);
    listing.to_string()
}

/// `3-5, 9`: lines that follow each other are one range.
fn ranges(lines: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, last)) if line.checked_sub(1) == Some(*last) => *last = *line,
            _ => ranges.push((*line, *line)),
        }
    }
    let more = if ranges.len() > MOST_RANGES { ", …" } else { "" };
    let told = ranges.iter().take(MOST_RANGES);
    let told: Vec<_> =
        told.map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") }).collect();
    told.join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_follow_each_other_are_one_range() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[3, 4, 5, 9, 11, 12]), "3-5, 9, 11-12");
        let many: Vec<_> = (0..40).map(|line| line * 2).collect();
        assert!(ranges(&many).ends_with("22, …"));
    }

    #[test]
    fn a_table_has_a_sum() {
        let file = |path: &str, lines, missed| CoveredFile { path: path.into(), lines, missed };
        let told = table(&[file("src/a.rs", 4, vec![2]), file("src/b.rs", 6, vec![])]);
        let sum = told.lines().last().expect("a line");
        assert_eq!(sum.split_whitespace().collect::<Vec<_>>(), ["all", "10", "9", "90", "%"]);
    }
}
