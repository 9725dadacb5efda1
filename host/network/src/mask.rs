//! Takes secrets out of answers, however these are cut into pieces.
//!
//! The mask finds a secret as it is, and as JSON, URLs and base64 write it. It
//! overwrites the secret with as many bytes, so that announced lengths stay
//! true.

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use wharf_core::Secret;
use zeroize::Zeroizing;

/// Replaces each byte of a secret.
const MASKED: u8 = b'*';

/// The texts that the mask takes out.
#[derive(Debug, Clone, Default)]
pub struct SecretMask {
    needles: Vec<Needle>,
    /// The same in lower case, as in names of headers.
    lowered: Vec<Needle>,
}

/// A text, and for each of its prefixes the longest shorter prefix that
/// ends it (Knuth, Morris and Pratt), so that a search reads each byte of a stream once.
#[derive(Clone)]
struct Needle {
    text: Zeroizing<Box<[u8]>>,
    shorter: Box<[usize]>,
}

impl std::fmt::Debug for Needle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Needle")
    }
}

/// Takes secrets out of one stream.
#[derive(Debug)]
pub(crate) struct MaskedStream {
    mask: SecretMask,
    /// For each text, the length of its longest prefix that ends the stream.
    matched: Vec<usize>,
    /// The end of the stream, which may be the beginning of a secret.
    held: Vec<u8>,
}

impl SecretMask {
    /// Of these secrets.
    #[must_use]
    pub fn new(secrets: &[Secret]) -> Self {
        let spelt = secrets.iter().flat_map(|secret| spellings(secret.text().reveal()));
        let mut texts: Vec<Zeroizing<String>> = spelt.map(Zeroizing::new).collect();
        texts.sort_unstable_by(|one, other| one.as_str().cmp(other));
        texts.dedup();
        let needle = |text: &Zeroizing<String>| Needle::new(text.as_bytes());
        let needles = texts.iter().map(needle).collect();
        texts.iter_mut().for_each(|text| text.make_ascii_lowercase());
        Self { needles, lowered: texts.iter().map(needle).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }

    /// Takes secrets out of the names and values of headers.
    pub(crate) fn headers(&self, headers: &mut HeaderMap) {
        self.names(headers);
        for value in headers.values_mut() {
            let masked = self.whole(value.as_bytes());
            if masked != value.as_bytes() {
                *value = HeaderValue::from_bytes(&masked).unwrap_or_else(|_| HeaderValue::from_static("*"));
            }
        }
    }

    fn names(&self, headers: &mut HeaderMap) {
        let of_names = Self { needles: self.lowered.clone(), lowered: Vec::new() };
        let masked = |name: &HeaderName| of_names.whole(name.as_str().as_bytes());
        if !self.is_empty() && headers.keys().any(|name| masked(name) != name.as_str().as_bytes()) {
            let mut named = HeaderMap::new();
            for (name, value) in &*headers {
                // The replacement byte is legal in a name.
                if let Ok(name) = HeaderName::from_bytes(&masked(name)) {
                    named.append(name, value.clone());
                }
            }
            *headers = named;
        }
    }

    /// Takes secrets out of a whole text.
    #[must_use]
    pub fn whole(&self, text: &[u8]) -> Vec<u8> {
        let mut stream = MaskedStream::new(self.clone());
        let mut masked = stream.push(text);
        masked.extend(stream.finish());
        masked
    }
}

/// The ways in which a server may write a secret that it sends back.
fn spellings(secret: &str) -> Vec<String> {
    let json = serde_json::Value::from(secret).to_string();
    let in_url = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let mut spellings = vec![
        secret.to_owned(),
        json[1..json.len() - 1].to_owned(),
        in_url.to_ascii_lowercase(),
        in_url,
        secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
    ];
    for encoded in in_base64(secret) {
        spellings.extend([encoded.replace('+', "-").replace('/', "_"), encoded]);
    }
    spellings
}

/// The secret alone, and as a part of a longer text, in which it begins at any of the three
/// offsets within a group of base64. Without the characters that it shares with the bytes
/// beside it.
fn in_base64(secret: &str) -> impl Iterator<Item = String> {
    let within = (0..3).map(move |before| {
        let encoded = STANDARD_NO_PAD.encode([&[0; 2][..before], secret.as_bytes()].concat());
        let (begin, end) = ((before * 8).div_ceil(6), (before + secret.len()) * 8 / 6);
        encoded[begin..end].to_owned()
    });
    std::iter::once(STANDARD_NO_PAD.encode(secret)).chain(within)
}

impl Needle {
    fn new(text: &[u8]) -> Self {
        let mut shorter = vec![0; text.len() + 1];
        let mut length = 0;
        for at in 1..text.len() {
            while length > 0 && text[at] != text[length] {
                length = shorter[length];
            }
            length += usize::from(text[at] == text[length]);
            shorter[at + 1] = length;
        }
        Self { text: Zeroizing::new(text.into()), shorter: shorter.into() }
    }

    /// The matched length after one more byte.
    fn next(&self, mut matched: usize, byte: u8) -> usize {
        while matched > 0 && (matched == self.text.len() || self.text[matched] != byte) {
            matched = self.shorter[matched];
        }
        matched + usize::from(self.text[matched] == byte)
    }
}

impl MaskedStream {
    pub(crate) fn new(mask: SecretMask) -> Self {
        Self { matched: vec![0; mask.needles.len()], mask, held: Vec::new() }
    }

    /// Takes the next piece and returns the bytes that cannot be part of a secret any more.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        for byte in piece {
            self.held.push(*byte);
            for (needle, matched) in self.mask.needles.iter().zip(&mut self.matched) {
                *matched = needle.next(*matched, *byte);
                if *matched == needle.text.len() {
                    let begin = self.held.len() - *matched;
                    self.held[begin..].fill(MASKED);
                }
            }
        }
        // A text that has come as a whole is masked already; only its longest prefix that
        // ends it may still grow.
        let growing = self.mask.needles.iter().zip(&self.matched);
        let kept = growing
            .map(|(needle, matched)| if *matched == needle.text.len() { needle.shorter[*matched] } else { *matched })
            .max()
            .unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - kept);
        std::mem::replace(&mut self.held, rest)
    }

    /// The bytes that were held back, after the end of the stream.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wharf_core::request::SecretRule;

    fn mask(text: &str) -> SecretMask {
        let rule = SecretRule::new("a", "https://example.com".parse().expect("a pattern"), "A: {}").expect("a rule");
        SecretMask::new(&[rule.with_text(text).expect("a secret")])
    }

    fn masked(mask: &SecretMask, pieces: &[&[u8]]) -> String {
        let mut stream = MaskedStream::new(mask.clone());
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| stream.push(piece)).collect();
        out.extend(stream.finish());
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_secret_is_found_wherever_it_is_cut() {
        let (mask, text) = (mask("hunter2hunter2"), b"token hunter2hunter2hunter2 and hunter2hunter");
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(masked(&mask, &pieces), "token ********************* and hunter2hunter");
            }
        }
    }

    #[test]
    fn a_secret_is_found_as_json_urls_pages_and_base64_write_it() {
        let (mask, secret) = (mask("pa\"ss/wo rd&<"), "pa\"ss/wo rd&<");
        for written in [
            secret,
            "pa\\\"ss/wo rd&<",
            "pa%22ss%2Fwo%20rd%26%3C",
            "pa%22ss%2fwo%20rd%26%3c",
            "pa&quot;ss/wo rd&amp;&lt;",
            "cGEic3Mvd28gcmQmPA",
        ] {
            let masked = masked(&mask, &[b"<", written.as_bytes(), b">"]);
            assert_eq!(masked, format!("<{}>", "*".repeat(written.len())), "{written}");
        }
    }

    #[test]
    fn a_secret_within_a_longer_text_in_base64_is_found_wherever_it_begins() {
        let (mask, secret) = (mask("hunter2?>hunter2"), "hunter2?>hunter2");
        // But for a character at each end, which it shares with the bytes beside it.
        let whole = secret.len() * 8 / 6 - 1;
        for before in ["", "a", "ab", "Bearer ", "user:"] {
            for after in ["", "a", "ab", "\", \"more\": true"] {
                let standard = STANDARD_NO_PAD.encode(format!("{before}{secret}{after}"));
                for written in [standard.replace('+', "-").replace('/', "_"), standard] {
                    let masked = masked(&mask, &[written.as_bytes()]);
                    assert!(masked.contains(&"*".repeat(whole)), "{before}{after}: {written} is masked as {masked}");
                }
            }
        }
    }

    #[test]
    fn headers_keep_what_is_no_secret() {
        let mut headers = HeaderMap::new();
        headers.insert("a", HeaderValue::from_static("Bearer hunter2hunter2"));
        headers.insert("b", HeaderValue::from_static("hunter2"));
        mask("hunter2hunter2").headers(&mut headers);
        assert_eq!(headers["a"], "Bearer **************");
        assert_eq!(headers["b"], "hunter2");
    }

    proptest! {
        #[test]
        fn any_stream_keeps_its_length_and_loses_every_secret(
            secret in "[ab]{8,12}", text in "[ab]{0,200}", cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            let mask = mask(&secret);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect();
            let told = masked(&mask, &pieces);
            prop_assert_eq!(told.len(), text.len());
            prop_assert!(!told.contains(&secret));
            for (at, (before, after)) in text.bytes().zip(told.bytes()).enumerate() {
                let inside = (0..secret.len()).any(|back| at >= back && text[at - back..].starts_with(&secret));
                prop_assert_eq!(after, if inside { b'*' } else { before });
            }
        }
    }
}
