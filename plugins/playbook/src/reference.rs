//! `{{name}}` in a text: where it stands, and the text with values in its
//! place.
//!
//! What stands between double braces and consists of letters, digits, `_`, `-`
//! and `.` is a reference, legal or not; any other text with braces, such as
//! JSON, is only text.

use crate::limits;

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextPiece<'a> {
    Text(&'a str),
    Reference {
        name: &'a str,
        /// As it stands, braces included.
        written: &'a str,
    },
}

/// Whether a step's output may be called so.
pub(crate) fn is_legal_name(name: &str) -> bool {
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    begins && name.len() <= limits::NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The pieces of a text, in order and without a gap.
pub(crate) fn pieces(text: &str) -> Vec<TextPiece<'_>> {
    let (mut pieces, mut start, mut from) = (Vec::new(), 0, 0);
    while let Some(found) = text[from..].find("{{") {
        let at = from + found;
        let Some((name, length)) = reference_at(&text[at..]) else {
            // Three braces: the reference may begin at the second.
            from = at + 1;
            continue;
        };
        if start < at {
            pieces.push(TextPiece::Text(&text[start..at]));
        }
        from = at + length;
        pieces.push(TextPiece::Reference { name, written: &text[at..from] });
        start = from;
    }
    if start < text.len() {
        pieces.push(TextPiece::Text(&text[start..]));
    }
    pieces
}

/// The names that a text refers to, in order.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).into_iter().filter_map(|piece| match piece {
        TextPiece::Reference { name, .. } => Some(name),
        TextPiece::Text(_) => None,
    })
}

/// The reference at the beginning of a text, and its bytes.
fn reference_at(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix("{{")?.trim_start();
    let end = inner.find(|character: char| !(character.is_ascii_alphanumeric() || "_-.".contains(character)))?;
    let rest = inner[end..].trim_start().strip_prefix("}}")?;
    (end > 0).then(|| (&inner[..end], text.len() - rest.len()))
}

/// Puts values in place of references, up to so many bytes in all: a value may
/// be referred to often, and an answer has its bounds.
pub(crate) struct Resolver<V> {
    value_of: V,
    left_bytes: usize,
}

/// A text with the values that are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) text: String,
    /// What it still refers to, in order.
    pub(crate) waiting_for: Vec<String>,
}

impl<'v, V: Fn(&str) -> Option<&'v str>> Resolver<V> {
    pub(crate) fn new(value_of: V) -> Self {
        Self { value_of, left_bytes: limits::RESOLVED_BYTES }
    }

    /// Values are put in as they are: braces in them refer to nothing.
    pub(crate) fn resolve(&mut self, text: &str) -> Resolved {
        let mut resolved = Resolved { text: String::with_capacity(text.len()), waiting_for: Vec::new() };
        for piece in pieces(text) {
            match piece {
                TextPiece::Text(text) => resolved.text.push_str(text),
                TextPiece::Reference { name, written } => match (self.value_of)(name) {
                    Some(value) if self.spend(value) => resolved.text.push_str(value),
                    Some(_) => resolved.text.push_str(&format!("{written} (too long to repeat here: see stepsDone)")),
                    None => {
                        resolved.text.push_str(written);
                        resolved.waiting_for.push(name.to_owned());
                    }
                },
            }
        }
        resolved
    }

    /// Whether a value still fits, counted as JSON, where a control character
    /// takes six bytes.
    fn spend(&mut self, value: &str) -> bool {
        let bytes: usize =
            value
                .chars()
                .map(|character| {
                    if character < ' ' {
                        6
                    } else {
                        character.len_utf8() + usize::from(matches!(character, '"' | '\\'))
                    }
                })
                .sum();
        match self.left_bytes.checked_sub(bytes) {
            Some(left) => {
                self.left_bytes = left;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_and_other_braces_are_text() {
        let found = |text| names(text).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found("{{a}} and {{ b }}{{c_1}}"), ["a", "b", "c_1"]);
        assert_eq!(found("{{{a}}}"), ["a"]);
        assert_eq!(found("{{ {{a}}"), ["a"]);
        assert_eq!(found("{{user-name}} {{a.b}} {{1}}"), ["user-name", "a.b", "1"]);
        for text in ["", "{a}", "{{}}", "{{ }}", "{{a", "{{a}", "{{a b}}", "{{\"a\": 1}}", "{{가}}", "{{", "}}{{"] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_pieces_of_a_text_are_all_of_it() {
        for text in ["", "가{{a}}나", "{{a}}", "{{{a}}}{{", "{{ {{ a }}}"] {
            let whole: String = pieces(text)
                .into_iter()
                .map(|piece| match piece {
                    TextPiece::Text(text) | TextPiece::Reference { written: text, .. } => text,
                })
                .collect();
            assert_eq!(whole, text);
        }
    }

    #[test]
    fn known_values_are_put_in_once_and_unknown_ones_are_named() {
        let mut resolver = Resolver::new(|name| (name == "a").then_some("{{b}}"));
        let resolved = resolver.resolve("use {{ a }}, then {{b}}");
        assert_eq!(resolved.text, "use {{b}}, then {{b}}");
        assert_eq!(resolved.waiting_for, ["b"]);
    }

    #[test]
    fn values_are_put_in_until_there_is_no_room_and_then_pointed_at() {
        let value = "\u{1}".repeat(limits::RESOLVED_BYTES / 6);
        let mut resolver = Resolver::new(|_| Some(value.as_str()));
        assert_eq!(resolver.resolve("{{a}}").text, value);
        let resolved = resolver.resolve("{{a}}");
        assert_eq!(resolved.text, "{{a}} (too long to repeat here: see stepsDone)");
        assert!(resolved.waiting_for.is_empty());
    }

    #[test]
    fn an_outputs_name_begins_with_a_letter_and_has_letters_digits_and_underscores() {
        for name in ["a", "_", "userName_2", &"x".repeat(64)] {
            assert!(is_legal_name(name), "{name}");
        }
        for name in ["", "1a", "a-b", "a b", "a.b", "가", "{{a}}", &"x".repeat(65)] {
            assert!(!is_legal_name(name), "{name}");
        }
    }
}
