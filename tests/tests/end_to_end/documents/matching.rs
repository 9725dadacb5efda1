//! Text as a page shows it, beside text as it came: `[..]` stands for anything in a
//! line, and a line of `...` for any lines.

/// Whether `came` is what `shown` says. Blanks at the ends of lines, and empty lines at the
/// end, do not count.
pub(super) fn matches(shown: &str, came: &str) -> bool {
    lines(&trimmed(shown), &trimmed(came))
}

fn trimmed(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().map(str::trim_end).collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

fn lines(shown: &[&str], came: &[&str]) -> bool {
    match shown {
        [] => came.is_empty(),
        ["...", rest @ ..] => (0..=came.len()).any(|left_out| lines(rest, &came[left_out..])),
        [first, rest @ ..] => came.split_first().is_some_and(|(line, others)| is(first, line) && lines(rest, others)),
    }
}

fn is(shown: &str, came: &str) -> bool {
    let Some((start, rest)) = shown.split_once("[..]") else { return shown == came };
    let Some(came) = came.strip_prefix(start) else { return false };
    let ends = came.char_indices().map(|(at, _)| at).chain([came.len()]);
    ends.into_iter().any(|end| is(rest, &came[end..]))
}

#[test]
fn what_differs_from_call_to_call_is_left_open_and_all_else_is_exact() {
    assert!(matches("id [..]: ready\n", "id 17: ready"));
    assert!(matches("a\n...\nz", "a\nb\nc\nz\n") && matches("...\nz", "z"));
    assert!(matches("[[..]: list]\n...", "[ab12: list]\nx"));
    assert!(!matches("id [..]: ready", "id 17: busy") && !matches("a\n...\nz", "a\nb"));
    assert!(!matches("a", "a\nb") && !matches("a\nb", "a"));
}
