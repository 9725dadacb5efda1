//! Tests wait for conditions: nothing but their support sleeps.
//!
//! Owns which lines are a test's and what sleeps. Literals are no code: what a test lets
//! a program of its own do is another matter.

use super::{
    source::{SourceFile, is_of_tests},
    violation::Violation,
    words,
};

/// Owns how tests wait.
const SUPPORT: &str = "tests/support";
/// Components that tests call.
const GUESTS: &str = "tests/guests";

const CALLS: [&str; 3] = ["sleep(", "sleep_until(", "park_timeout("];

pub(super) fn check(source: &SourceFile) -> Vec<Violation> {
    if source.path.starts_with(SUPPORT) || source.path.starts_with(GUESTS) {
        return Vec::new();
    }
    let code = without_literals(&source.text);
    let is_test = |line| words::is_test(&source.path) || of_tests(&code).contains(&line);
    let sleeping = code.lines().enumerate().filter(|(_, line)| sleeps(line));
    let text = "a test sleeps - wait until a condition holds, pause tokio's clock, or say why time must pass, \
                with `until` and `let_time_pass` of wharf-test-support";
    sleeping.filter(|(line, _)| is_test(*line)).map(|(line, _)| Violation::new(&source.path, line + 1, text)).collect()
}

/// Whether a line calls what sleeps. A method of that name may be one of a clock that is given in.
fn sleeps(line: &str) -> bool {
    CALLS.iter().flat_map(|call| line.match_indices(call)).any(|(at, _)| {
        let before = &line[..at];
        let is_part = before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.');
        !is_part && !before.ends_with("fn ")
    })
}

/// The lines, from 0, that are compiled for tests alone: each such item ends where a brace or a
/// semicolon stands as far to the left as it begins.
fn of_tests(code: &str) -> Vec<usize> {
    let (mut lines, mut item) = (Vec::new(), None);
    for (number, line) in code.lines().enumerate() {
        let indentation = line.len() - line.trim_start().len();
        if item.is_none() && is_of_tests(line.trim_start()) {
            item = Some(indentation);
        }
        let Some(start) = item else { continue };
        lines.push(number);
        if indentation == start && (line.trim() == "}" || line.ends_with([';', '}'])) {
            item = None;
        }
    }
    lines
}

/// The code with blanks where texts, characters and comments are.
fn without_literals(text: &str) -> String {
    let (mut code, mut left) = (String::with_capacity(text.len()), text);
    while let Some(letter) = left.chars().next() {
        let name = code.ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let length = match letter {
            '/' if left.starts_with("//") => left.find('\n').unwrap_or(left.len()),
            '"' => 1 + end_of_text(&left[1..]),
            'r' if !name => raw_text(left).unwrap_or(0),
            '\'' => character(left).unwrap_or(0),
            _ => 0,
        };
        let (gone, kept) = if length > 0 { (&left[..length], 0) } else { ("", letter.len_utf8()) };
        code.extend(gone.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        code.push_str(&left[..kept]);
        left = &left[length + kept..];
    }
    code
}

/// Where a text ends whose first quote has been read: behind its last one.
fn end_of_text(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.find(|letter| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 1)
}

/// The length of a raw text.
fn raw_text(text: &str) -> Option<usize> {
    let marks = text[1..].len() - text[1..].trim_start_matches('#').len();
    let start = 1 + marks + 1;
    text[1 + marks..].strip_prefix('"')?;
    let last = format!("\"{}", "#".repeat(marks));
    Some(text[start..].find(&last).map_or(text.len(), |end| start + end + last.len()))
}

/// The length of a character in quotes; nothing for a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    let (_, first) = letters.next()?;
    if first == '\\' {
        letters.next()?;
        return text[3..].find('\'').map(|end| 3 + end + 1);
    }
    letters.next().filter(|(_, letter)| *letter == '\'').map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::{super::violation, *};

    fn lines(path: &str, text: &str) -> Vec<usize> {
        violation::lines(check, path, text)
    }

    #[test]
    fn a_test_that_sleeps_is_found_wherever_tests_are() {
        let sleeping = "fn a() {\n    std::thread::sleep(TIME);\n}\n";
        for path in ["host/a/tests/a.rs", "host/a/tests/a/support.rs", "host/a/src/a/tests.rs", "tests/src/a.rs"] {
            assert_eq!(lines(path, sleeping), [2], "{path}");
        }
        for call in ["sleep(TIME).await;", "tokio::time::sleep_until(then).await;", "std::thread::park_timeout(TIME);"]
        {
            assert_eq!(lines("host/a/tests/a.rs", call), [1], "{call}");
        }
    }

    #[test]
    fn code_sleeps_and_its_tests_do_not() {
        let of_tests = "fn a() {\n    sleep(TIME);\n}\n\n#[cfg(test)]\nfn b() {\n    sleep(TIME);\n}\n\nfn c() {\n    \
                        sleep(TIME);\n}\n\n#[cfg(test)]\nmod tests {\n    fn d() {\n        sleep(TIME);\n    }\n}\n";
        assert_eq!(lines("host/a/src/a.rs", of_tests), [7, 17]);
        assert_eq!(lines("host/a/src/a.rs", "#[cfg(test)]\nmod tests;\n\nfn a() {\n    sleep(TIME);\n}\n"), [0; 0]);
    }

    #[test]
    fn the_support_guests_and_other_functions_may_be() {
        for path in ["tests/support/src/lib.rs", "tests/guests/echo/src/lib.rs"] {
            assert_eq!(lines(path, "sleep(TIME);"), [0; 0], "{path}");
        }
        for code in ["clock.sleep(TIME);", "asleep(TIME);", "fn sleep(of: u32) {}", "let_time_pass(TIME, WHY);"] {
            assert_eq!(lines("host/a/tests/a.rs", code), [0; 0], "{code}");
        }
    }

    #[test]
    fn what_programs_of_a_test_do_is_no_code() {
        let text = "// sleep(1)\nlet a = \"x\\\" sleep(2)\";\nlet b = r#\"\n\"sleep(3)\"\n\"#;\nlet c = ('\"', '\\'', b'\\\\');\
                    \nfn d<'a>(e: &'a str) {}\nlet f = \"\nsleep(4)\n\";\nsleep(5);\n";
        assert_eq!(lines("host/a/tests/a.rs", text), [11]);
    }
}
