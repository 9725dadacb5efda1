//! From text to terms: what counts as a word, and which words are the same.
//!
//! Words are runs of letters, digits and their marks. Chinese, Japanese and
//! Korean are written without spaces, or with endings grown onto the words, so
//! there every two neighbours are a term. It knows nothing of documents and
//! queries.

mod fold;
mod stop_words;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// Characters of a term; the rest of a longer word does not count.
const TERM_CHARACTERS: usize = 64;

/// What makes words the same, besides letters' case, width and marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Analysis {
    /// Reduces English words to their stems, so that `opening` finds `opens`.
    /// An index keeps what it was made with.
    pub english_stems: bool,
    /// Leaves the commonest English words out of queries, unless a query has no
    /// others or they stand in a phrase. They are indexed all the same.
    pub english_stop_words: bool,
}

/// A term, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What is looked up.
    pub term: String,
    /// Terms before it.
    pub position: u32,
    /// Byte where it begins in the text.
    pub start: usize,
    /// Byte after its end.
    pub end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    /// Written in pairs.
    Cjk,
    Other,
}

impl Analysis {
    /// What the stored terms depend on.
    pub(crate) fn stored(self) -> u64 {
        u64::from(self.english_stems)
    }

    pub(crate) fn is_stop_word(self, term: &str) -> bool {
        self.english_stop_words && stop_words::contains(term)
    }

    /// The terms of a text in order.
    #[must_use]
    pub fn tokens(self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.each(text, |token| {
            tokens.push(token);
            true
        });
        tokens
    }

    /// Calls `take` for each term until it returns false.
    pub(crate) fn each(self, text: &str, take: impl FnMut(Token) -> bool) {
        self.each_of(text, |_| true, take);
    }

    /// The same for the terms of words that are `wanted`; one in pairs is asked
    /// for as a whole. Positions count these only.
    pub(crate) fn each_of(self, text: &str, wanted: impl Fn(&str) -> bool, mut take: impl FnMut(Token) -> bool) {
        let stemmer = self.english_stems.then(|| Stemmer::new(Algorithm::English));
        let mut position = 0;
        for (start, run, script) in (ScriptRuns { text, at: 0 }).filter(|(_, run, _)| wanted(run)) {
            let mut next = |term: String, from: usize, to: usize| {
                let token = Token { term, position, start: start + from, end: start + to };
                position = position.saturating_add(1);
                token.term.is_empty() || take(token)
            };
            let goes_on = match script {
                Script::Cjk => pairs(run, &mut next),
                Script::Other => {
                    let cut = run.char_indices().nth(TERM_CHARACTERS).map_or(run.len(), |(at, _)| at);
                    let mut term = fold::fold(&run[..cut]);
                    if let Some(stemmer) = &stemmer
                        && term.bytes().all(|byte| byte.is_ascii_lowercase())
                    {
                        term = stemmer.stem(&term).into_owned();
                    }
                    next(term, 0, run.len())
                }
            };
            if !goes_on {
                return;
            }
        }
    }
}

/// Every two neighbours of a run, or the only one.
fn pairs(run: &str, next: &mut impl FnMut(String, usize, usize) -> bool) -> bool {
    let mut before: Option<(usize, String)> = None;
    let mut paired = false;
    for (at, grapheme) in run.grapheme_indices(true) {
        let cut = grapheme.char_indices().nth(TERM_CHARACTERS / 2).map_or(grapheme.len(), |(at, _)| at);
        let folded = fold::fold(&grapheme[..cut]);
        if let Some((start, first)) = before {
            paired = true;
            if !next(format!("{first}{folded}"), start, at + grapheme.len()) {
                return false;
            }
        }
        before = Some((at, folded));
    }
    match before {
        Some((start, only)) if !paired => next(only, start, run.len()),
        _ => true,
    }
}

/// Which bytes are plain letters and digits.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        plain[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    plain
};

/// Runs of one script, without what stands between words.
struct ScriptRuns<'text> {
    text: &'text str,
    at: usize,
}

impl<'text> Iterator for ScriptRuns<'text> {
    type Item = (usize, &'text str, Script);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let mut start = self.at;
        loop {
            match *bytes.get(start)? {
                byte if PLAIN[usize::from(byte)] => break,
                0..0x80 => start += 1,
                _ => {
                    let rest = &self.text[start..];
                    start += rest.find(|letter: char| letter.is_ascii() || letter.is_alphanumeric())?;
                    if !bytes.get(start)?.is_ascii() {
                        break;
                    }
                }
            }
        }
        // Most texts are ASCII for the most part, and this is read most often.
        let plain = bytes[start..].iter().take_while(|byte| PLAIN[usize::from(**byte)]).count();
        let run = &self.text[start..];
        let script = if plain > 0 { Script::Other } else { script_of(run.chars().next()?) };
        let ends =
            |letter: char| !is_combining_mark(letter) && (!letter.is_alphanumeric() || script_of(letter) != script);
        let end = match run.as_bytes().get(plain) {
            Some(0..0x80) | None if plain > 0 => plain,
            _ => plain + run[plain..].find(ends).unwrap_or(run.len() - plain),
        };
        self.at = start + end;
        Some((start, &run[..end], script))
    }
}

fn script_of(letter: char) -> Script {
    match letter {
        // Han with its repetition marks, Hiragana and Katakana, Bopomofo, and
        // the forms of half width.
        '\u{2e80}'..='\u{2fdf}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303c}'
        | '\u{3041}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{1aff0}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3fffd}'
        // Hangul, whole and in parts.
        | '\u{1100}'..='\u{11ff}'
        | '\u{3131}'..='\u{318e}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{ffa0}'..='\u{ffdc}' => Script::Cjk,
        _ => Script::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        Analysis::default().tokens(text).into_iter().map(|token| token.term).collect()
    }

    #[test]
    fn words_are_the_same_whatever_their_case_width_and_marks() {
        assert_eq!(
            terms("Ａｂｃ CAFÉ cafe\u{301} Straße ŁÓDŹ Æsir İstanbul"),
            ["abc", "cafe", "cafe", "strasse", "lodz", "aesir", "istanbul"]
        );
        assert_eq!(terms("ΟΔΥΣΣΕΥΣ οδυσσευς"), ["οδυσσευσ", "οδυσσευσ"]);
        assert_eq!(terms("Йод ЙОД"), ["йод", "йод"], "a letter of its own keeps its mark");
    }

    #[test]
    fn numbers_are_words_and_punctuation_is_none() {
        assert_eq!(terms("v1.95, foo_bar(42) - don't"), ["v1", "95", "foo", "bar", "42", "don", "t"]);
        assert!(terms(" \u{301}!?… \u{1f468}\u{200d}\u{1f469}").is_empty());
    }

    #[test]
    fn chinese_japanese_and_korean_are_pairs_and_a_lonely_letter_is_itself() {
        assert_eq!(terms("한국어 검색"), ["한국", "국어", "검색"]);
        assert_eq!(terms("検索エンジン"), ["検索", "索エ", "エン", "ンジ", "ジン"]);
        assert_eq!(terms("水 Rust语言2"), ["水", "rust", "语言", "2"]);
        assert_eq!(terms("ｶﾞｷﾞ"), terms("ガギ"), "half width");
        assert_eq!(terms("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"), terms("한국"), "letters in parts");
    }

    #[test]
    fn tokens_say_where_they_stand_in_the_text_as_it_was() {
        let text = "Ünï 한국어!";
        let found: Vec<_> = Analysis::default()
            .tokens(text)
            .into_iter()
            .map(|token| (token.position, &text[token.start..token.end]))
            .collect();
        assert_eq!(found, [(0, "Ünï"), (1, "한국"), (2, "국어")]);
    }

    #[test]
    fn stems_are_of_english_words_only_and_long_words_are_cut() {
        let analysis = Analysis { english_stems: true, ..Analysis::default() };
        let stems: Vec<_> = analysis.tokens("Openings opened größte").into_iter().map(|token| token.term).collect();
        assert_eq!(stems, ["open", "open", "grosst"]);
        assert_eq!(terms(&"a".repeat(1_000)), ["a".repeat(TERM_CHARACTERS)]);
    }
}
