//! What must hold whatever comes: for the stream of a terminal with its screen,
//! and for the completion detector. Fuzzing calls these with what it finds, and
//! the tests with what it found.
//!
//! # Panics
//! All of them, where it does not hold: that is what they are for.

use std::time::Duration;

use wharf_completion::detection::{
    AgentStatus, Beside, CursorRow, Detector, Event, Nonce, Parameters, Preset, Reason, Signal,
};
use wharf_terminal::{OutputParser, Screen, TerminalSize};

/// A longer input is slower, and no more hostile.
const MAX_BYTES: usize = 16 << 10;
/// Beyond what a screen keeps, so that it has to leave out; fuzzing makes that
/// smaller.
const FLOOD_BYTES: usize = if cfg!(fuzzing) { 4 << 10 } else { 160 << 10 };

/// What a stream hands out, put together.
#[derive(Default, PartialEq, Debug)]
struct Out {
    normalised: String,
    text: String,
    events: usize,
}

fn streamed<'b>(parts: impl Iterator<Item = &'b [u8]>) -> Out {
    let (mut stream, mut out) = (OutputParser::default(), Out::default());
    for part in parts {
        stream.feed(part, |piece| {
            out.normalised.push_str(piece.normalised);
            out.text.push_str(piece.text);
            out.events += usize::from(piece.event.is_some());
        });
    }
    out
}

/// The first three bytes say how large the screen is and where reads are cut;
/// the rest is what a program prints.
pub fn stream(bytes: &[u8]) {
    let [columns, rows, cut, printed @ ..] = &bytes[..bytes.len().min(MAX_BYTES)] else { return };
    let whole = streamed(std::iter::once(printed));
    assert_eq!(streamed(printed.chunks(usize::from(*cut) + 1)), whole, "where reads are cut changes something");
    assert!(whole.text.chars().count() <= printed.len(), "text is longer than what came");
    assert!(whole.normalised.len() <= 4 * printed.len() + 16, "what is normalised is far longer than what came");
    let control = whole.text.chars().find(|found| found.is_control() && !"\n\t\r".contains(*found));
    assert_eq!(control, None, "a control character in the text");
    assert_eq!(streamed(std::iter::once(whole.normalised.as_bytes())).text, whole.text, "normalised twice is another");

    let Ok(size) = TerminalSize::new(u16::from(*columns) % 90 + 1, u16::from(*rows) % 30 + 1) else { return };
    let history = usize::from(*cut) % 8;
    let (mut drawn, mut flooded) = (Screen::new(size, history), Screen::new(size, history));
    // A flood of the same, of which one screen sees each part and one only the
    // end.
    let repeated = whole.normalised.repeat((FLOOD_BYTES / whole.normalised.len().max(1)).max(1));
    for part in parts(&repeated, usize::from(*cut) + 40) {
        drawn.feed(part);
        let _ = drawn.cursor();
        flooded.feed(part);
    }
    let (view, history) = (flooded.view(), flooded.lines_with_scrollback(usize::MAX));
    assert_eq!(view, drawn.view(), "what is left out of a flood could be seen");
    assert_eq!(
        history,
        drawn.lines_with_scrollback(usize::MAX),
        "what is left out of a flood is missing above the screen"
    );
    assert_eq!(view.rebuilt, 0, "the emulator panicked");
    assert!(view.cursor.column < size.columns() && view.cursor.row < size.rows());
    assert_eq!(view.lines.len(), usize::from(size.rows()));
}

/// Cut between characters.
fn parts(text: &str, bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (part, after) = rest.split_at(rest.floor_char_boundary(bytes));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

const NONCE: &str = "0123456789abcdef";
const TEXTS: [&str; 8] = ["", "\r\n", "ls", "a\nb\n", "cat >", ">>> ", "log:\r\n", "(y/n) "];

/// Pairs of bytes: what happens, and after how long.
pub fn detector(bytes: &[u8]) {
    let [preset, rest @ ..] = &bytes[..bytes.len().min(MAX_BYTES)] else { return };
    let preset = Preset::ALL[usize::from(*preset) % Preset::ALL.len()];
    let parameters: Parameters = preset.into();
    let (limit, Ok(nonce)) = (parameters.time_limit, Nonce::new(NONCE)) else { return };
    let Ok(mut asked) = Detector::new(parameters, Some(nonce)) else { return };
    // It is told the same, and asked in between.
    let mut asked_often = asked.clone();
    let (mut now, mut began) = (Duration::ZERO, None);
    for pair in rest.chunks_exact(2) {
        let event = event(pair[0]);
        // From nothing to a quarter of an hour.
        let gap = Duration::from_millis(1 << (pair[1] % 20)) * u32::from(pair[1] / 20);
        asked_often.feed(Event::Tick, now + gap / 2);
        now += gap;
        if matches!(event, Event::Input { .. }) {
            began = Some(now);
        }
        let before = asked.decision();
        let decision = asked.feed(event, now);
        asked_often.feed(event, now);
        assert_eq!(asked_often.decision().verdict, decision.verdict, "asking changed the answer");
        if before.is_complete() && !matches!(event, Event::Input { .. }) {
            assert_eq!(before.verdict, decision.verdict, "what was decided did not stay");
        }
        match began {
            None => assert!(!decision.is_complete(), "a turn ended that never began"),
            Some(began) => assert!(decision.is_complete() || now - began < limit, "a turn has no end"),
        }
        if let Some(Reason::ProcessExited | Reason::DescendantsAlive { .. }) = decision.reason() {
            assert!(rest.chunks_exact(2).any(|pair| matches!(self::event(pair[0]), Event::ProcessEnded { .. })));
        }
    }
}

fn event(byte: u8) -> Event<'static> {
    let text = TEXTS[usize::from(byte / 32)];
    let known = |bit: u8| (byte & 32 << bit != 0).then_some(byte & 64 << (bit % 2) != 0);
    match byte % 32 {
        0..3 => Event::Input { text },
        3 => Event::ProcessEnded { descendants: u32::from(byte / 64), exit_code: None },
        4 => Event::StreamClosed,
        5..8 => Event::Message,
        8..14 => Event::Output { text },
        14 => Event::Redraw,
        15 => Event::Activity,
        16 => Event::Status(AgentStatus::Processing),
        17 => Event::Status(AgentStatus::Typing),
        18 => Event::Status(AgentStatus::Ready),
        19 => Event::Status(AgentStatus::Completed),
        20 => Event::Status(AgentStatus::Error),
        21 => Event::Polled { empty: true },
        22 => Event::Polled { empty: false },
        23 => Event::Signal(Signal::Completed),
        24 => Event::Signal(Signal::CommandStarted { nonce: if byte < 128 { NONCE } else { "forged" } }),
        25 => Event::Signal(Signal::CommandEnded { nonce: if byte < 128 { NONCE } else { "forged" }, exit_code: None }),
        26 => Event::Signal(Signal::Continuation { nonce: NONCE }),
        27 => Event::Tick,
        _ => Event::CursorRow(CursorRow {
            text,
            shell_in_front: known(0),
            waits_for_input: known(1),
            has_read_input: known(2),
            beside: match (byte & 16 != 0, byte & 64 != 0) {
                (true, alone) => Beside::Rests { wakes: Duration::from_millis(u64::from(byte) * 16), alone },
                (false, true) => Beside::Computes,
                (false, false) => Beside::Unknown,
            },
        }),
    }
}
