//! The lists of the contract's words stand in `contract/` alone.
//!
//! Reads that crate's tables line by line, and then looks for their words in
//! other files: in match arms and in lists, line behind line. Few words that
//! happen to be the same are no list, and tests may write down what they expect. TypeScript
//! cannot use the crate: its copy of a list has to have the same words.

use std::{collections::BTreeSet, path::Path};

use super::{
    source::{SourceFile, end_of_code},
    violation::Violation,
};

/// Where the lists stand.
const PLACE: &str = "contract";
/// Shorter lists are made of words that others use, too.
const SHORTEST_LIST: usize = 5;
/// How many words of a list in consecutive lines repeat it.
const REPEATED: usize = 4;

/// One list of the contract.
#[derive(Debug, PartialEq, Eq)]
struct List<'s> {
    name: &'s str,
    words: BTreeSet<&'s str>,
}

/// `sources` are all files of the repository.
pub(super) fn check(sources: &[SourceFile]) -> Vec<Violation> {
    let of_contract = |source: &&SourceFile| source.is("rs") && source.path.starts_with(PLACE);
    let lists: Vec<List<'_>> = sources.iter().filter(of_contract).flat_map(|source| lists(&source.text)).collect();
    let others = sources.iter().filter(|source| source.is("rs") && !of_contract(source) && !is_test(&source.path));
    let mut violations: Vec<_> = others.flat_map(|source| repeated(source, &lists)).collect();
    violations.extend(sources.iter().filter(|source| source.is("ts")).flat_map(|source| differing(source, &lists)));
    violations
}

/// Copies of a list in TypeScript, and the lists that they are of.
const COPIES: [(&str, &str); 1] = [("FailureCode", "ErrorCode")];

/// Copies in a file of TypeScript that have other words than their lists.
fn differing(source: &SourceFile, lists: &[List<'_>]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (copy, name) in COPIES {
        let Some((before, union)) = source.text.split_once(&format!("type {copy} =")) else { continue };
        let union = union.split(';').next().unwrap_or_default();
        let words: BTreeSet<_> = union.split('"').skip(1).step_by(2).collect();
        if lists.iter().find(|list| list.name == name).is_none_or(|list| list.words != words) {
            let text = format!("its words are not those of `{name}` in {PLACE}/ - write the same");
            violations.push(Violation::new(&source.path, before.lines().count(), text));
        }
    }
    violations
}

pub(super) fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.file_name().is_some_and(|name| name == "tests.rs")
}

/// The lists of a file of the contract, as the macro `words!` takes them.
fn lists(text: &str) -> Vec<List<'_>> {
    let mut lists: Vec<List<'_>> = Vec::new();
    let mut within = false;
    for line in text.lines() {
        let code = line.trim();
        match code {
            "words! {" => within = true,
            _ if line == "}" => within = false,
            _ if !within || code.starts_with("//") => {}
            _ => match (code.strip_suffix(" {"), code.strip_suffix(';').and_then(|code| code.split_once(" = "))) {
                (Some(head), _) => {
                    let name = head.split(',').next().unwrap_or_default();
                    lists.push(List { name, words: BTreeSet::new() });
                }
                (None, Some((_, word))) => lists.iter_mut().last().into_iter().for_each(|list| {
                    list.words.insert(word.trim_matches('"'));
                }),
                (None, None) => {}
            },
        }
    }
    lists.retain(|list| list.words.len() >= SHORTEST_LIST);
    lists
}

fn repeated(source: &SourceFile, lists: &[List<'_>]) -> Vec<Violation> {
    // Tests stand at the end of their file.
    let code = &source.text[..end_of_code(&source.text)];
    let mut violations = Vec::new();
    let mut run = Vec::new();
    for (index, line) in code.lines().chain([""]).enumerate() {
        if let Some(word) = entry(line.trim()) {
            run.push(word);
            continue;
        }
        for list in lists {
            let found: BTreeSet<_> = run.iter().filter(|word| list.words.contains(*word)).collect();
            if found.len() >= REPEATED {
                let text = format!(
                    "these are words of `{}` in {PLACE}/ - use that list, so that a new word is written once",
                    list.name
                );
                violations.push(Violation::new(&source.path, index + 1 - run.len(), text));
                break;
            }
        }
        run.clear();
    }
    violations
}

/// The word of a line that is an arm of a match on words or to words, or an entry
/// of a list: `"word" => …`, `… => "word",`, `"word",` and `("word", …`.
fn entry(line: &str) -> Option<&str> {
    if let Some((word, rest)) = line.strip_prefix('"').and_then(|line| line.split_once('"')) {
        return (rest == "," || rest.trim_start().starts_with("=>")).then_some(word);
    }
    if let Some((word, rest)) = line.strip_prefix("(\"").and_then(|line| line.split_once('"')) {
        return rest.starts_with(',').then_some(word);
    }
    let (_, word) = line.split_once("=> \"")?;
    word.strip_suffix("\",").filter(|word| !word.contains('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: &str = "words! {\n    /// What is said.\n    Sign, open AnySign, \"sign\" {\n        /// One.\n        \
                            One = \"one\";\n        Two = \"two\";\n        Three = \"three\";\n        Four = \"four\";\n        \
                            Five = \"five\";\n    }\n}\n\nwords! {\n    Few, \"few\" {\n        A = \"a\";\n    }\n}\n\nfn other() \
                            {\n    let x = \"y\";\n}\n";

    fn source(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), text: text.to_owned() }
    }

    fn found(path: &str, text: &str) -> Vec<usize> {
        let sources = [source("contract/src/lib.rs", CONTRACT), source(path, text)];
        check(&sources).into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn a_list_is_read_with_its_words() {
        let words = ["one", "two", "three", "four", "five"].into();
        assert_eq!(lists(CONTRACT), [List { name: "Sign", words }]);
    }

    #[test]
    fn a_list_that_is_written_a_second_time_is_found_in_each_form() {
        let path = "host/core/src/sign.rs";
        let arms = |form: fn(&str) -> String| {
            let lines: Vec<_> = ["one", "two", "three", "four"].map(form).into();
            format!("match sign {{\n{}\n}}\n", lines.join("\n"))
        };
        assert_eq!(found(path, &arms(|word| format!("    Self::X => \"{word}\","))), [2]);
        assert_eq!(found(path, &arms(|word| format!("    \"{word}\" => Self::X,"))), [2]);
        assert_eq!(found(path, &arms(|word| format!("    \"{word}\","))), [2]);
        assert_eq!(found(path, &arms(|word| format!("    (\"{word}\", Self::X),"))), [2]);
    }

    #[test]
    fn a_copy_in_typescript_has_the_same_words() {
        let contract = CONTRACT.replace("Sign, open AnySign", "ErrorCode");
        let found = |words: &str| {
            let text = format!("/** A code. */\nexport type FailureCode =\n{words};\n");
            let sources = [source("contract/src/lib.rs", &contract), source("sdk/front-end/src/a.ts", &text)];
            check(&sources).len()
        };
        let same = "  | \"one\"\n  | \"two\"\n  | \"three\"\n  | \"four\"\n  | \"five\"";
        assert_eq!(found(same), 0);
        assert_eq!(found(&same.replace("five", "six")), 1);
        assert_eq!(found(&format!("{same} | \"six\"")), 1);
    }

    #[test]
    fn few_words_tests_and_the_contract_itself_are_left_alone() {
        let three = "    \"one\" => 1,\n    \"two\" => 2,\n    \"three\" => 3,\n    \"other\" => 4,\n";
        assert_eq!(found("host/core/src/a.rs", three), [0; 0]);
        let four = "    \"one\",\n    \"two\",\n    \"three\",\n    \"four\",\n";
        assert_eq!(found("host/core/src/a.rs", four), [1]);
        let apart = four.replace("    \"three\"", "\n    \"three\"");
        assert_eq!(found("host/core/src/a.rs", &apart), [0; 0]);
        for path in ["host/core/tests/a.rs", "tests/tests/end_to_end/a.rs", "host/core/src/a/tests.rs", "contract/b.rs"]
        {
            assert_eq!(found(path, four), [0; 0], "{path}");
        }
        assert_eq!(found("sdk/rust/src/a.rs", &format!("#[cfg(test)]\nmod tests {{\n{four}}}\n")), [0; 0]);
    }
}
