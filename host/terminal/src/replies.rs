//! The reports with which a terminal answers the questions of its program.
//!
//! Some programs wait seconds for an answer or fail without one. A report says
//! what is true here, and otherwise the least that keeps programs from wanting
//! more. Never knows how questions are written, nor who sends the reports.

use crate::{Cursor, TerminalModes, TerminalQuery, TerminalSize};

/// Bytes of answers that may wait for a program to read them. A program that
/// asks and never reads would otherwise fill the memory; what does not fit is
/// not answered.
pub const MAX_WAITING_REPLY_BYTES: usize = 4096;

/// What a terminal can report of itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportedState {
    pub(crate) cursor: Cursor,
    pub(crate) size: TerminalSize,
    pub(crate) modes: TerminalModes,
}

/// The bytes that the program gets.
pub(crate) fn reply(query: TerminalQuery, facts: ReportedState) -> String {
    let ReportedState { cursor, size, modes } = facts;
    let (row, column) = (cursor.row + 1, cursor.column + 1);
    match query {
        // A VT220 with colours.
        TerminalQuery::PrimaryAttributes => "\x1b[?62;22c".into(),
        // A low version: programs that find a high one ask for more.
        TerminalQuery::SecondaryAttributes => "\x1b[>1;10;0c".into(),
        TerminalQuery::TertiaryAttributes => "\x1bP!|00000000\x1b\\".into(),
        TerminalQuery::Status => "\x1b[0n".into(),
        TerminalQuery::Cursor { extended: false } => format!("\x1b[{row};{column}R"),
        TerminalQuery::Cursor { extended: true } => format!("\x1b[?{row};{column};1R"),
        TerminalQuery::PrivateMode(mode) => {
            let state = modes.get(mode).map_or(0, |set| if set { 1 } else { 2 });
            format!("\x1b[?{mode};{state}$y")
        }
        TerminalQuery::Mode(mode) => format!("\x1b[{mode};0$y"),
        TerminalQuery::Version => concat!("\x1bP>|wharf ", env!("CARGO_PKG_VERSION"), "\x1b\\").into(),
        TerminalQuery::Keyboard => "\x1b[?0u".into(),
        TerminalQuery::Size => format!("\x1b[8;{};{}t", size.rows(), size.columns()),
        TerminalQuery::Colour { number, bell } => {
            let colour = if number == 11 { "0000/0000/0000" } else { "ffff/ffff/ffff" };
            format!("\x1b]{number};rgb:{colour}{}", if bell { "\x07" } else { "\x1b\\" })
        }
        // Both say that it is not known.
        TerminalQuery::Setting => "\x1bP0$r\x1b\\".into(),
        TerminalQuery::Capability => "\x1bP0+r\x1b\\".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OutputParser, ParsedEvent, Screen};

    /// What a program that prints this gets back.
    fn replies(printed: &str) -> String {
        let (mut stream, mut screen) = (OutputParser::default(), Screen::new(TerminalSize::default(), 0));
        let mut queries = Vec::new();
        let mut replies = String::new();
        // Cut everywhere, as reads may.
        for byte in printed.as_bytes() {
            stream.feed(&[*byte], |piece| {
                screen.feed(piece.normalised);
                if let Some(ParsedEvent::Query(query)) = piece.event {
                    queries.push((query, screen.cursor()));
                }
            });
            for (query, cursor) in queries.drain(..) {
                replies += &reply(query, ReportedState { cursor, size: screen.size(), modes: stream.modes() });
            }
        }
        replies
    }

    #[test]
    fn every_question_gets_its_answer() {
        let all = [
            ("\x1b[c", "\x1b[?62;22c"),
            ("\x1b[0c", "\x1b[?62;22c"),
            ("\x1bZ", "\x1b[?62;22c"),
            ("\u{9b}c", "\x1b[?62;22c"),
            ("\x1b[>c", "\x1b[>1;10;0c"),
            ("\x1b[=c", "\x1bP!|00000000\x1b\\"),
            ("\x1b[5n", "\x1b[0n"),
            ("\x1b[6n", "\x1b[1;1R"),
            ("ab\r\ncd\x1b[6n", "\x1b[2;3R"),
            ("\x1b[7;9H\x1b[?6n", "\x1b[?7;9;1R"),
            ("\x1b[?2004$p", "\x1b[?2004;2$y"),
            ("\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"),
            ("\x1b[?25$p", "\x1b[?25;1$y"),
            ("\x1b[?2026$p", "\x1b[?2026;0$y"),
            ("\x1b[4$p", "\x1b[4;0$y"),
            ("\x1b[>q", "\x1bP>|wharf 0.1.0\x1b\\"),
            ("\x1b[?u", "\x1b[?0u"),
            ("\x1b[18t", "\x1b[8;24;80t"),
            ("\x1b]10;?\x07", "\x1b]10;rgb:ffff/ffff/ffff\x07"),
            ("\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"),
            ("\x1bP$qm\x1b\\", "\x1bP0$r\x1b\\"),
            ("\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\"),
        ];
        for (asked, told) in all {
            assert_eq!(replies(asked), told, "{asked:?}");
        }
    }

    #[test]
    fn answers_are_no_questions() {
        for printed in
            ["\x1b[?62;22c", "\x1b[0n", "\x1b[1;1R", "\x1b[?2004;1$y", "\x1b[8;24;80t", "\x1b]10;rgb:0/0/0\x07"]
        {
            assert_eq!(replies(printed), "", "{printed:?}");
        }
    }
}
