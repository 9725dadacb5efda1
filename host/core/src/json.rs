//! Estimates the memory that a JSON text will take, before it is parsed.
//!
//! A text of 4 MiB may become gigabytes of values: `{"":0}` takes seven bytes of it and
//! seven hundred of memory. So code that reads foreign JSON scans the bytes first, in
//! constant memory, and parses only what fits.

mod answer_memory;
mod request_memory;

use std::io;

use serde::{Serialize, de::DeserializeOwned};

pub use answer_memory::{AnswerMemory, AnswerReader, AnswerShare};
pub use request_memory::{RequestMemory, RequestShare};

/// What a value takes in a list: its place, which growing lists double.
const VALUE_BYTES: u64 = 64;
/// What a list takes that has anything in it.
const LIST_BYTES: u64 = 64;
/// What an object takes that has anything in it: the first node of its tree.
const OBJECT_BYTES: u64 = 544;
/// What a member takes in an object, in nodes that are about half full.
const MEMBER_BYTES: u64 = 64;
/// What a text takes beside its bytes.
const TEXT_BYTES: u64 = 16;

/// A text that is not the JSON that was wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct InvalidJson {
    /// What is wrong with it, and where.
    problem: String,
    is_json: bool,
}

impl InvalidJson {
    pub(crate) fn of(error: &serde_json::Error) -> Self {
        Self { problem: error.to_string(), is_json: error.is_data() }
    }

    /// Whether it is JSON, but not of the shape that was wanted.
    #[must_use]
    pub fn is_of_another_shape(&self) -> bool {
        self.is_json
    }
}

/// Reads the members of an object. The parser alone would take a list for them, too, by their
/// places.
///
/// # Errors
/// Where the text is no object, or not this one.
pub fn members<T: DeserializeOwned>(text: impl AsRef<[u8]>) -> Result<T, InvalidJson> {
    let text = text.as_ref();
    if text.trim_ascii_start().starts_with(b"[") {
        return Err(InvalidJson { problem: "invalid type: sequence, expected an object".to_owned(), is_json: true });
    }
    serde_json::from_slice(text).map_err(|error| InvalidJson::of(&error))
}

/// Reads a text byte by byte, and adds up what its values would take. A text that is no
/// JSON has an estimate, too: what a parser would have built until it finds out.
#[derive(Debug, Default)]
pub struct Estimate {
    bytes: u64,
    values: u64,
    text: Text,
    /// A number or a word is being read.
    in_word: bool,
    /// A list or an object was just opened.
    opened: Option<u8>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Within(u64),
    Escaped(u64),
}

impl Estimate {
    /// Of a whole text.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        let mut estimate = Self::default();
        estimate.read(text);
        estimate
    }

    /// Of a value that is in memory already.
    #[must_use]
    pub fn of_value(value: &impl Serialize) -> Self {
        let mut estimate = Self::default();
        // It takes every byte, and values of JSON have texts for names.
        let _ = serde_json::to_writer(&mut estimate, value);
        estimate
    }

    /// Reads on.
    pub fn read(&mut self, mut text: &[u8]) {
        while let Some((byte, rest)) = text.split_first() {
            text = match self.text {
                Text::Outside => {
                    self.step(*byte);
                    rest
                }
                Text::Escaped(length) => {
                    self.text = Text::Within(length + 1);
                    rest
                }
                Text::Within(length) => {
                    let plain = memchr::memchr2(b'"', b'\\', text).unwrap_or(text.len());
                    let length = length + plain as u64;
                    self.text = match text.get(plain) {
                        None => Text::Within(length),
                        Some(b'"') => {
                            self.bytes += TEXT_BYTES + length.next_multiple_of(16);
                            Text::Outside
                        }
                        Some(_) => Text::Escaped(length),
                    };
                    text.get(plain + 1..).unwrap_or_default()
                }
            };
        }
    }

    /// Memory that the values take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many values there are, names of members included.
    #[must_use]
    pub fn values(&self) -> u64 {
        self.values
    }

    fn step(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => self.in_word = false,
            b']' | b'}' => {
                self.in_word = false;
                self.opened = None;
            }
            b'[' | b'{' => {
                self.begin();
                self.in_word = false;
                self.opened = Some(byte);
            }
            b'"' => {
                self.begin();
                self.in_word = false;
                self.text = Text::Within(0);
            }
            _ if self.in_word => {}
            _ => {
                self.begin();
                self.in_word = true;
            }
        }
    }

    /// A value begins, or the name of a member, which takes as much.
    fn begin(&mut self) {
        self.values += 1;
        self.bytes += match self.opened.take() {
            None => VALUE_BYTES,
            Some(b'{') => OBJECT_BYTES + MEMBER_BYTES,
            Some(_) => LIST_BYTES + VALUE_BYTES,
        };
    }
}

impl io::Write for Estimate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.read(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_texts_are_not_looked_into() {
        for (text, values) in [
            ("", 0),
            ("17", 1),
            (r#" [1, -2.5e3,true,null , "a,[]{}\"b"] "#, 6),
            (r#"{"a":{"b":[]},"c":""}"#, 7),
            (r#""\\" "#, 1),
            ("[[],[],{}]", 4),
        ] {
            assert_eq!(Estimate::of(text.as_bytes()).values(), values, "{text}");
            // Read in pieces it is the same.
            let mut pieces = Estimate::default();
            text.as_bytes().chunks(1).for_each(|piece| pieces.read(piece));
            assert_eq!((pieces.values(), pieces.bytes()), (values, Estimate::of(text.as_bytes()).bytes()), "{text}");
        }
    }

    #[test]
    fn what_multiplies_is_seen_before_it_is_read_and_a_long_text_takes_its_length() {
        let many = |item: &str, count: usize| Estimate::of(format!("[{}]", vec![item; count].join(",")).as_bytes());
        assert!(many(r#"{"":0}"#, 590_000).bytes() > 300 << 20);
        assert!(many("1", 1_300_000).bytes() > 64 << 20);
        let long = format!("\"{}\"", "x".repeat(4 << 20));
        assert!(Estimate::of(long.as_bytes()).bytes() < (4 << 20) + 1_024);
    }
}
