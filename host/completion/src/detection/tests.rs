//! What the tests of the detector share: a script of events at milliseconds.

mod adaptation;
mod fooled;
mod layers;
mod models;
mod parameters;
mod precedence;
mod properties;
mod scenarios;
mod shells;

use std::time::Duration;

use super::*;

const NONCE: &str = "4f9a1c7be02d4f9a";

/// Milliseconds.
fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn detector(preset: Preset) -> Detector {
    Detector::new(Parameters::from(preset), Some(Nonce::new(NONCE).expect("legal"))).expect("valid")
}

/// A turn that has just got its input, at 0 ms.
fn turn(preset: Preset, input: &str) -> Detector {
    let mut detector = detector(preset);
    assert_eq!(reason(&mut detector, 0, Event::Input { text: input }), None);
    detector
}

fn reason(detector: &mut Detector, at: u64, event: Event<'_>) -> Option<Reason> {
    detector.feed(event, ms(at)).reason()
}

/// Hands in events that must not complete the turn.
fn goes_on<'e>(detector: &mut Detector, events: impl IntoIterator<Item = (u64, Event<'e>)>) {
    for (at, event) in events {
        assert_eq!(reason(detector, at, event), None, "{event:?} at {at} ms");
    }
}

/// Lets time pass, asking when the detector wants to be asked and at `until`.
/// Returns when the turn was complete, in milliseconds, and why.
fn wait(detector: &mut Detector, until: u64) -> Option<(u128, Reason)> {
    while let Some(at) = detector.decision().ask_again.map(|at| at.min(ms(until))) {
        if let Some(reason) = detector.feed(Event::Tick, at).reason() {
            return Some((at.as_millis(), reason));
        }
        if at == ms(until) {
            return None;
        }
    }
    None
}

fn output(text: &str) -> Event<'_> {
    Event::Output { text }
}

/// A look at a terminal of which nothing but the screen is known.
fn row(text: &str) -> Event<'_> {
    Event::CursorRow(CursorRow { text, ..CursorRow::default() })
}

/// A look at a terminal whose program is known to wait for it, or not to.
fn row_of(text: &str, waits: bool) -> Event<'_> {
    Event::CursorRow(CursorRow { text, waits_for_input: Some(waits), ..CursorRow::default() })
}

fn row_of_shell(text: &str, waits: Option<bool>) -> Event<'_> {
    Event::CursorRow(CursorRow { text, shell_in_front: Some(true), waits_for_input: waits, ..CursorRow::default() })
}

/// A look at a terminal whose program has read all and waits for more.
fn row_of_done(text: &str) -> Event<'_> {
    let (waits_for_input, has_read_input) = (Some(true), Some(true));
    Event::CursorRow(CursorRow { text, waits_for_input, has_read_input, ..CursorRow::default() })
}

fn status(status: AgentStatus) -> Event<'static> {
    Event::Status(status)
}

const INPUT: Event<'_> = Event::Input { text: "" };
const EMPTY: Event<'_> = Event::Polled { empty: true };
const FULL: Event<'_> = Event::Polled { empty: false };
const STARTED: Event<'_> = Event::Signal(Signal::CommandStarted { nonce: NONCE });
const ENDED: Event<'_> = Event::Signal(Signal::CommandEnded { nonce: NONCE, exit_code: Some(0) });
const CONTINUES: Event<'_> = Event::Signal(Signal::Continuation { nonce: NONCE });
const COMPLETED: Event<'_> = Event::Signal(Signal::Completed);
const COMMAND_ENDED: Reason = Reason::CommandEnded { exit_code: Some(0) };
