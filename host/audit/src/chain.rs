//! The chain of a file: each line ends with a digest of itself and of all lines before it.
//!
//! Anybody can compute it again: the digest of a line is BLAKE3 over the digest before it, as 64
//! hexadecimal digits, a line break, and the line without its member `chain`. Before the first line
//! stands the digest of [`SEED`] and the name of the file. Knows nothing of what lines say.

use wharf_core::Digest;

/// What the chain of a file begins with, before the name of the file.
const SEED: &str = "wharf audit 1\n";
/// What precedes the digest in a line.
const MEMBER: &str = ",\"chain\":\"";
/// What follows it.
const END: &str = "\"}";
/// Bytes that the chain adds to a line.
pub(crate) const CHAIN_BYTES: usize = MEMBER.len() + 64 + 1;

/// Where the chain of a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Chain(Digest);

impl Chain {
    /// Before the first line of a file.
    pub(crate) fn of_file(name: &str) -> Self {
        Self(Digest::of(format!("{SEED}{name}").as_bytes()))
    }

    /// Reads it as it is written.
    pub(crate) fn read(hex: &str) -> Option<Self> {
        format!("blake3:{hex}").parse().ok().map(Self)
    }

    /// 64 hexadecimal digits.
    pub(crate) fn to_hex(self) -> String {
        self.0.to_hex()
    }

    /// After this line.
    #[must_use]
    pub(crate) fn after(self, line: &[u8]) -> Self {
        Self(Digest::of(&[self.to_hex().as_bytes(), b"\n", line].concat()))
    }

    /// Writes a line, an object of JSON, with its chain and its line break; and stands after it.
    pub(crate) fn write(&mut self, line: &[u8], out: &mut Vec<u8>) {
        *self = self.after(line);
        let open = line.strip_suffix(b"}").unwrap_or(line);
        out.extend_from_slice(open);
        out.extend_from_slice(MEMBER.as_bytes());
        out.extend_from_slice(self.to_hex().as_bytes());
        out.extend_from_slice(END.as_bytes());
        out.push(b'\n');
    }
}

/// A line without its chain, and that chain; nothing for a line that has none.
pub(crate) fn parted(line: &[u8]) -> Option<(Vec<u8>, Chain)> {
    let (open, chain) = line.split_at_checked(line.len().checked_sub(CHAIN_BYTES + 1)?)?;
    let hex = std::str::from_utf8(chain).ok()?.strip_prefix(MEMBER)?.strip_suffix(END)?;
    Some(([open, b"}"].concat(), Chain::read(hex)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_again_with_its_chain() {
        let mut chain = Chain::of_file("a.jsonl");
        let mut out = Vec::new();
        let before = chain;
        chain.write(br#"{"kind":"call"}"#, &mut out);
        let line = out.strip_suffix(b"\n").expect("a line break");
        assert_eq!(line.len(), br#"{"kind":"call"}"#.len() + CHAIN_BYTES);
        let (content, found) = parted(line).expect("a chain");
        assert_eq!((content.as_slice(), found), (&br#"{"kind":"call"}"#[..], chain));
        assert_eq!(before.after(&content), chain);
        assert_ne!(Chain::of_file("b.jsonl").after(&content), chain);
        assert!(parted(br#"{"kind":"call"}"#).is_none() && parted(b"").is_none());
    }
}
