//! The messages of the protocol: how they are written, cut and read. A hostile page has
//! a hand in much of what the browser sends.
//!
//! Knows nothing of what the commands mean.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

/// A command to the browser.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProtocolCommand<'a, P> {
    pub(crate) id: u64,
    pub(crate) method: &'a str,
    pub(crate) params: &'a P,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<&'a str>,
}

/// A message of the browser: an answer where it has an id, else an event.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProtocolMessage<'a> {
    pub(crate) id: Option<u64>,
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
    pub(crate) session_id: Option<Cow<'a, str>>,
}

/// Why the browser did not carry out a command.
#[derive(Debug, Deserialize)]
pub(crate) struct CommandRefusal {
    pub(crate) message: String,
}

/// Reads JSON of the browser. Half a surrogate, which JavaScript takes for a
/// character and JSON here does not, becomes the replacement character.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    match serde_json::from_str(text) {
        Err(error) if error.is_syntax() && text.contains("\\u") => serde_json::from_str(&mend(text)),
        read => read,
    }
}

/// The text with every `\uD800` to `\uDFFF` that is no part of a pair replaced.
fn mend(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut mended = String::with_capacity(text.len());
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let unit = unit_at(bytes, at);
        match unit {
            Some(0xD800..=0xDBFF) if matches!(unit_at(bytes, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                mended.push_str(&text[copied..at]);
                mended.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            // Another escape; its second half may be a backslash.
            _ => at += 2,
        }
    }
    mended.push_str(text.get(copied..).unwrap_or_default());
    mended
}

/// What the escape `\uXXXX` at this place stands for.
fn unit_at(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

/// Cuts the stream of the browser into messages, each ended by a zero byte. A message
/// that exceeds the limit is thrown away as it arrives.
#[derive(Debug)]
pub(crate) struct MessageCutter {
    limit: usize,
    begun: Vec<u8>,
    /// How much of a message that is too long has been thrown away.
    dropped: usize,
}

/// What a [`MessageCutter`] found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CutMessage<'a> {
    /// A message.
    Whole(&'a [u8]),
    /// The beginning of one that was too long.
    TooLong(&'a [u8]),
}

/// How much of a message that is too long is kept: its id stands at the beginning.
const KEPT: usize = 256;
/// Beyond this size a buffer is given back.
const USUAL: usize = 1 << 20;

impl MessageCutter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit: limit.max(KEPT), begun: Vec::new(), dropped: 0 }
    }

    /// Takes what was read, and hands on each message that it completes.
    pub(crate) fn take(&mut self, mut read: &[u8], mut each: impl FnMut(CutMessage<'_>)) {
        while let Some(end) = memchr::memchr(0, read) {
            let (part, rest) = (&read[..end], &read[end + 1..]);
            read = rest;
            if self.begun.is_empty() && self.dropped == 0 && part.len() <= self.limit {
                each(CutMessage::Whole(part));
                continue;
            }
            self.add(part);
            each(if self.dropped > 0 { CutMessage::TooLong(&self.begun) } else { CutMessage::Whole(&self.begun) });
            self.dropped = 0;
            self.begun.clear();
            self.begun.shrink_to(USUAL);
        }
        self.add(read);
    }

    fn add(&mut self, part: &[u8]) {
        if self.dropped == 0 && self.begun.len() + part.len() <= self.limit {
            self.begun.extend_from_slice(part);
            return;
        }
        if self.dropped == 0 {
            let missing = KEPT.saturating_sub(self.begun.len()).min(part.len());
            self.begun.extend_from_slice(&part[..missing]);
            self.begun.truncate(KEPT);
        }
        self.dropped = self.dropped.saturating_add(part.len().max(1));
    }
}

/// The id of an answer, read from its beginning alone.
pub(crate) fn id_at_the_beginning(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"{\"id\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(limit: usize, reads: &[&[u8]]) -> Vec<String> {
        let (mut cutter, mut found) = (MessageCutter::new(limit), Vec::new());
        for read in reads {
            cutter.take(read, |cut| {
                found.push(match cut {
                    CutMessage::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    CutMessage::TooLong(bytes) => format!("{} ...", bytes.len()),
                });
            });
        }
        assert!(cutter.begun.len() <= limit.max(KEPT));
        found
    }

    #[test]
    fn messages_are_found_however_they_are_split() {
        assert_eq!(cut(1000, &[b"a\0b", b"c\0", b"", b"d", b"\0\0"]), ["a", "bc", "d", ""]);
    }

    #[test]
    fn a_message_that_is_too_long_is_dropped_and_the_next_one_is_read() {
        let long = vec![b'x'; 5000];
        assert_eq!(cut(1000, &[&long, b"y\0next\0"]), ["256 ...", "next"]);
        assert_eq!(cut(1000, &[b"abc", &long, &long, b"\0", b"next\0"]), ["256 ...", "next"]);
        let at_once = [&long[..], b"\0next\0"].concat();
        assert_eq!(cut(1000, &[&at_once]), ["256 ...", "next"]);
        let (fits, does_not) = (vec![b'x'; 1000], vec![b'x'; 1001]);
        assert_eq!(cut(1000, &[&fits, b"\0"])[0].len(), 1000);
        assert_eq!(cut(1000, &[&does_not, b"\0"]), ["256 ..."]);
    }

    #[test]
    fn the_id_of_a_long_answer_is_read_from_its_beginning() {
        assert_eq!(id_at_the_beginning(br#"{"id":17,"result":{"data":"iVBOR"#), Some(17));
        assert_eq!(id_at_the_beginning(br#"{"method":"Network.x","params":{"id":17"#), None);
    }

    #[test]
    fn half_a_surrogate_does_not_make_a_message_unreadable() {
        let read = |text: &str| read::<String>(text).expect("a text");
        assert_eq!(read(r#""a\ud800b""#), "a\u{fffd}b");
        assert_eq!(read(r#""\udc00\ud83d\ude00\ud83d""#), "\u{fffd}\u{1f600}\u{fffd}");
        // A backslash and the letters, which is no escape.
        assert_eq!(read(r#""\\ud800 \ud800""#), "\\ud800 \u{fffd}");
        assert!(super::read::<String>(r#""\ud80""#).is_err());
    }
}
