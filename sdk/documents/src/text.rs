//! Texts, whatever they are of: cut to a length, fit for a message, out of UTF-16.

/// The beginning of a text that fits, cut between characters.
pub(crate) fn cut(text: &str, most_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(most_bytes)]
}

/// A name that is fit for a message.
pub(crate) fn short(name: &str) -> String {
    cut(name, 80).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A text in UTF-16 that says so; nothing where it does not, and nothing inside
/// where it says so and is not.
pub(crate) fn utf16(bytes: &[u8]) -> Option<Option<String>> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect();
    Some(text.ok().filter(|_| rest.is_empty()))
}
