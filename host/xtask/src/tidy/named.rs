//! Tests that a document names as proof: each must be there.

use std::path::Path;

use super::{source::SourceFile, violation::Violation};

/// Where tests are that are named as `module::test`.
const TESTS: &str = "tests/tests/end_to_end";

/// `sources` are all files of the repository. Rows of tables name tests; prose may.
pub(super) fn check(document: &SourceFile, sources: &[SourceFile]) -> Vec<Violation> {
    let lines = document.text.lines().enumerate().filter(|(_, line)| line.starts_with('|'));
    let mut violations = Vec::new();
    for (at, line) in lines {
        for name in names(line).filter(|name| !sources.iter().any(|source| has(source, name))) {
            let text = format!("there is no test `{name}` below {TESTS} - name the one that shows it");
            violations.push(Violation::new(&document.path, at + 1, text));
        }
        for (file, name) in names_in_files(line) {
            let place = sources.iter().find(|source| source.path == Path::new(file));
            if !place.is_some_and(|source| defines(source, name)) {
                let text = format!("there is no test `{name}` in {file} - name the one that shows it");
                violations.push(Violation::new(&document.path, at + 1, text));
            }
        }
    }
    violations
}

/// What looks like the path of a test.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(move |name| name.contains("::") && is_legal(name))
}

/// Tests that are named with their file: `a/b.rs: ` and, in backticks, one or several.
fn names_in_files(line: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut file = None;
    // Text and quoted names take turns.
    for (index, part) in line.split('`').enumerate() {
        if index % 2 == 0 {
            if let Some(named) = part.strip_suffix(".rs: ") {
                file = part.get(named.rfind(' ').map_or(0, |at| at + 1)..part.len() - 2);
            } else if part != ", " {
                file = None;
            }
        } else if let Some(file) = file.filter(|_| is_legal(part) && !part.contains("::")) {
            found.push((file, part));
        }
    }
    found
}

fn is_legal(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_:".contains(&byte))
}

fn has(source: &SourceFile, name: &str) -> bool {
    let Some((module, test)) = name.rsplit_once("::") else { return false };
    let place = Path::new(TESTS).join(module.replace("::", "/"));
    source.path == place.with_extension("rs") && defines(source, test)
}

fn defines(source: &SourceFile, test: &str) -> bool {
    // A generic one is run for each of its types.
    ["()", "<"].iter().any(|after| source.text.contains(&format!("fn {test}{after}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), text: text.to_owned() }
    }

    fn broken(line: &str) -> usize {
        let sources = [
            source("tests/tests/end_to_end/cache.rs", "#[test]\nfn one_thing() {}"),
            source("tests/tests/end_to_end/limits.rs", "#[test]\nfn a_row() {}"),
            source(
                "host/audit/src/sink.rs",
                "#[test]\nfn no_line() {}\n#[test]\nasync fn a_line() {}\nfn of_each<T>() {}",
            ),
        ];
        check(&source("docs/src/security/attacks.md", line), &sources).len()
    }

    #[test]
    fn a_test_that_is_named_has_to_be_there() {
        assert_eq!(broken("| a | `cache::one_thing`, `limits::a_row` |"), 0);
        assert_eq!(broken("| a | `cache::another_thing`, `limits::one_thing` |"), 2);
        assert_eq!(broken("| a | `wharf serve`, `WARN target::of_log` |"), 0, "no tests are meant");
        assert_eq!(broken("in prose `cache::another_thing`"), 0);
    }

    #[test]
    fn a_test_that_is_named_with_its_file_has_to_be_in_it() {
        assert_eq!(broken("| a | `limits::a_row`, host/audit/src/sink.rs: `no_line`, `a_line`, `of_each` |"), 0);
        assert_eq!(broken("| a | host/audit/src/sink.rs: `a_row` |"), 1);
        assert_eq!(broken("| a | host/audit/src/gone.rs: `no_line`, `a_line`, `cache::one_thing` |"), 2);
        assert_eq!(broken("| `expires` | a day, `null` | `a_line` |"), 0, "no file is named");
    }
}
