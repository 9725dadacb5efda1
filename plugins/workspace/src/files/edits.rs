//! Several replacements of lines in one text, all by the line numbers that it
//! had before. Bytes in, bytes out: knows no files, and need not be UTF-8.

use std::ops::Range;

use wharf_sdk::ToolError;

/// Bytes of a text that an error quotes.
const QUOTED_BYTES: usize = 1_000;
/// What some programs put before a text; it belongs to no line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Lines `start` to `end`, counted from 1, are to be `content`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) start: usize,
    /// One less than `start` inserts before it.
    pub(crate) end: usize,
    /// Whole lines; nothing deletes.
    pub(crate) content: String,
    /// What must stand there.
    pub(crate) expected: Option<String>,
}

/// A line and how it ends: with `\n`, `\r\n` or, at the end, not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line<'a> {
    text: &'a [u8],
    ending: &'a [u8],
}

/// The text with all edits made.
///
/// Each new line ends as the one whose place it takes. A text without a line
/// break at its end stays one.
pub(crate) fn apply(text: &[u8], edits: &[Edit]) -> Result<Vec<u8>, ToolError> {
    let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (BYTE_ORDER_MARK, body),
        None => (&b""[..], text),
    };
    let lines = lines(body);
    let mut ordered: Vec<&Edit> = edits.iter().collect();
    ordered.sort_by_key(|edit| (edit.start, edit.end));
    check(&lines, &ordered)?;
    let ends_open = lines.last().is_some_and(|line| line.ending.is_empty());
    let mut made: Vec<Line<'_>> = Vec::with_capacity(lines.len());
    let mut at = 0;
    for edit in ordered {
        let range = range(edit);
        made.extend(lines.get(at..range.start).unwrap_or_default());
        let ending = ending_at(&lines, range.start);
        made.extend(content_lines(&edit.content).map(|text| Line { text, ending }));
        at = range.end;
    }
    made.extend(lines.get(at..).unwrap_or_default());
    Ok(joined(mark, &made, ends_open, ending_at(&lines, lines.len())))
}

fn joined(mark: &[u8], lines: &[Line<'_>], ends_open: bool, usual_ending: &[u8]) -> Vec<u8> {
    let mut text = mark.to_vec();
    for (number, line) in lines.iter().enumerate() {
        let is_last = number + 1 == lines.len();
        text.extend_from_slice(line.text);
        match (is_last && ends_open, line.ending) {
            (true, _) => {}
            (false, b"") => text.extend_from_slice(usual_ending),
            (false, ending) => text.extend_from_slice(ending),
        }
    }
    text
}

fn lines(text: &[u8]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (line, behind) = match memchr::memchr(b'\n', rest) {
            Some(at) => rest.split_at(at + 1),
            None => (rest, &b""[..]),
        };
        let text = line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n")).unwrap_or(line);
        lines.push(Line { text, ending: line.get(text.len()..).unwrap_or_default() });
        rest = behind;
    }
    lines
}

/// The lines of a content, its own line breaks aside.
fn content_lines(content: &str) -> impl Iterator<Item = &[u8]> {
    let whole = content.strip_suffix('\n').unwrap_or(content);
    let is_empty = content.is_empty();
    let lines = whole.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).as_bytes());
    lines.filter(move |_| !is_empty)
}

fn range(edit: &Edit) -> Range<usize> {
    edit.start.saturating_sub(1)..edit.end
}

/// How a line at this place is to end: as the one there, the one before, or the
/// usual way.
fn ending_at<'a>(lines: &[Line<'a>], at: usize) -> &'a [u8] {
    let there = lines.get(at).into_iter();
    let before = lines.get(..at).unwrap_or(lines).iter().rev();
    there.chain(before).map(|line| line.ending).find(|ending| !ending.is_empty()).unwrap_or(b"\n")
}

fn check(lines: &[Line<'_>], ordered: &[&Edit]) -> Result<(), ToolError> {
    let total = lines.len();
    let mut before: Option<&Edit> = None;
    for edit in ordered.iter().copied() {
        let Edit { start, end, expected, .. } = edit;
        let (start, end) = (*start, *end);
        if start == 0 || end < start - 1 {
            return Err(ToolError::invalid(format!(
                "lines {start} to {end} are no lines: they are counted from 1, and an `end_line` one less than \
                 `start_line` inserts before it"
            )));
        }
        if end > total || start > total + 1 {
            return Err(ToolError::invalid(format!(
                "lines {start} to {end} are not there: the file has {total} lines, and `start_line` {} with `end_line` \
                 {total} adds behind the last one",
                total + 1
            )));
        }
        if let Some(before) = before
            && (start <= before.end || (start == before.start && end == before.end))
        {
            return Err(ToolError::invalid(format!(
                "the replacements of lines {} to {} and {start} to {end} overlap; make one of them",
                before.start, before.end
            )));
        }
        if let Some(expected) = expected {
            check_expected(lines.get(range(edit)).unwrap_or_default(), edit, expected)?;
        }
        before = Some(edit);
    }
    Ok(())
}

/// Line endings are not compared.
fn check_expected(there: &[Line<'_>], edit: &Edit, expected: &str) -> Result<(), ToolError> {
    if there.iter().map(|line| line.text).eq(content_lines(expected)) {
        return Ok(());
    }
    let texts: Vec<&[u8]> = there.iter().map(|line| line.text).collect();
    let text = String::from_utf8_lossy(&texts.join(&b'\n')).into_owned();
    let (quoted, cut) = match text.len() {
        0..=QUOTED_BYTES => (text.as_str(), ""),
        _ => (text.get(..text.floor_char_boundary(QUOTED_BYTES)).unwrap_or_default(), "\n…"),
    };
    Err(ToolError {
        retryable: false,
        ..ToolError::conflict(format!(
            "lines {} to {} are not what `expect` says, and nothing was replaced; they are:\n{quoted}{cut}",
            edit.start, edit.end
        ))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(start: usize, end: usize, content: &str) -> Edit {
        Edit { start, end, content: content.to_owned(), expected: None }
    }

    fn applied(text: &str, edits: &[Edit]) -> String {
        String::from_utf8(apply(text.as_bytes(), edits).expect("applied")).expect("text")
    }

    fn refused(text: &str, edits: &[Edit]) -> String {
        apply(text.as_bytes(), edits).expect_err("refused").message
    }

    #[test]
    fn edits_go_by_the_lines_as_they_were_in_whatever_order_they_are_given() {
        let edits = [edit(4, 4, "FOUR"), edit(1, 2, "ONE\nONE AND A HALF\nTWO\n"), edit(3, 3, "")];
        assert_eq!(applied("1\n2\n3\n4\n5\n", &edits), "ONE\nONE AND A HALF\nTWO\nFOUR\n5\n");
    }

    #[test]
    fn lines_are_inserted_before_between_and_behind() {
        assert_eq!(applied("1\n2\n", &[edit(1, 0, "0")]), "0\n1\n2\n");
        assert_eq!(applied("1\n2\n", &[edit(2, 1, "1.5\n"), edit(2, 2, "TWO")]), "1\n1.5\nTWO\n");
        assert_eq!(applied("1\n2\n", &[edit(3, 2, "3")]), "1\n2\n3\n");
        assert_eq!(applied("", &[edit(1, 0, "first\nsecond")]), "first\nsecond\n");
    }

    #[test]
    fn line_endings_and_a_missing_last_one_stay() {
        assert_eq!(applied("1\r\n2\r\n3\r\n", &[edit(2, 2, "a\nb")]), "1\r\na\r\nb\r\n3\r\n");
        assert_eq!(applied("1\n2\n", &[edit(2, 2, "a\r\nb\r\n")]), "1\na\nb\n");
        assert_eq!(applied("1\n2", &[edit(2, 2, "TWO\n")]), "1\nTWO");
        assert_eq!(applied("1\n2", &[edit(3, 2, "3\n")]), "1\n2\n3");
        assert_eq!(applied("1\r\n2", &[edit(3, 2, "3")]), "1\r\n2\r\n3");
        assert_eq!(applied("1\n2", &[edit(2, 2, "")]), "1");
        assert_eq!(applied("a\r\nb\nc\r\n", &[edit(2, 2, "B"), edit(3, 3, "C")]), "a\r\nB\nC\r\n");
        assert_eq!(applied("1\n", &[edit(1, 1, "\n")]), "\n");
        assert_eq!(applied("1\n", &[edit(1, 1, "a\n\n")]), "a\n\n");
        assert_eq!(applied("1\n", &[edit(1, 1, "")]), "");
    }

    #[test]
    fn bytes_around_stay_as_they_are() {
        let text = b"\xef\xbb\xbffirst\ncaf\xe9\nlast\n";
        assert_eq!(
            apply(text, &[edit(1, 1, "1"), edit(3, 3, "항구")]).expect("applied"),
            "\u{feff}1\ncaf".bytes().chain([0xe9]).chain("\n항구\n".bytes()).collect::<Vec<u8>>()
        );
    }

    #[test]
    fn what_overlaps_or_is_not_there_is_refused() {
        for edits in [
            [edit(1, 2, "a"), edit(2, 3, "b")],
            [edit(2, 3, "a"), edit(2, 2, "b")],
            [edit(3, 2, "a"), edit(2, 3, "b")],
            [edit(2, 1, "a"), edit(2, 1, "b")],
        ] {
            assert!(refused("1\n2\n3\n", &edits).contains("overlap"), "{edits:?}");
        }
        assert!(refused("1\n2\n", &[edit(0, 1, "a")]).contains("counted from 1"));
        assert!(refused("1\n2\n", &[edit(3, 1, "a")]).contains("counted from 1"));
        assert!(refused("1\n2\n", &[edit(2, 3, "a")]).contains("the file has 2 lines"));
        assert!(refused("", &[edit(1, 1, "a")]).contains("the file has 0 lines"));
        assert!(refused("1\n", &[edit(usize::MAX, usize::MAX, "a")]).contains("not there"));
    }

    #[test]
    fn what_is_expected_must_stand_there() {
        let expecting = |expected: &str| Edit { expected: Some(expected.to_owned()), ..edit(1, 2, "x") };
        for expected in ["a\nb", "a\nb\n", "a\r\nb\r\n"] {
            assert_eq!(applied("a\r\nb\r\nc", &[expecting(expected)]), "x\r\nc");
        }
        let message = refused("a\nb\n", &[expecting("a\nB")]);
        assert!(message.ends_with("they are:\na\nb"), "{message}");
        let long = format!("{}\nb\n", "항".repeat(1_000));
        assert!(refused(&long, &[expecting("a")]).len() < 1_300);
    }

    #[test]
    fn a_thousand_edits_are_made_at_once() {
        let text: String = (1..=2_000).map(|number| format!("line {number}\n")).collect();
        let edits: Vec<Edit> =
            (1..=1_000).rev().map(|number| edit(2 * number, 2 * number, &format!("even {number}\nmore"))).collect();
        let expected: String =
            (1..=1_000).map(|number| format!("line {}\neven {number}\nmore\n", 2 * number - 1)).collect();
        assert_eq!(applied(&text, &edits), expected);
    }

    proptest! {
        #[test]
        fn replacing_lines_by_themselves_changes_nothing(
            lines_before in prop::collection::vec("[a-z가]{0,3}", 0..12), is_open: bool, is_dos: bool,
            start: usize, count: usize,
        ) {
            let ending = if is_dos { "\r\n" } else { "\n" };
            let mut text: String = lines_before.iter().map(|line| format!("{line}{ending}")).collect();
            text.push_str(if is_open { "end" } else { "" });
            let there = lines(text.as_bytes());
            let start = start % (there.len() + 1);
            let end = start + count % (there.len() - start + 1);
            let own: Vec<String> =
                there[start..end].iter().map(|line| format!("{}\n", String::from_utf8_lossy(line.text))).collect();
            prop_assert_eq!(applied(&text, &[edit(start + 1, end, &own.concat())]), text);
        }
    }
}
