//! Finds the id of a message that cannot be parsed: too long, nested too
//! deeply, or broken somewhere.
//!
//! Works on a stream of bytes in constant memory. Knows just enough of JSON to
//! tell the top level of an object from what is inside.

use rmcp::model::RequestId;

/// More than any id that a client sends in earnest.
const TOKEN_BYTES: usize = 256;

/// Reads a message byte by byte and remembers the value of its top-level `id`.
#[derive(Default)]
pub(super) struct IdScanner {
    depth: u64,
    in_string: bool,
    escaped: bool,
    /// The key or value being read at the top level; empty where it is too long.
    token: Vec<u8>,
    overlong: bool,
    value_of_id: bool,
    found: Option<RequestId>,
}

impl IdScanner {
    /// Reads on.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    /// The id, where one was read to its end.
    pub(super) fn finish(self) -> Option<RequestId> {
        self.found
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.value_of_id = self.token == b"\"id\"";
                self.clear();
            }
            b',' if self.depth == 1 => self.end_value(),
            byte if byte.is_ascii_whitespace() => {}
            byte => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth != 1 || self.overlong {
            return;
        }
        if self.token.len() == TOKEN_BYTES {
            self.token.clear();
            self.overlong = true;
        } else {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.value_of_id && !self.token.is_empty() {
            self.found = serde_json::from_slice(&self.token).ok();
        }
        self.value_of_id = false;
        self.clear();
    }

    fn clear(&mut self) {
        self.token.clear();
        self.overlong = false;
    }
}

/// The id in the text of one message.
pub(super) fn find_id(message: &[u8]) -> Option<RequestId> {
    let mut scanner = IdScanner::default();
    scanner.feed(message);
    scanner.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_wherever_it_stands_at_the_top_level() {
        let number = Some(RequestId::Number(7));
        assert_eq!(find_id(br#"{"id":7,"params":{"id":8}}"#), number);
        assert_eq!(find_id(br#"{"params":{"id":8,"a":["id",{"id":9}]}, "id" : 7}"#), number);
        assert_eq!(find_id(br#"{"a":"\",\"id\":9","id":7,"b":"x"#), number);
        assert_eq!(find_id(br#"{"id":"q-1","x":tru"#), Some(RequestId::String("q-1".into())));
    }

    #[test]
    fn no_other_id_is_taken_for_it() {
        for text in [
            r#"{"params":{"id":8}}"#,
            r#"[{"id":8}]"#,
            r#"{"id":null}"#,
            r#"{"id":{"id":1}}"#,
            r#"{"x":"id","y":1}"#,
            r#"{"id":12"#,
        ] {
            assert_eq!(find_id(text.as_bytes()), None, "{text}");
        }
        let long = format!(r#"{{"id":"{}"}}"#, "x".repeat(1_000));
        assert_eq!(find_id(long.as_bytes()), None);
    }
}
