//! The commonest English words, which say nothing about what a text is about.

const WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
];

pub(super) fn contains(term: &str) -> bool {
    WORDS.binary_search(&term).is_ok()
}
