//! What of a program's output may reach the terminal of a person, or a file
//! that is played in one.
//!
//! Text, colours and the cursor do. Questions do not: they have been answered,
//! and the person's terminal would type its own answers. Neither does what
//! would act on that terminal instead of on the screen: titles, clipboards,
//! printers, windows, its keyboard. Reads what the stream has normalised; never
//! knows who looks.

use crate::stream::OpenSequence;

/// Behind what part of a sequence the filter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum FilterState {
    #[default]
    Ground,
    /// Behind ESC, and what may come between it and the last character.
    Escape,
    /// Behind a control sequence introducer.
    Sequence,
    /// Inside of a string; they come whole, and go whole.
    String,
    /// Behind an ESC in a string.
    StringEnd,
}

/// Passes on what may be shown. Keeps a sequence that has not ended; the stream
/// bounds it.
#[derive(Debug, Default)]
pub(crate) struct ViewFilter {
    state: FilterState,
    sequence: String,
    /// The sequence began before this view did, so its end is dropped.
    headless: bool,
}

impl ViewFilter {
    /// A filter that begins where a sequence has begun already, or not.
    pub(super) fn new(open: Option<OpenSequence>) -> Self {
        let state = match open {
            None => FilterState::Ground,
            Some(OpenSequence::Escape) => FilterState::Escape,
            Some(OpenSequence::Sequence) => FilterState::Sequence,
        };
        Self { state, sequence: String::new(), headless: open.is_some() }
    }

    /// Appends to `out` what may be shown.
    pub(super) fn feed(&mut self, normalised: &str, out: &mut String) {
        let mut rest = normalised;
        while !rest.is_empty() {
            if self.state == FilterState::Ground {
                let plain = rest.bytes().position(|byte| byte < b' ').unwrap_or(rest.len());
                out.push_str(&rest[..plain]);
                rest = &rest[plain..];
            }
            let mut characters = rest.chars();
            let Some(character) = characters.next() else { break };
            rest = characters.as_str();
            self.character(character, out);
        }
    }

    fn character(&mut self, character: char, out: &mut String) {
        match (self.state, character) {
            (FilterState::String, '\x07') | (FilterState::StringEnd, _) => self.state = FilterState::Ground,
            (FilterState::String, '\x1b') => self.state = FilterState::StringEnd,
            (FilterState::String, _) => {}
            (_, '\x1b') => self.begin(),
            // Given up.
            (_, '\x18' | '\x1a') => self.state = FilterState::Ground,
            // ENQ has the terminal type its answer.
            (_, '\x05') => {}
            // Carried out where they stand.
            (_, '\0'..' ') => out.push(character),
            (FilterState::Ground, _) => out.push(character),
            (FilterState::Escape, '[') if self.sequence.len() <= 1 && !self.headless => {
                self.sequence.push('[');
                self.state = FilterState::Sequence;
            }
            (FilterState::Escape, ']' | 'P' | 'X' | '^' | '_') if self.sequence.len() <= 1 => {
                self.state = FilterState::String
            }
            (FilterState::Escape, '0'..='~') | (FilterState::Sequence, '@'..='~') => self.end(character, out),
            (FilterState::Escape | FilterState::Sequence, _) => self.sequence.push(character),
        }
    }

    fn begin(&mut self) {
        self.sequence.clear();
        self.sequence.push('\x1b');
        (self.state, self.headless) = (FilterState::Escape, false);
    }

    fn end(&mut self, last: char, out: &mut String) {
        let shown = match self.state {
            FilterState::Sequence => is_shown(&self.sequence[self.sequence.len().min(2)..], last),
            // DECID asks.
            _ => last != 'Z',
        };
        if shown && !self.headless {
            out.push_str(&self.sequence);
            out.push(last);
        }
        (self.state, self.headless) = (FilterState::Ground, false);
    }
}

/// Whether a control sequence draws, by what stands between its introducer and
/// its last character.
fn is_shown(parameters: &str, last: char) -> bool {
    let private = parameters.chars().next().filter(|first| matches!(first, '<'..='?'));
    let intermediate = parameters.chars().find(|character| matches!(character, ' '..='/'));
    match (private, intermediate, last) {
        // Modes, and erasing but for what is protected.
        (Some('?'), None, 'h' | 'l' | 'J' | 'K') => true,
        (Some(_), _, _) => false,
        // The cursor's shape, and a soft reset.
        (None, Some(' '), 'q') | (None, Some('!'), 'p') => true,
        (None, Some(_), _) => false,
        // Attributes, states, parameters, keyboards, windows, printers, lamps.
        (None, None, last) => !matches!(last, 'c' | 'n' | 'x' | 't' | 'i' | 'q' | 'y' | 'p'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutputParser;

    /// What is shown of a program's output, however it is cut.
    fn shown(printed: &str) -> String {
        let (mut stream, mut filter, mut out) = (OutputParser::default(), ViewFilter::default(), String::new());
        for byte in printed.as_bytes() {
            stream.feed(&[*byte], |piece| filter.feed(piece.normalised, &mut out));
        }
        let (mut stream, mut filter, mut whole) = (OutputParser::default(), ViewFilter::default(), String::new());
        stream.feed(printed.as_bytes(), |piece| filter.feed(piece.normalised, &mut whole));
        assert_eq!(out, whole, "{printed:?}");
        out
    }

    #[test]
    fn what_draws_is_shown_as_it_is() {
        for drawn in [
            "plain 界\r\n\ttext\x08",
            "\x1b[1;31mred\x1b[0m",
            "\x1b[2J\x1b[H\x1b[5;7Hx\x1b[K\x1b[3A",
            "\x1b[?1049hfull\x1b[?1049l\x1b[?25l\x1b[?2004h",
            "\x1b7\x1b8\x1bM\x1b(0lqk\x1b(B\x1b[!p\x1b[2 q\x1b[u",
        ] {
            assert_eq!(shown(drawn), drawn);
        }
    }

    #[test]
    fn questions_and_what_acts_on_the_terminal_itself_is_not_shown() {
        for hidden in [
            "\x1b[c",
            "\x1b[>c",
            "\x1b[5n",
            "\x1b[6n",
            "\x1b[?6n",
            "\x1b[?2004$p",
            "\x1b[>q",
            "\x1b[?u",
            "\x1b[>1u",
            "\x1b[18t",
            "\x1b[8;50;200t",
            "\x1b[5i",
            "\x1bZ",
            "\x05",
            "\x1b]0;title\x07",
            "\x1b]52;c;c2VjcmV0\x1b\\",
            "\x1b]133;D;0;nonce=1\x07",
            "\x1bP$qm\x1b\\",
            "\x1b_application\x1b\\",
        ] {
            assert_eq!(shown(&format!("a{hidden}b")), "ab", "{hidden:?}");
        }
    }

    #[test]
    fn the_end_of_a_sequence_that_began_before_is_nothing() {
        let rest = |inside, rest: &str| {
            let (mut filter, mut out) = (ViewFilter::new(Some(inside)), String::new());
            filter.feed(rest, &mut out);
            out
        };
        assert_eq!(rest(OpenSequence::Sequence, ";5Htext\x1b[1mbold"), "text\x1b[1mbold");
        assert_eq!(rest(OpenSequence::Escape, "Mtext"), "text");
        assert_eq!(rest(OpenSequence::Sequence, "\x1b[1mbold"), "\x1b[1mbold");
    }
}
