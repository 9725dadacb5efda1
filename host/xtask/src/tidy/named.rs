//! Tests that a document names as proof: each must be there.

use std::path::Path;

use super::{Source, Violation};

/// The document whose tables name tests, as `module::test`.
pub(super) const DOCUMENT: &str = "SECURITY.md";
/// Where they are.
const TESTS: &str = "tests/tests/end_to_end";

/// `sources` are all files of the repository.
pub(super) fn check(document: &Source, sources: &[Source]) -> Vec<Violation> {
    let lines = document.text.lines().enumerate().filter(|(_, line)| line.starts_with('|'));
    lines
        .flat_map(|(at, line)| names(line).map(move |name| (at, name)))
        .filter(|(_, name)| !sources.iter().any(|source| has(source, name)))
        .map(|(at, name)| {
            let text = format!("there is no test `{name}` below {TESTS} - name the one that shows it");
            Violation::new(&document.path, at + 1, text)
        })
        .collect()
}

/// What looks like the path of a test.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    let legal = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_:".contains(&byte))
    };
    quoted.filter(move |name| name.contains("::") && legal(name))
}

fn has(source: &Source, name: &str) -> bool {
    let Some((module, test)) = name.rsplit_once("::") else { return false };
    let place = Path::new(TESTS).join(module.replace("::", "/"));
    let is_there = source.path == place.with_extension("rs") || source.path == place.join("mod.rs");
    is_there && source.text.contains(&format!("fn {test}()"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.to_owned() }
    }

    #[test]
    fn a_test_that_is_named_has_to_be_there() {
        let sources = [
            source("tests/tests/end_to_end/cache.rs", "#[test]\nfn one_thing() {}"),
            source("tests/tests/end_to_end/limits/mod.rs", "#[test]\nfn a_row() {}"),
        ];
        let check = |line: &str| check(&source(DOCUMENT, line), &sources).len();
        assert_eq!(check("| a | `cache::one_thing`, `limits::a_row` |"), 0);
        assert_eq!(check("| a | `cache::another_thing`, `limits::one_thing` |"), 2);
        assert_eq!(check("| a | `wharf serve`, `WARN target::of_log` |"), 0, "no tests are meant");
        assert_eq!(check("in prose `cache::another_thing`"), 0);
    }
}
