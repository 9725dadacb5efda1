//! Text from a plugin, made safe for a log, a terminal or a client.

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

/// Whether a character may change how a terminal or a log shows what follows:
/// C0 and C1 controls and DEL, and the marks that reorder text.
fn controls(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line without control characters, at most `bytes` long.
#[must_use]
pub fn line(text: &str, bytes: usize) -> String {
    cut(text, bytes).chars().filter(|character| !controls(*character)).collect()
}

/// Text for a client: line breaks and tabs stay, other control characters go.
///
/// Returns the input where there is nothing to take out.
#[must_use]
pub fn visible(text: String) -> String {
    let keep = |character: char| matches!(character, '\n' | '\r' | '\t') || !controls(character);
    // Nearly all text is clean; bytes below tell without decoding.
    let suspicious = text.bytes().any(|byte| {
        (byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t')) || byte == 0x7f || byte == 0xc2 || byte == 0xe2
    });
    if !suspicious || text.chars().all(keep) {
        return text;
    }
    text.chars().filter(|character| keep(*character)).collect()
}

/// An error and its causes in one line, for a person.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_never_splits_a_character() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("한글", 4), "한");
        assert_eq!(cut("abc", 9), "abc");
    }

    #[test]
    fn a_line_has_no_way_to_move_the_cursor_or_start_another_line() {
        assert_eq!(line("a\u{1b}[2Jb\r\nc\u{9b}1m\u{202e}", 100), "a[2Jbc1m");
    }

    #[test]
    fn visible_text_keeps_line_breaks_and_letters_of_any_script() {
        let clean = "één\n\ttwee 한국어 — “quoted”".to_owned();
        assert_eq!(visible(clean.clone()), clean);
        assert_eq!(visible("a\u{1b}]0;title\u{7}b\u{85}".to_owned()), "a]0;titleb");
    }
}
