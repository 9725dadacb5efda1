//! What must hold whatever comes: for the configuration, for the arguments of calls and the
//! three `__` fields among them, for all that a guest may say of itself or
//! answer, and for the code that passes for a component's.
//! Fuzzing calls these with what it finds, and the tests with what it found.
//!
//! Knows what is promised, and nothing of how it is kept.
//!
//! # Panics
//! All of them, where it does not hold: that is what they are for.

mod answers;
mod arguments;
mod compiled;
mod configuration;
mod definitions;

pub use answers::answers;
pub use arguments::arguments;
pub use compiled::compiled;
pub use configuration::configuration;
pub use definitions::definitions;

use serde_json::{Map, Value};
use wharf_core::tool::is_reserved;

/// The parts of an input: what lies between bytes that no UTF-8 has.
const SEPARATOR: u8 = 0xff;

/// The input as texts, as many as are asked for; those that are not there are empty.
fn texts<const COUNT: usize>(bytes: &[u8]) -> [String; COUNT] {
    let mut parts = bytes.splitn(COUNT, |byte| *byte == SEPARATOR);
    [(); COUNT].map(|()| String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned())
}

/// Nothing in a text that a client sees may move a cursor, turn what follows around or be
/// there unseen. What some scripts need is told apart by the host's own rule, which must
/// find nothing more to take out.
fn is_visible(text: &str) -> bool {
    let hidden = |character: char| {
        matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0080}'..='\u{e0fff}')
            || character.is_control() && !matches!(character, '\n' | '\t')
    };
    !text.contains(hidden) && wharf_core::text::is_visible(text)
}

/// No member speaks for the host or for the protocol.
fn is_own(meta: &Map<String, Value>) -> bool {
    meta.keys().all(|key| !is_reserved(key))
}

/// What a client is told of an error is short, and clean.
fn assert_told(told: &str) {
    assert!(!told.trim().is_empty(), "an error that says nothing");
    assert!(told.len() <= 16 << 10, "an error of {} bytes", told.len());
    assert!(is_visible(told), "an error with control characters: {told:?}");
}
