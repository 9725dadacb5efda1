//! [`Query`]: the parsed words of a search.

use std::collections::BTreeSet;

use crate::{Analysis, SearchError};

/// Distinct terms that a query may have; the rest is not looked for.
const MOST_TERMS: usize = 64;
/// Bytes of a query that are read.
const MOST_BYTES: usize = 64 * 1024;

/// Words, `"phrases"`, `-excluded` words and `-"excluded phrases"`.
///
/// A document matches if it has any of the words, all of the phrases, and
/// nothing that is excluded. The words of phrases count in its score as others
/// do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub(crate) analysis: Analysis,
    /// Terms that make the score, each once.
    pub(crate) scored: Vec<String>,
    /// All of these must occur.
    pub(crate) phrases: Vec<Phrase>,
    /// None of these may occur; a word is a phrase of one.
    pub(crate) excluded: Vec<Phrase>,
    cut: bool,
}

/// Terms that follow each other.
pub(crate) type Phrase = Vec<String>;

impl Query {
    /// Understands a query, whatever it holds. At most 64 distinct terms of it
    /// count.
    ///
    /// # Errors
    /// [`SearchError::EmptyQuery`] where it names nothing to look for.
    pub fn parse(text: &str, analysis: Analysis) -> Result<Self, SearchError> {
        let mut parser = Parser { analysis, distinct: BTreeSet::new(), cut: text.len() > MOST_BYTES };
        let text = &text[..text.floor_char_boundary(MOST_BYTES)];
        let (mut words, mut phrases, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces(text) {
            let terms = parser.terms(piece.text);
            match piece {
                _ if terms.is_empty() => {}
                QueryPiece { excluded: true, .. } => excluded.push(terms),
                QueryPiece { quoted: true, .. } => phrases.push(terms),
                QueryPiece { .. } => words.extend(terms),
            }
        }
        let telling: Vec<String> = words.iter().filter(|word| !analysis.is_stop_word(word)).cloned().collect();
        let mut scored = if telling.is_empty() && phrases.is_empty() { words } else { telling };
        scored.extend(phrases.iter().flatten().cloned());
        let mut seen = BTreeSet::new();
        scored.retain(|term| seen.insert(term.clone()));
        if scored.is_empty() {
            return Err(SearchError::EmptyQuery);
        }
        Ok(Self { analysis, scored, phrases, excluded, cut: parser.cut })
    }

    /// Whether it was longer than what is looked for.
    #[must_use]
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// Every phrase, wanted or not.
    pub(crate) fn all_phrases(&self) -> impl Iterator<Item = &Phrase> {
        self.phrases.iter().chain(&self.excluded)
    }
}

struct Parser {
    analysis: Analysis,
    distinct: BTreeSet<String>,
    cut: bool,
}

impl Parser {
    /// The terms of a piece, as long as there is room for them.
    fn terms(&mut self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.analysis.each(text, |token| {
            // A phrase is bounded by itself, for it may repeat few terms often.
            if terms.len() >= MOST_TERMS || (self.distinct.len() >= MOST_TERMS && !self.distinct.contains(&token.term))
            {
                self.cut = true;
                return false;
            }
            self.distinct.insert(token.term.clone());
            terms.push(token.term);
            true
        });
        terms
    }
}

struct QueryPiece<'text> {
    text: &'text str,
    excluded: bool,
    quoted: bool,
}

/// Splits a query at spaces and quotes. A quote that is never closed is
/// punctuation.
fn pieces(text: &str) -> Vec<QueryPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (excluded, after) = match rest.strip_prefix('-') {
            Some(after) => (true, after),
            None => (false, rest),
        };
        let quote = |letter: char| matches!(letter, '"' | '\u{201c}' | '\u{201d}');
        let quoted = after.strip_prefix(quote).and_then(|inside| inside.split_once(quote));
        let text;
        (text, rest) = match quoted {
            Some((inside, after)) => (inside, after),
            None => {
                // The first letter belongs to the word even if it is a quote.
                let first = after.chars().next().map_or(0, char::len_utf8);
                let end = after[first..].find(|letter: char| letter.is_whitespace() || quote(letter));
                after.split_at(end.map_or(after.len(), |end| first + end))
            }
        };
        pieces.push(QueryPiece { text, excluded, quoted: quoted.is_some() });
        rest = rest.trim_start();
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Query {
        Query::parse(text, Analysis { english_stop_words: true, ..Analysis::default() }).expect("it names something")
    }

    #[test]
    fn words_phrases_and_exclusions_are_told_apart() {
        let query = parse("Rust \"the borrow checker\" -java -\"garbage collector\" well-known -foo.bar");
        assert_eq!(query.scored, ["rust", "well", "known", "the", "borrow", "checker"]);
        assert_eq!(query.phrases, [["the", "borrow", "checker"]]);
        assert_eq!(query.excluded, [vec!["java"], vec!["garbage", "collector"], vec!["foo", "bar"]]);
    }

    #[test]
    fn stop_words_count_only_where_there_is_nothing_else() {
        assert_eq!(parse("the state of the art").scored, ["state", "art"]);
        assert_eq!(parse("to be or not to be").scored, ["to", "be", "or", "not"]);
    }

    #[test]
    fn a_query_of_ten_thousand_words_is_cut() {
        let words: Vec<String> = (0..10_000).map(|word| format!("word{word}")).collect();
        let query = parse(&words.join(" "));
        assert_eq!((query.scored.len(), query.was_cut()), (MOST_TERMS, true));
        assert_eq!(parse(&format!("\"{}\"", "again ".repeat(10_000))).phrases[0].len(), MOST_TERMS);
        assert!(!parse("short").was_cut());
    }

    #[test]
    fn nothing_to_look_for_is_an_error_and_odd_quotes_are_not() {
        for text in ["", "  ", "-java", "\"\"", "--- !?", "-\"a b\"", "\"", "-"] {
            assert_eq!(Query::parse(text, Analysis::default()), Err(SearchError::EmptyQuery), "{text}");
        }
        assert_eq!(parse("\"never closed").scored, ["never", "closed"]);
        assert_eq!(parse("one\"two three\"four").phrases, [["two", "three"]]);
    }
}
