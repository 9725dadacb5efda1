//! Numbers in as few bytes as they need, and reading them back from bytes that
//! may hold anything.

use crate::SearchError;

/// What is wrong with stored bytes; code that knows the key makes a [`SearchError`] of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

impl Malformed {
    pub(crate) fn at(self, key: &str) -> SearchError {
        SearchError::Corrupt { key: key.to_owned(), problem: self.0 }
    }
}

/// Appends a number, seven bits a byte, lowest first.
pub(crate) fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Appends a length and as many bytes.
pub(crate) fn push_slice(bytes: &mut Vec<u8>, slice: &[u8]) {
    push(bytes, wide(slice.len()));
    bytes.extend_from_slice(slice);
}

/// A size as a number to store.
pub(crate) fn wide(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// Reads what the functions above wrote.
#[derive(Debug, Clone)]
pub(crate) struct ByteReader<'bytes> {
    rest: &'bytes [u8],
}

impl<'bytes> ByteReader<'bytes> {
    pub(crate) fn new(bytes: &'bytes [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What was not read yet.
    pub(crate) fn rest(&self) -> &'bytes [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn number(&mut self) -> Result<u64, Malformed> {
        if let [byte @ 0..0x80, rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(u64::from(*byte));
        }
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(Malformed("it ends too early"))?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed("a number is too large"))
    }

    pub(crate) fn small(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.number()?).map_err(|_| Malformed("a number is too large"))
    }

    /// A count of things that take at least a byte each: never more than could
    /// follow, so it may be allocated.
    pub(crate) fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if count > self.rest.len() {
            return Err(Malformed("it counts more than it holds"));
        }
        Ok(count)
    }

    pub(crate) fn size(&mut self) -> Result<usize, Malformed> {
        Ok(usize::try_from(self.number()?).unwrap_or(usize::MAX))
    }

    pub(crate) fn take(&mut self, size: usize) -> Result<&'bytes [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(size).ok_or(Malformed("it ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const SIZE: usize>(&mut self) -> Result<[u8; SIZE], Malformed> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(Malformed("it ends too early"))?;
        self.rest = rest;
        Ok(*array)
    }

    pub(crate) fn slice(&mut self) -> Result<&'bytes [u8], Malformed> {
        let length = self.count()?;
        let (slice, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(slice)
    }

    pub(crate) fn text(&mut self) -> Result<&'bytes str, Malformed> {
        std::str::from_utf8(self.slice()?).map_err(|_| Malformed("a text is not UTF-8"))
    }

    /// Passes over `count` numbers and returns their bytes.
    pub(crate) fn numbers(&mut self, count: u32) -> Result<&'bytes [u8], Malformed> {
        let before = self.rest;
        for _ in 0..count {
            self.number()?;
        }
        Ok(&before[..before.len() - self.rest.len()])
    }

    pub(crate) fn end(&self) -> Result<(), Malformed> {
        if self.is_empty() { Ok(()) } else { Err(Malformed("something follows its end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back_in_as_few_bytes_as_it_needs() {
        for (number, size) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, 10)] {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            assert_eq!((bytes.len(), ByteReader::new(&bytes).number()), (size, Ok(number)));
        }
    }

    #[test]
    fn bytes_that_say_too_much_are_refused_before_anything_is_allocated() {
        assert!(ByteReader::new(&[0xff; 11]).number().is_err());
        assert!(ByteReader::new(&[0xff, 0xff, 0xff, 0x7f, 1]).count().is_err());
        assert!(ByteReader::new(&[2, b'a']).slice().is_err());
        assert!(ByteReader::new(&[1, 0xff]).text().is_err());
        assert!(ByteReader::new(&[]).number().is_err());
    }
}
