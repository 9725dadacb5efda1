//! Folding: one spelling for what readers take for the same letters.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Compatible forms, case, and the marks of Latin letters. In other scripts a
/// mark makes another letter, so it stays.
pub(super) fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(word.len());
    let mut after_latin = false;
    for letter in word.nfkd() {
        if is_combining_mark(letter) {
            if !after_latin {
                folded.push(letter);
            }
            continue;
        }
        after_latin = is_latin(letter);
        for lower in letter.to_lowercase().filter(|lower| !is_combining_mark(*lower) || !after_latin) {
            match plain(lower) {
                Some(plain) => folded.push_str(plain),
                None => folded.push(lower),
            }
        }
    }
    folded.nfc().filter(|letter| letter.is_alphanumeric() || is_combining_mark(*letter)).collect()
}

fn is_latin(letter: char) -> bool {
    matches!(letter, 'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Letters that fold to others without being made of them.
fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' => "d",
        'ł' => "l",
        'ı' => "i",
        'ς' => "σ",
        _ => return None,
    })
}
