//! The report of an attack.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::cases::{AttackCase, AttackOutcome};

/// Most lines of what a broken test said.
const LINES: usize = 40;

/// The report: the whole, and its last lines for the terminal.
pub(super) struct WrittenReport {
    pub(super) text: String,
    pub(super) summary: String,
}

/// Writes what became of each case.
pub(super) fn written(
    cases: &[AttackCase],
    outcomes: &BTreeMap<String, AttackOutcome>,
    attacked: &str,
) -> WrittenReport {
    let count = |is: fn(&AttackOutcome) -> bool| outcomes.values().filter(|outcome| is(outcome)).count();
    let held = count(|outcome| matches!(outcome, AttackOutcome::Held));
    let broken = count(|outcome| matches!(outcome, AttackOutcome::Broken(_)));
    let elsewhere = count(|outcome| matches!(outcome, AttackOutcome::Elsewhere(_)));
    let shown = cases.iter().filter(|case| is_shown(case, outcomes)).count();
    let summary = format!(
        "attack: {attacked}\nattack: {held} tests held, {broken} did not, {elsewhere} show nothing of a binary\n\
         attack: {shown} of {} attempts of the book were made against it",
        cases.len()
    );
    let mut text = format!("# Attack\n\n{}\n", summary.replace("attack: ", "- "));
    let mut section = "";
    for case in cases.iter().filter(|case| case.tests.iter().any(|test| outcomes.contains_key(test))) {
        if case.section != section {
            section = &case.section;
            let _ = write!(text, "\n## {section}\n\n| attempt | outcome |\n|---|---|\n");
        }
        let _ = writeln!(text, "| {} | {} |", case.attempt, told(case, outcomes));
    }
    for (test, outcome) in outcomes {
        if let AttackOutcome::Broken(said) = outcome {
            let said: Vec<_> = said.lines().take(LINES).collect();
            let _ = write!(text, "\n## `{test}`\n\n```text\n{}\n```\n", said.join("\n"));
        }
    }
    WrittenReport { text, summary }
}

fn is_shown(case: &AttackCase, outcomes: &BTreeMap<String, AttackOutcome>) -> bool {
    case.tests.iter().any(|test| matches!(outcomes.get(test), Some(AttackOutcome::Held | AttackOutcome::Broken(_))))
}

fn told(case: &AttackCase, outcomes: &BTreeMap<String, AttackOutcome>) -> String {
    let mut told: Vec<_> = case
        .tests
        .iter()
        .filter_map(|test| {
            Some(match outcomes.get(test)? {
                AttackOutcome::Held => format!("held: `{test}`"),
                AttackOutcome::Broken(_) => format!("**did not hold**: `{test}`"),
                AttackOutcome::Elsewhere(why) => format!("not made, {why}: `{test}`"),
            })
        })
        .collect();
    if case.has_others {
        told.push("tests of a crate, which attack no binary".to_owned());
    }
    told.join("; ")
}
