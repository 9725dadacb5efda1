//! Where to cut what is too long: after a line, a sentence, a word, a character.
//! It looks no further than a chunk may be long, so that cutting a text of any
//! shape costs as much as the text is long.

use unicode_segmentation::UnicodeSegmentation;

/// A single character (as readers see it) may have so many times the bytes that
/// were allowed before it is cut, between the code points that it is made of.
const OVERLONG: usize = 4;

/// Bytes of the first part of a text that is longer than `most`: near `target`
/// where it can be, at most `most`, unless its first character is longer.
pub(crate) fn cut(text: &str, target: usize, most: usize) -> usize {
    let window = &text[..text.floor_char_boundary(most)];
    let near = text.floor_char_boundary(target).min(window.len());
    let lines = || memchr::memchr_iter(b'\n', window.as_bytes()).map(|end| end + 1);
    best(lines(), near)
        .or_else(|| best(inner(window.split_sentence_bound_indices(), window), near))
        .or_else(|| best(inner(window.split_word_bound_indices(), window).filter(|at| ends_word(window, *at)), near))
        .or_else(|| inner(window.grapheme_indices(true), window).last())
        .unwrap_or_else(|| overlong(text, most))
}

/// The last place up to the target, else the first one after it.
fn best(mut places: impl Iterator<Item = usize>, target: usize) -> Option<usize> {
    let mut before = None;
    loop {
        match places.next() {
            Some(place) if place <= target => before = Some(place),
            after => return before.or(after),
        }
    }
}

/// The bounds within a window: not its beginning, and none that is close to its
/// end, where what comes after it could make it no bound at all.
fn inner<'text>(parts: impl Iterator<Item = (usize, &'text str)>, window: &str) -> impl Iterator<Item = usize> {
    let end = window.len();
    parts.map(|(at, _)| at).filter(move |at| *at > 0 && *at < end)
}

/// Whether a word ends here: after a blank, or between words that are written
/// without blanks, but not before the punctuation that closes a word.
fn ends_word(window: &str, at: usize) -> bool {
    let before = window[..at].chars().next_back();
    let after = window[at..].chars().next();
    before.is_some_and(|c| c.is_whitespace() || !c.is_ascii()) && after.is_some_and(char::is_alphanumeric)
}

/// Bytes of the first character, cut where it goes on and on.
fn overlong(text: &str, most: usize) -> usize {
    let window = &text[..text.floor_char_boundary(most.saturating_mul(OVERLONG))];
    let first = text.chars().next().map_or(0, char::len_utf8);
    window.grapheme_indices(true).nth(1).map_or(window.len(), |(at, _)| at).max(first)
}

/// The beginning of a text, cut between characters as readers see them.
pub(crate) fn within(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let window = &text[..text.floor_char_boundary(most)];
    match window.grapheme_indices(true).next_back() {
        Some((at, _)) if at > 0 => &window[..at],
        _ => window,
    }
}
