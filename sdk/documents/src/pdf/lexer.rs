//! Tokens and objects of PDF syntax. They borrow from the bytes where they can;
//! nesting is bounded, and what makes no sense is skipped as readers do.

use std::borrow::Cow;

/// How deep arrays and dictionaries may be nested.
const DEPTH: usize = 32;
/// Objects in one object. More is no honest structure: the largest that matter
/// here hold pages, widths and differences.
const MOST_INSIDE: usize = 1 << 17;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object<'bytes> {
    Null,
    Number(f64),
    Name(Cow<'bytes, [u8]>),
    String(Vec<u8>),
    Array(Vec<Object<'bytes>>),
    Dictionary(Dictionary<'bytes>),
    Reference(u32),
    /// An operator, or any other word.
    Word(&'bytes [u8]),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Dictionary<'bytes>(Vec<(Cow<'bytes, [u8]>, Object<'bytes>)>);

impl<'bytes> Dictionary<'bytes> {
    pub(super) fn get(&self, key: &str) -> Option<&Object<'bytes>> {
        self.0.iter().find(|(name, _)| **name == *key.as_bytes()).map(|(_, value)| value)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = (&[u8], &Object<'bytes>)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// The entries that lead to other objects, on their own.
    pub(super) fn references(&self) -> Dictionary<'static> {
        let entries = self.0.iter().filter_map(|(name, value)| match value {
            Object::Reference(number) => Some((Cow::Owned(name.to_vec()), Object::Reference(*number))),
            _ => None,
        });
        Dictionary(entries.collect())
    }
}

impl Object<'_> {
    pub(super) fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    /// A number that may be a size or a position.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Self::Number(number) if (0.0..4e9).contains(number) => Some(*number as usize),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Lexer<'bytes> {
    pub(super) bytes: &'bytes [u8],
    pub(super) at: usize,
    /// Objects that the current one may still hold.
    left: usize,
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0C | b'\r' | b' ')
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

impl<'bytes> Lexer<'bytes> {
    pub(super) fn new(bytes: &'bytes [u8], at: usize) -> Self {
        Self { bytes, at, left: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'%' => {
                    let rest = &self.bytes[self.at..];
                    self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                }
                blank if is_blank(blank) => self.at += 1,
                _ => return,
            }
        }
    }

    /// The next object or word; nothing at the end. In a content stream there
    /// are no references.
    pub(super) fn next(&mut self, references: bool) -> Option<Object<'bytes>> {
        self.left = MOST_INSIDE;
        self.object(DEPTH, references)
    }

    fn object(&mut self, depth: usize, references: bool) -> Option<Object<'bytes>> {
        self.left = self.left.checked_sub(1)?;
        loop {
            self.skip_blanks();
            let start = self.at;
            let byte = self.peek()?;
            self.at += 1;
            return Some(match byte {
                b'/' => Object::Name(self.name()),
                b'(' => Object::String(self.literal()),
                b'<' if self.peek() == Some(b'<') => {
                    self.at += 1;
                    Object::Dictionary(self.dictionary(depth, references))
                }
                b'<' => Object::String(self.hexadecimal()),
                b'[' => Object::Array(self.array(depth, references)),
                // What closes nothing.
                b']' | b')' | b'{' | b'}' => continue,
                b'>' => {
                    self.at += usize::from(self.peek() == Some(b'>'));
                    continue;
                }
                _ => {
                    let rest = &self.bytes[start..];
                    let length = rest.iter().position(|b| is_blank(*b) || is_delimiter(*b)).unwrap_or(rest.len());
                    let word = &rest[..length.max(1)];
                    self.at = start + word.len();
                    match number(word) {
                        Some(number) if references => self.reference(number).unwrap_or(Object::Number(number)),
                        Some(number) => Object::Number(number),
                        None if word == b"null" => Object::Null,
                        None => Object::Word(word),
                    }
                }
            });
        }
    }

    /// The rest of `12 0 R`.
    fn reference(&mut self, number: f64) -> Option<Object<'bytes>> {
        let rest = self.bytes.get(self.at..self.bytes.len().min(self.at + 16))?;
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        let digits = rest[blanks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let more = rest[blanks + digits..].iter().take_while(|byte| is_blank(**byte)).count();
        let end = blanks + digits + more;
        let is_end = rest.get(end + 1).is_none_or(|byte| is_blank(*byte) || is_delimiter(*byte));
        let fits = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
        (blanks > 0 && digits > 0 && more > 0 && rest.get(end) == Some(&b'R') && is_end && fits).then(|| {
            self.at += end + 1;
            Object::Reference(number as u32)
        })
    }

    fn name(&mut self) -> Cow<'bytes, [u8]> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| is_blank(*byte) || is_delimiter(*byte)).unwrap_or(rest.len());
        let name = &rest[..length];
        self.at += length;
        if !name.contains(&b'#') {
            return Cow::Borrowed(name);
        }
        let mut plain = Vec::with_capacity(name.len());
        let mut at = 0;
        while let Some(byte) = name.get(at) {
            let digits = name.get(at + 1..at + 3).and_then(|pair| Some((digit(pair[0])?, digit(pair[1])?)));
            match digits {
                Some((high, low)) if *byte == b'#' => {
                    plain.push(high << 4 | low);
                    at += 3;
                }
                _ => {
                    plain.push(*byte);
                    at += 1;
                }
            }
        }
        Cow::Owned(plain)
    }

    fn literal(&mut self) -> Vec<u8> {
        let (mut text, mut open) = (Vec::new(), 1_usize);
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escape(&mut text);
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'\r' => self.at += usize::from(self.peek() == Some(b'\n')),
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    match self.peek() {
                        Some(digit @ b'0'..=b'7') => code = code * 8 + u32::from(digit - b'0'),
                        _ => break,
                    }
                    self.at += 1;
                }
                text.push(code.to_le_bytes()[0]);
            }
            other => text.push(other),
        }
    }

    fn hexadecimal(&mut self) -> Vec<u8> {
        let rest = &self.bytes[self.at..];
        let length = memchr::memchr(b'>', rest).unwrap_or(rest.len());
        self.at += (length + 1).min(rest.len());
        let digits: Vec<u8> = rest[..length].iter().filter_map(|byte| digit(*byte)).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
    }

    fn array(&mut self, depth: usize, references: bool) -> Vec<Object<'bytes>> {
        let mut array = Vec::new();
        loop {
            self.skip_blanks();
            if depth == 0 || self.peek().is_none_or(|byte| byte == b']') {
                self.at += 1;
                self.at = self.at.min(self.bytes.len());
                return array;
            }
            match self.object(depth - 1, references) {
                Some(object) => array.push(object),
                None => return array,
            }
        }
    }

    fn dictionary(&mut self, depth: usize, references: bool) -> Dictionary<'bytes> {
        let mut dictionary = Dictionary::default();
        loop {
            self.skip_blanks();
            if depth == 0 || self.bytes[self.at..].starts_with(b">>") || self.peek().is_none() {
                self.at = (self.at + 2).min(self.bytes.len());
                return dictionary;
            }
            // A word that ends an object ends a dictionary that was left open.
            if self.bytes[self.at..].starts_with(b"endobj") || self.bytes[self.at..].starts_with(b"stream") {
                return dictionary;
            }
            let Some(key) = self.object(depth - 1, references) else { return dictionary };
            let Object::Name(key) = key else { continue };
            self.skip_blanks();
            if self.bytes[self.at..].starts_with(b">>") {
                continue;
            }
            match self.object(depth - 1, references) {
                Some(value) => dictionary.0.push((key, value)),
                None => return dictionary,
            }
        }
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn number(word: &[u8]) -> Option<f64> {
    if !matches!(word.first()?, b'0'..=b'9' | b'+' | b'-' | b'.') || word.len() > 64 {
        return None;
    }
    let text = std::str::from_utf8(word).ok()?;
    // Not what Rust takes for a number beyond that: `infinity`, `1e5`.
    if !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.')) {
        return None;
    }
    text.parse().ok()
}
