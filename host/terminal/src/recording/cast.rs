//! The text of a recording: asciicast, version 2. A line of JSON says what it
//! is of, and one for each event when it came and what it was.
//!
//! Never knows files and clocks.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RecordingOwner;
use crate::TerminalSize;

/// The first line.
#[derive(Debug, Serialize)]
pub(super) struct CastHeader<'h> {
    version: u8,
    width: u16,
    height: u16,
    timestamp: i64,
    title: &'h str,
    env: CastEnvironment<'h>,
    /// Players ignore what they do not know.
    wharf: &'h RecordingOwner,
}

/// What is read again of a first line.
#[derive(Debug, Deserialize)]
struct OwnedCast {
    wharf: RecordingOwner,
}

#[derive(Debug, Serialize)]
struct CastEnvironment<'h> {
    #[serde(rename = "TERM")]
    terminal: &'h str,
}

impl<'h> CastHeader<'h> {
    /// Of a recording that began so many seconds after 1970.
    pub(super) fn new(
        size: TerminalSize,
        timestamp: i64,
        title: &'h str,
        terminal: &'h str,
        owner: &'h RecordingOwner,
    ) -> Self {
        let (width, height, env) = (size.columns(), size.rows(), CastEnvironment { terminal });
        Self { version: 2, width, height, timestamp, title, env, wharf: owner }
    }
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

/// The first line of a recording.
pub(super) fn header(header: &CastHeader<'_>) -> String {
    line(header)
}

/// Whose the recording with this first line is; none of what nobody's terminal showed, such as
/// a file of the operator's.
pub(super) fn owner(header: &str) -> Option<RecordingOwner> {
    serde_json::from_str::<OwnedCast>(header).ok().map(|cast| cast.wharf)
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
        let whose = RecordingOwner { tenant: "local".parse().expect("legal"), session: "s:1".parse().expect("legal") };
        let first = header(&CastHeader::new(size, 1_504_467_315, "bash", "xterm-256color", &whose));
        assert_eq!(
            first,
            "{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":1504467315,\"title\":\"bash\",\
             \"env\":{\"TERM\":\"xterm-256color\"},\"wharf\":{\"tenant\":\"local\",\"session\":\"s:1\"}}\n"
        );
        assert_eq!(owner(&first), Some(whose));
        assert_eq!(owner(r#"{"version":2,"width":80,"height":24}"#), None);
        let after = Duration::from_micros(1_001_376);
        assert_eq!(event(after, CastEvent::Output, "\u{1b}[1mé\r\n"), "[1.001376,\"o\",\"\\u001b[1mé\\r\\n\"]\n");
        assert_eq!(event(after, CastEvent::Resize, &super::size(size)), "[1.001376,\"r\",\"80x24\"]\n");
    }
}
