//! Text from a plugin, a page, a program or a front end, made safe for a log, a
//! terminal, a client and its model.
//!
//! One rule, for all of it: a model reads what a person sees. What is taken out and
//! what stays is in [`rule`]; [`visible`] keeps the lines of a text, [`line`] makes one
//! line of it, [`visible_value`] goes through JSON, and [`Following`] through a text
//! that comes in pieces.

mod following;
mod rule;
#[cfg(test)]
mod tests;
mod value;

pub use following::Following;
pub use value::{visible_json, visible_value};

/// Cuts `text` to at most `bytes`, on a character boundary.
#[must_use]
pub fn cut(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// One line of visible characters, at most `bytes` long. Tabs and line breaks go, too.
#[must_use]
pub fn line(text: &str, bytes: usize) -> String {
    let mut line = cut(text, bytes).to_owned();
    if let Some(clean) = rule::cleaned(&line, None) {
        line = clean;
    }
    line.retain(|character| !matches!(character, '\n' | '\t'));
    line
}

/// Text for a client: tabs and line breaks stay, every other invisible character goes.
/// Every kind of line break becomes `\n`.
///
/// Returns the input where there is nothing to take out.
#[must_use]
pub fn visible(text: String) -> String {
    rule::cleaned(&text, None).unwrap_or(text)
}

/// Whether [`visible`] would return this text as it is.
#[must_use]
pub fn is_visible(text: &str) -> bool {
    rule::cleaned(text, None).is_none()
}

/// An error and its causes in one line, for a person. A cause that the error has said itself is not
/// said again.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = next.source();
    }
    text
}

/// A word as a person can paste it into a shell: as it is where that is safe, quoted
/// otherwise.
#[must_use]
pub fn for_shell(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:=@%,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
