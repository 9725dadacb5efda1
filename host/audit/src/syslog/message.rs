//! The form of a message: RFC 5424, with the line of the audit as its text.

use std::fmt::Write as _;

use serde::Deserialize;

/// Severity of what somebody may have to look at.
const NOTICE: u8 = 5;
/// Severity of everything else.
const INFORMATIONAL: u8 = 6;
/// Kinds of lines that are not routine.
const NOTICED: [&str; 7] = ["denied", "approval", "change", "operator", "authentication", "limited", "dropped"];

/// What is the same in all messages of a host.
#[derive(Debug, Clone)]
pub(super) struct MessageHead {
    facility: u8,
    /// Host name, application and process.
    sender: String,
}

impl MessageHead {
    pub(super) fn new(facility: u8, host: &str, process: u32) -> Self {
        // Section 6: printable ASCII, of 255 characters at most; `-` where there is none.
        let host: String = host.chars().filter(char::is_ascii_graphic).take(255).collect();
        let host = if host.is_empty() { "-" } else { &host };
        Self { facility, sender: format!("{host} wharf {process}") }
    }

    /// The message of a line, which is JSON without a line break.
    pub(super) fn message(&self, line: &[u8]) -> Vec<u8> {
        #[derive(Deserialize)]
        struct LineHead<'l> {
            #[serde(borrow)]
            time: &'l str,
            #[serde(borrow)]
            kind: &'l str,
        }
        let head = serde_json::from_slice::<LineHead<'_>>(line).ok();
        // Both are the host's own words; another program may have written into its files.
        let plain =
            |word: &&str| !word.is_empty() && word.len() <= 32 && word.bytes().all(|byte| byte.is_ascii_graphic());
        let time = head.as_ref().map(|head| head.time).filter(plain).unwrap_or("-");
        let kind = head.as_ref().map(|head| head.kind).filter(plain).unwrap_or("-");
        let severity = if NOTICED.contains(&kind) { NOTICE } else { INFORMATIONAL };
        let mut text = String::with_capacity(64 + self.sender.len());
        // Writing to memory never fails.
        let _ = write!(text, "<{}>1 {time} {} {kind} - ", self.facility * 8 + severity, self.sender);
        let mut message = text.into_bytes();
        message.extend_from_slice(line);
        message
    }
}

/// A message as one of a stream: RFC 6587, section 3.4.1, and RFC 5425, section 4.3.
pub(super) fn framed(message: &[u8]) -> Vec<u8> {
    let mut framed = format!("{} ", message.len()).into_bytes();
    framed.extend_from_slice(message);
    framed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_as_the_standard_has_it() {
        let head = MessageHead::new(13, "web-1", 42);
        let line = br#"{"time":"2026-09-21T14:13:20.123Z","kind":"denied","tenant":"local"}"#;
        let message = String::from_utf8(head.message(line)).expect("text");
        let begun = "<109>1 2026-09-21T14:13:20.123Z web-1 wharf 42 denied - {\"time\":";
        assert!(message.starts_with(begun), "{message}");
        assert!(message.ends_with("\"tenant\":\"local\"}"));
        let call = head.message(br#"{"time":"2026-09-21T14:13:20.123Z","kind":"call"}"#);
        assert!(call.starts_with(b"<110>1 "));
        assert_eq!(framed(b"<110>1 x"), b"8 <110>1 x");
    }

    #[test]
    fn what_others_wrote_into_a_file_makes_no_other_head() {
        let head = MessageHead::new(1, "a b\n\u{e9}", 1);
        let forged = head.message(br#"{"time":"2026-09-21 <0>1","kind":"x y"}"#);
        assert!(forged.starts_with(b"<14>1 - ab wharf 1 - - {"), "{:?}", String::from_utf8_lossy(&forged));
        assert!(head.message(b"no JSON").starts_with(b"<14>1 - ab wharf 1 - - no JSON"));
        assert!(MessageHead::new(1, "", 1).message(b"{}").starts_with(b"<14>1 - - wharf 1 - - {}"));
    }
}
