//! The cases of the chapter about attacks, and what became of their tests.

use std::collections::{BTreeMap, BTreeSet};

/// What a test says that shows nothing of a binary.
const NOT_OF_A_BINARY: &str = "NOT OF A BINARY: ";

/// A row of the chapter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AttackCase {
    /// The heading above it.
    pub(super) section: String,
    pub(super) attempt: String,
    /// Its end-to-end tests.
    pub(super) tests: Vec<String>,
    /// Whether other tests show it, too: those of a crate, which attack no binary.
    pub(super) has_others: bool,
}

/// What became of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AttackOutcome {
    Held,
    /// The last lines that it said.
    Broken(String),
    /// It attacked no binary, for this reason.
    Elsewhere(String),
}

/// The rows of a page, with the heading above each.
pub(super) fn listed(page: &str) -> Vec<AttackCase> {
    let mut section = String::new();
    let mut cases = Vec::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut section);
        }
        let Some((attempt, tests)) = line.strip_prefix("| ").and_then(|row| row.split_once(" | ")) else { continue };
        let quoted: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        if quoted.is_empty() {
            continue;
        }
        let of_binary: Vec<_> = quoted.iter().filter(|name| name.contains("::")).map(|&name| name.to_owned()).collect();
        cases.push(AttackCase {
            section: section.clone(),
            attempt: attempt.to_owned(),
            has_others: of_binary.len() < quoted.len(),
            tests: of_binary,
        });
    }
    cases
}

/// What became of each test, by what the runner of them printed and which of them started the binary.
pub(super) fn outcomes(said: &[String], started: &str) -> BTreeMap<String, AttackOutcome> {
    let started: BTreeSet<_> = started.lines().collect();
    let words = last_words(said);
    let mut outcomes = BTreeMap::new();
    for line in said {
        let Some((test, end)) = line.trim().strip_prefix("test ").and_then(|line| line.rsplit_once(" ... ")) else {
            continue;
        };
        let test = test.split(" - ").next().unwrap_or(test);
        let outcome = match end {
            "ok" if started.contains(test) => AttackOutcome::Held,
            "ok" => AttackOutcome::Elsewhere("it attacks the library".to_owned()),
            "FAILED" => {
                let said = words.get(test).cloned().unwrap_or_default();
                let elsewhere = said.split_once(NOT_OF_A_BINARY).and_then(|(_, why)| why.lines().next());
                elsewhere.map_or(AttackOutcome::Broken(said.clone()), |why| AttackOutcome::Elsewhere(why.to_owned()))
            }
            _ => continue,
        };
        outcomes.insert(test.to_owned(), outcome);
    }
    outcomes
}

/// What the failed tests printed.
fn last_words(said: &[String]) -> BTreeMap<&str, String> {
    let mut words = BTreeMap::new();
    let mut of = None;
    for line in said {
        if let Some(test) = line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----")) {
            of = Some(test);
        } else if line == "failures:" {
            of = None;
        } else if let Some(test) = of {
            let words: &mut String = words.entry(test).or_default();
            words.push_str(line);
            words.push('\n');
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_a_case_with_the_tests_that_start_a_binary() {
        let page = "# Attacks\n\n## Guests\n\n| attempt | tests |\n|---|---|\n| a bomb | `a::one`, host/x.rs: `two` |\n\
                    | \"a wish\" | host/x.rs: `three` |\n\n## Hosts\n\n| more | `b::four`, `b::five` |\n";
        let case = |section: &str, attempt: &str, tests: &[&str], has_others| AttackCase {
            section: section.into(),
            attempt: attempt.into(),
            tests: tests.iter().map(|&test| test.into()).collect(),
            has_others,
        };
        let expected = [
            case("Guests", "a bomb", &["a::one"], true),
            case("Guests", "\"a wish\"", &[], true),
            case("Hosts", "more", &["b::four", "b::five"], false),
        ];
        assert_eq!(listed(page), expected);
    }

    #[test]
    fn a_test_that_started_no_binary_or_says_so_shows_nothing_of_it() {
        let said = "test a::held ... ok\ntest a::idle ... ok\ntest a::inner ... FAILED\ntest a::broken ... FAILED\n\
                    \nfailures:\n\n---- a::inner stdout ----\nthread 'a::inner' panicked at x.rs:1:\n\
                    NOT OF A BINARY: this test looks into the library\nnote: run\n\n---- a::broken stdout ----\n\
                    assertion failed\n\nfailures:\n    a::broken\n    a::inner\n";
        let said: Vec<_> = said.lines().map(str::to_owned).collect();
        let outcomes = outcomes(&said, "a::held\na::broken\na::held\n");
        assert_eq!(outcomes["a::held"], AttackOutcome::Held);
        assert_eq!(outcomes["a::idle"], AttackOutcome::Elsewhere("it attacks the library".into()));
        assert_eq!(outcomes["a::inner"], AttackOutcome::Elsewhere("this test looks into the library".into()));
        assert_eq!(outcomes["a::broken"], AttackOutcome::Broken("assertion failed\n\n".into()));
        assert_eq!(outcomes.len(), 4);
    }
}
