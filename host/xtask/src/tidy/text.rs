//! Words that have no place in the repository: leftovers, switched-off tests,
//! paths of somebody's machine, comments that do not say who is meant.

use super::{source::SourceFile, violation::Violation};

/// A forbidden word: the word in two parts (so that this file does not hold it),
/// the only kinds of file it is forbidden in (none: all), and how to mend it.
type Forbidden = (&'static str, &'static str, &'static [&'static str], &'static str);

const CODE: &[&str] = &["rs", "wit", "py", "toml", "sh", "yml"];

const FORBIDDEN: [Forbidden; 7] = [
    ("TO", "DO", CODE, "do it now, or file an issue"),
    ("FIX", "ME", CODE, "mend it now, or file an issue"),
    ("todo", "!(", &["rs"], "write the code"),
    ("unimplemented", "!(", &["rs"], "write the code"),
    ("#[ig", "nore", &["rs"], "a test that does not run tells nothing: mend or delete it"),
    ("/wo", "rk/", &[], "a path of one machine: write it relative to the repository"),
    ("/ro", "ot/", &[], "a path of one machine: write it relative to the repository"),
];

/// A word that has no place in comments of Rust, in two parts, too.
const UNNAMED: (&str, &str) = ("who", "ever");

pub(super) fn check(source: &SourceFile) -> Vec<Violation> {
    let mut violations = Vec::new();
    if source.is("rs") {
        violations.extend(unnamed(source));
    }
    for (first, second, extensions, mend) in FORBIDDEN {
        if !extensions.is_empty() && !extensions.iter().any(|extension| source.is(extension)) {
            continue;
        }
        let word = format!("{first}{second}");
        for (index, line) in source.text.lines().enumerate() {
            if holds(line, &word) {
                violations.push(Violation::new(&source.path, index + 1, format!("`{word}` - {mend}")));
            }
        }
    }
    violations
}

fn unnamed(source: &SourceFile) -> impl Iterator<Item = Violation> {
    let word = format!("{}{}", UNNAMED.0, UNNAMED.1);
    let text = format!("`{word}` - say who it is: the host, the caller, a client");
    let lines = source.text.lines().enumerate();
    let found =
        lines.filter(move |(_, line)| comment(line).is_some_and(|comment| holds(&comment.to_lowercase(), &word)));
    found.map(move |(index, _)| Violation::new(&source.path, index + 1, text.clone()))
}

/// The comment of a line, where it has one.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if line.starts_with("//") { Some(line) } else { line.split_once(" // ").map(|(_, comment)| comment) }
}

/// Whether `line` holds `word`, and not as a part of a longer one.
fn holds(line: &str, word: &str) -> bool {
    let continues = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let joined = word.ends_with(|letter: char| letter.is_alphanumeric()) && after.is_some_and(continues);
        !before.is_some_and(continues) && !joined
    })
}

#[cfg(test)]
mod tests {
    use super::{super::violation, *};

    fn lines_of(path: &str, text: String) -> Vec<usize> {
        violation::lines(check, path, &text)
    }

    #[test]
    fn leftovers_are_found_in_code_and_allowed_in_prose() {
        let text = format!("fn a() {{}}\n// {}{}: later\n", "TO", "DO");
        assert_eq!(lines_of("a.rs", text.clone()), [2]);
        assert!(lines_of("a.md", text).is_empty());
    }

    #[test]
    fn a_longer_word_is_not_a_leftover() {
        let text = format!("const {}{}S: u32 = 3;\nfn add_{}() {{}}\n", "TO", "DO", "todo");
        assert!(lines_of("a.rs", text).is_empty());
    }

    #[test]
    fn comments_name_their_subject_and_names_of_tests_may_do_without() {
        let word = format!("{}{}", UNNAMED.0, UNNAMED.1);
        let text = format!("fn {word}_asks() {{}}\n/// W{}.\nfn a() {{}} // {word}\n\"for {word}\";\n", &word[1..]);
        assert_eq!(lines_of("a.rs", text.clone()), [2, 3]);
        assert!(lines_of("a.md", text).is_empty());
    }

    #[test]
    fn a_path_of_a_machine_is_found_everywhere_and_a_relative_one_is_fine() {
        assert_eq!(lines_of("a.md", format!("see {}{}x", "/wo", "rk/")), [1]);
        assert!(lines_of("a.md", format!("see frame{}{}x", "/wo", "rk/")).is_empty());
    }
}
