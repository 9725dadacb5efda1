//! The text of a recording: asciicast, version 2. A line of JSON says what it
//! is of, and one for each event when it came and what it was.
//!
//! Never knows files and clocks.

use std::time::Duration;

use serde::Serialize;

use crate::TerminalSize;

/// The first line.
#[derive(Debug, Serialize)]
struct CastHeader<'h> {
    version: u8,
    width: u16,
    height: u16,
    timestamp: i64,
    title: &'h str,
    env: CastEnvironment<'h>,
}

#[derive(Debug, Serialize)]
struct CastEnvironment<'h> {
    #[serde(rename = "TERM")]
    terminal: &'h str,
}

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CastEvent {
    Output,
    Input,
    Resize,
    Marker,
}

impl CastEvent {
    fn as_str(self) -> &'static str {
        match self {
            Self::Output => "o",
            Self::Input => "i",
            Self::Resize => "r",
            Self::Marker => "m",
        }
    }
}

/// The first line of a recording that began so many seconds after 1970.
pub(super) fn header(size: TerminalSize, timestamp: i64, title: &str, terminal: &str) -> String {
    let (width, height) = (size.columns(), size.rows());
    line(&CastHeader { version: 2, width, height, timestamp, title, env: CastEnvironment { terminal } })
}

/// The line of an event.
pub(super) fn event(after: Duration, code: CastEvent, data: &str) -> String {
    line(&(after.as_secs_f64(), code.as_str(), data))
}

/// How a size is written.
pub(super) fn size(size: TerminalSize) -> String {
    format!("{}x{}", size.columns(), size.rows())
}

fn line(value: &impl Serialize) -> String {
    // Numbers and texts always make JSON.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_the_format_has_them() {
        let size = TerminalSize::default();
        assert_eq!(
            header(size, 1_504_467_315, "bash", "xterm-256color"),
            "{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":1504467315,\"title\":\"bash\",\
             \"env\":{\"TERM\":\"xterm-256color\"}}\n"
        );
        let after = Duration::from_micros(1_001_376);
        assert_eq!(event(after, CastEvent::Output, "\u{1b}[1mé\r\n"), "[1.001376,\"o\",\"\\u001b[1mé\\r\\n\"]\n");
        assert_eq!(event(after, CastEvent::Resize, &super::size(size)), "[1.001376,\"r\",\"80x24\"]\n");
    }
}
