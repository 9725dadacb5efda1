//! What of a flood of lines can never be seen.
//!
//! An emulator draws slower than programs print. Where text is nothing but
//! lines and colours, those that the lines behind them push out of all that is
//! kept leave nothing but their colours. Knows nothing of what is drawn.

/// Text of which all that matters is what a screen and the lines above it hold
/// at last, where that is shorter; nothing where every part may matter. Where
/// text begins to be kept, a line begins.
pub(super) fn shortened(text: &str, kept_lines: usize) -> Option<String> {
    if !only_lines(text) {
        return None;
    }
    let (start, _) = text.rmatch_indices("\r\n").nth(kept_lines)?;
    let mut kept = colours(&text[..start]);
    kept.push_str(&text[start..]);
    Some(kept)
}

/// Whether this is printed from the left to the right and from the top to the
/// bottom. A colour at the end may be cut.
fn only_lines(text: &str) -> bool {
    let mut parts = text.split('\x1b');
    let is_plain = |text: &str| !text.bytes().any(|byte| byte < b' ' && !matches!(byte, b'\r' | b'\n' | b'\t' | 7 | 8));
    parts.next().is_none_or(is_plain)
        && parts.all(|part| {
            part.strip_prefix('[').is_some_and(|part| {
                let rest = part.trim_start_matches(|next: char| next.is_ascii_digit() || matches!(next, ';' | ':'));
                rest.is_empty() || (rest.starts_with('m') && is_plain(rest))
            })
        })
}

/// The colours that are set behind a text, and those of before if it resets
/// none.
fn colours(text: &str) -> String {
    let reset = ["\x1b[0m", "\x1b[m"].into_iter().filter_map(|reset| text.rfind(reset)).max().unwrap_or(0);
    let parts = text[reset..].split('\x1b').skip(1);
    parts.filter_map(|part| part.split_once('m')).map(|(colour, _)| format!("\x1b{colour}m")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_and_colours_are_shortened_and_the_colours_stay() {
        let text = "a\x1b[31mb\r\nc\x1b[0md\x1b[1me\r\nf\r\ng";
        assert_eq!(shortened(text, 0).as_deref(), Some("\x1b[0m\x1b[1m\r\ng"));
        assert_eq!(shortened(text, 2).as_deref(), Some("\x1b[31m\r\nc\x1b[0md\x1b[1me\r\nf\r\ng"));
        assert_eq!(shortened(text, 3), None);
        assert!(shortened("a\r\nb\x1b[3", 0).is_some());
        for other in ["\x1b[K", "\x1b[A", "\x1b7", "\x0e", "\x1b]0;m\x07", "\x1b[5b", "\x18"] {
            assert_eq!(shortened(&format!("a\r\n{other}b\r\nc"), 0), None, "{other:?}");
        }
    }
}
