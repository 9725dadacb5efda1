//! [`Snippet`]: the part of a text that shows best why it was found.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::{Query, Token};

/// A part of a text, and what matched in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet<'text> {
    /// The part. It never begins or ends within a character as readers see it.
    pub text: &'text str,
    /// Bytes of the matched words in it, ascending.
    pub matches: Vec<Range<usize>>,
    /// Whether the text goes on before and after it.
    pub cut: (bool, bool),
}

impl Query {
    /// The part of at most `characters` (as readers see them) that has most of
    /// what was looked for. Without a match it is the beginning.
    #[must_use]
    pub fn snippet<'text>(&self, text: &'text str, characters: usize) -> Snippet<'text> {
        let bounds = CharacterBounds::of(text);
        // In characters, so that the window is as wide as what it may show.
        let mut matched: Vec<(Range<usize>, usize)> = Vec::new();
        // Most words are told apart by their first letters.
        let mut firsts = [false; 256];
        for first in self.scored.iter().filter_map(|term| term.bytes().next()) {
            firsts[usize::from(first)] = true;
            firsts[usize::from(first.to_ascii_uppercase())] = true;
        }
        let wanted = |run: &str| {
            let word = run.as_bytes();
            word.first().is_none_or(|first| !first.is_ascii() || firsts[usize::from(*first)])
                && (self.scored.iter().any(|term| may_become(word, term)) || !run.is_ascii())
        };
        self.analysis.each_of(text, wanted, |Token { term, start, end, .. }| {
            if let Some(which) = self.scored.iter().position(|scored| *scored == term) {
                matched.push((bounds.holding(start)..bounds.reaching(end), which));
            }
            true
        });
        let best = best_window(&matched, characters.max(1), self.scored.len());
        let whole = bounds.count();
        let window = around(&best, characters.max(1), whole);
        let start = if window.start == 0 { 0 } else { word_start(text, &bounds, &window, best.start) };
        let end = if window.end == whole { text.len() } else { word_end(text, &bounds, &window, best.end) };
        let mut marks: Vec<Range<usize>> = Vec::new();
        for (range, _) in &matched {
            let (from, to) = (bounds.at(range.start).max(start), bounds.at(range.end).min(end));
            if from >= to {
                continue;
            }
            match marks.last_mut() {
                // Pairs overlap.
                Some(last) if last.end + start >= from => last.end = last.end.max(to - start),
                _ => marks.push(from - start..to - start),
            }
        }
        Snippet { text: &text[start..end], matches: marks, cut: (start > 0, end < text.len()) }
    }
}

/// Whether a plain word may be a term once it is folded and stemmed. A stem is
/// never longer than its word, and begins as it does but for the last two
/// letters (`possibility` is `possibl`), of which there are none in the first two
/// unless a y stands there (`dying` is `die`). Stemming takes long, so it is worth
/// asking.
fn may_become(word: &[u8], term: &str) -> bool {
    let sure = term.len().saturating_sub(2).max(2).min(term.len());
    let (Some(begin), Some(wanted)) = (word.get(..sure), term.as_bytes().get(..sure)) else { return false };
    word.len() >= term.len()
        && (begin.eq_ignore_ascii_case(wanted)
            || matches!(begin, [first, b'y' | b'Y', ..] if first.to_ascii_lowercase() == wanted[0]))
}

/// Where the characters of a text begin, as readers see them.
enum CharacterBounds {
    /// At each byte, in a plain text of so many.
    Bytes(usize),
    /// At these, the end included.
    Listed(Vec<usize>),
}

impl CharacterBounds {
    fn of(text: &str) -> Self {
        if text.is_ascii() && !text.contains('\r') {
            return Self::Bytes(text.len());
        }
        Self::Listed(text.grapheme_indices(true).map(|(at, _)| at).chain(std::iter::once(text.len())).collect())
    }

    /// How many characters there are.
    fn count(&self) -> usize {
        match self {
            Self::Bytes(count) => *count,
            Self::Listed(bounds) => bounds.len() - 1,
        }
    }

    /// The byte where a character begins.
    fn at(&self, character: usize) -> usize {
        match self {
            Self::Bytes(_) => character,
            Self::Listed(bounds) => bounds[character],
        }
    }

    /// The character that holds a byte.
    fn holding(&self, byte: usize) -> usize {
        match self {
            Self::Bytes(_) => byte,
            Self::Listed(bounds) => bounds.partition_point(|bound| *bound <= byte).saturating_sub(1),
        }
    }

    /// The first character that begins at a byte or after it.
    fn reaching(&self, byte: usize) -> usize {
        match self {
            Self::Bytes(_) => byte,
            Self::Listed(bounds) => bounds.partition_point(|bound| *bound < byte),
        }
    }

    /// Whether a character begins at a byte.
    fn contains(&self, byte: usize) -> bool {
        match self {
            Self::Bytes(_) => true,
            Self::Listed(bounds) => bounds.binary_search(&byte).is_ok(),
        }
    }
}

/// The range of matches that fits and has most distinct terms, then most.
fn best_window(matched: &[(Range<usize>, usize)], width: usize, terms: usize) -> Range<usize> {
    let mut counts = vec![0_usize; terms];
    let (mut distinct, mut first) = (0, 0);
    let (mut best, mut best_worth) = (0..0, (0, 0));
    for (last, (range, which)) in matched.iter().enumerate() {
        counts[*which] += 1;
        distinct += usize::from(counts[*which] == 1);
        while first < last && range.end - matched[first].0.start > width {
            counts[matched[first].1] -= 1;
            distinct -= usize::from(counts[matched[first].1] == 0);
            first += 1;
        }
        let worth = (distinct, last - first);
        if worth > best_worth || best_worth == (0, 0) {
            (best, best_worth) = (matched[first].0.start..range.end, worth);
        }
    }
    best
}

/// A window of `width` around the best part, a third of what is left before it.
fn around(best: &Range<usize>, width: usize, whole: usize) -> Range<usize> {
    let spare = width.saturating_sub(best.len());
    let start = best.start.saturating_sub(spare / 3).min(whole.saturating_sub(width));
    start..whole.min(start + width)
}

/// Where the first whole word of the window begins, before its first match.
fn word_start(text: &str, bounds: &CharacterBounds, window: &Range<usize>, best: usize) -> usize {
    let before = bounds.at(window.start);
    let lead = &text[before..bounds.at(best.max(window.start))];
    let space = lead.find(char::is_whitespace).map(|at| &lead[at..]);
    let start = space.map_or(before, |rest| before + lead.len() - rest.trim_start().len());
    // White space may be part of a character as readers see it.
    if bounds.contains(start) { start } else { before }
}

/// Where the last whole word of the window ends, after its last match.
fn word_end(text: &str, bounds: &CharacterBounds, window: &Range<usize>, best: usize) -> usize {
    let after = bounds.at(window.end);
    let start = bounds.at(best.min(window.end));
    let end = text[start..after].rfind(char::is_whitespace).map(|at| text[..start + at].trim_end().len());
    // A word that is longer than the window is cut.
    end.filter(|end| *end >= start && bounds.contains(*end)).unwrap_or(after)
}

impl Snippet<'_> {
    /// The part with `before` and `after` around each match, and `…` where the
    /// text goes on.
    #[must_use]
    pub fn marked(&self, before: &str, after: &str) -> String {
        let mut marked = String::with_capacity(self.text.len() + 16);
        if self.cut.0 {
            marked.push('…');
        }
        let mut at = 0;
        for range in &self.matches {
            marked.push_str(&self.text[at..range.start]);
            marked.push_str(before);
            marked.push_str(&self.text[range.clone()]);
            marked.push_str(after);
            at = range.end;
        }
        marked.push_str(&self.text[at..]);
        if self.cut.1 {
            marked.push('…');
        }
        marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;

    #[test]
    fn no_word_that_becomes_a_term_is_passed_over() {
        let mut random = fastrand::Rng::with_seed(5);
        let analysis = Analysis { english_stems: true, ..Analysis::default() };
        let endings = [
            "", "s", "es", "ies", "ied", "ed", "ing", "ying", "y", "ly", "ally", "ful", "ness", "e", "eed", "'s",
            "ational", "ization", "ability", "ibility", "ivity", "fulness", "ousness", "ement", "ication", "ology",
            "logist", "ently", "fully", "eedly", "ably", "alism", "ative", "icate", "encies",
        ];
        let mut words =
            vec!["dying lying tying skis skies idly gently ugly early only singly news using Aging".to_owned()];
        for _ in 0..20_000 {
            let count = random.usize(1..5);
            let word: String =
                (0..count).filter_map(|_| random.choice(b"aeiouybcdlstxy").copied().map(char::from)).collect();
            words.push(word + random.choice(endings).unwrap_or_default());
        }
        for text in words {
            for token in analysis.tokens(&text) {
                assert!(may_become(&text.as_bytes()[token.start..token.end], &token.term), "{text}: {}", token.term);
            }
        }
    }
}
