//! What of a terminal's text is shown: all of it where it is short, else its
//! beginning and its end. Owns where the text is cut.

use wharf_sdk::ToolError;
use wharf_sdk::excerpt::{Excerpt, Omitted, OutputSource};
use wharf_sdk::terminal::Piece;
use wharf_sdk::text::{head_end, tail_start};

/// The part of a text from one cursor to another, in at most `limit_bytes`.
pub(crate) fn between(source: &dyn OutputSource, from: u64, to: u64, limit_bytes: usize) -> Result<Excerpt, ToolError> {
    if from >= to {
        return Ok(Excerpt { start: from, next: from, ..Excerpt::default() });
    }
    let wanted = |from: u64| u32::try_from(to.saturating_sub(from).min(length(limit_bytes))).unwrap_or(u32::MAX);
    let front = source.read(from, wanted(from))?;
    let start = front.start.min(to);
    // What was asked for may be gone, and then more than that was read.
    let text = before(&front, to);
    let end = start + length(text.len());
    if end >= to || text.is_empty() {
        return Ok(Excerpt { head: text, start, next: end, ..Excerpt::default() });
    }
    let head_bytes = limit_bytes / 3;
    let head = text.get(..head_end(&text, head_bytes)).unwrap_or_default();
    let tail_bytes = limit_bytes - head_bytes;
    let back = to.saturating_sub(length(tail_bytes));
    let back = source.read(back, wanted(back))?;
    let tail = before(&back, to);
    let (back, cut) = (back.start, tail_start(&tail, tail_bytes.min(tail.len().saturating_sub(1))));
    // The end may be gone by now, or have a line too long for its half.
    let tail = tail.get(cut..).unwrap_or_default().to_owned();
    let cursor = start + length(head.len());
    let bytes = (back + length(cut)).saturating_sub(cursor);
    Ok(Excerpt {
        head: head.to_owned(),
        tail,
        start,
        next: to.max(cursor),
        omitted: (bytes > 0).then_some(Omitted { cursor, bytes }),
        ..Excerpt::default()
    })
}

/// Without the echo of what was typed, where that is how it begins. Where
/// somebody types before the shell is ready, the terminal shows it first,
/// and then the shell behind its prompt.
pub(crate) fn without_echo(excerpt: Excerpt, typed: &str) -> Excerpt {
    let by_terminal = excerpt.head.strip_prefix(typed).and_then(|rest| rest.strip_prefix('\n'));
    let rest = by_terminal.unwrap_or(&excerpt.head);
    let by_shell = rest.split_once('\n').filter(|(line, _)| line.strip_suffix(typed).is_some_and(is_prompt));
    let rest = by_shell.map_or(rest, |(_, rest)| rest).to_owned();
    Excerpt { start: excerpt.start + length(excerpt.head.len() - rest.len()), head: rest, ..excerpt }
}

/// Whether a text ends as prompts do.
fn is_prompt(text: &str) -> bool {
    text.trim_end().ends_with(['$', '#', '>', '%', ':', '?', '❯'])
}

/// What of a piece is before a cursor.
fn before(piece: &Piece, to: u64) -> String {
    let text = piece.text();
    let most = usize::try_from(to.saturating_sub(piece.start)).unwrap_or(usize::MAX).min(text.len());
    text.get(..text.floor_char_boundary(most)).unwrap_or_default().to_owned()
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of which the beginning is gone.
    struct Kept {
        text: String,
        from: usize,
    }

    impl OutputSource for Kept {
        fn read(&self, cursor: u64, max_bytes: u32) -> Result<Piece, ToolError> {
            let start = usize::try_from(cursor).expect("small").clamp(self.from, self.text.len());
            let start = self.text.ceil_char_boundary(start);
            let end = self.text.floor_char_boundary(self.text.len().min(start + max_bytes as usize));
            let data = self.text.as_bytes()[start..end].to_vec();
            let (next, evicted_before) = (end as u64, self.from as u64);
            Ok(Piece { start: start as u64, next, evicted_before, end: self.text.len() as u64, data })
        }
    }

    fn excerpt(text: &str, from: u64, limit: usize) -> Excerpt {
        let kept = Kept { text: text.to_owned(), from: 0 };
        between(&kept, from, text.len() as u64, limit).expect("read")
    }

    #[test]
    fn what_is_short_is_shown_whole_and_nothing_is_nothing() {
        let short = excerpt("one\ntwo\n", 4, 100);
        assert_eq!((short.head.as_str(), short.start, short.next, short.omitted), ("two\n", 4, 8, None));
        assert_eq!(excerpt("one", 3, 100), Excerpt { start: 3, next: 3, ..Excerpt::default() });
    }

    #[test]
    fn head_rest_and_tail_are_the_whole_text_whatever_its_lines_are() {
        let lines: String = (0..9_000).map(|number| format!("줄 {number}\n")).collect();
        for (text, limit) in [(lines, 15_000), ("x".repeat(40_000), 15_000), ("항구".repeat(9_000), 1_001)] {
            let excerpt = excerpt(&text, 0, limit);
            let Omitted { cursor, bytes } = excerpt.omitted.expect("most is left out");
            assert!(excerpt.head.len() + excerpt.tail.len() <= limit && excerpt.next == text.len() as u64);
            assert!(excerpt.head.len() + excerpt.tail.len() >= limit / 3, "half of the room is used at least");
            let rest = &text[cursor as usize..(cursor + bytes) as usize];
            assert_eq!(format!("{}{rest}{}", excerpt.head, excerpt.tail), text);
            assert!(excerpt.text(|_| "[...]".into()).contains("\n[...]\n"));
        }
    }

    #[test]
    fn what_is_gone_moves_the_beginning_and_what_came_later_is_left_out() {
        let kept = Kept { text: "0123456789".repeat(100), from: 900 };
        let late = between(&kept, 10, 950, 2_000).expect("read");
        assert_eq!((late.start, late.next, late.head.len(), late.omitted), (900, 950, 50, None));
        let gone = between(&kept, 10, 800, 2_000).expect("read");
        assert_eq!((gone.head.as_str(), gone.next, gone.omitted), ("", 800, None));
    }

    #[test]
    fn the_echo_goes_only_where_it_is_whole_and_a_line_of_its_own() {
        let cut = |typed| without_echo(excerpt("1 + 1\n2\n>>> ", 0, 100), typed);
        assert_eq!((cut("1 + 1").head.as_str(), cut("1 + 1").start), ("2\n>>> ", 6));
        assert_eq!(cut("1 +").start, 0);
        assert_eq!(cut("2").start, 0);
        let late = |text: &str| without_echo(excerpt(text, 0, 100), "pwd").head;
        assert_eq!(late("me@here:/tmp$ pwd\n/tmp\n"), "/tmp\n");
        assert_eq!(late("pwd\nme@here:/tmp$ pwd\n/tmp\n"), "/tmp\n");
        assert_eq!(late("no prompt pwd\n/tmp\n"), "no prompt pwd\n/tmp\n");
        let lines = |typed| without_echo(excerpt("def f():\n  pass\n>>> ", 0, 100), typed).head;
        assert_eq!((lines("def f():\n  pass"), lines("def f():\n  fail").len()), (">>> ".to_owned(), 20));
    }
}
