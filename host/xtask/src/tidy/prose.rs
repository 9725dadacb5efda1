//! Paragraphs of the documents, the first page and the map: none is longer than a reader takes in
//! at once.

use std::path::Path;

use super::{source::SourceFile, violation::Violation};

/// Words of a paragraph, or of one item of a list.
const MOST_WORDS: usize = 100;

/// Lines of the first page, in each language, and of the map; and where the rest belongs.
const MOST_LINES: [(&str, usize, &str); 3] =
    [("README.md", 150, "docs/"), ("README.ko.md", 150, "docs/"), ("ARCHITECTURE.md", 200, "docs/src/internals/")];

pub(super) fn check(source: &SourceFile) -> Vec<Violation> {
    let long = paragraphs(&source.text).into_iter().filter(|(_, words)| *words > MOST_WORDS);
    let long = long.map(|(line, words)| {
        let text = format!("a paragraph of {words} words, {MOST_WORDS} is the most - make it two, or a list");
        Violation::new(&source.path, line, text)
    });
    let lines = source.text.lines().count();
    let bound = MOST_LINES.into_iter().find(|(document, ..)| source.path == Path::new(document));
    let page = bound.filter(|(_, most, _)| lines > *most).map(|(_, most, place)| {
        let text = format!("{lines} lines, {most} is the most - the rest belongs into {place}");
        Violation::new(&source.path, most + 1, text)
    });
    long.chain(page).collect()
}

/// The first line of each paragraph, from 1, and its words. An item of a list is one of its
/// own; headings, tables and blocks of code are none.
fn paragraphs(text: &str) -> Vec<(usize, usize)> {
    let mut paragraphs = Vec::new();
    let (mut in_code, mut goes_on) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let fence = line.starts_with("```");
        in_code ^= fence;
        if in_code || fence || line.is_empty() || line.starts_with(['#', '|']) {
            goes_on = false;
            continue;
        }
        let words = line.split_whitespace().count();
        match paragraphs.last_mut() {
            Some((_, sum)) if goes_on && !is_item(line) => *sum += words,
            _ => paragraphs.push((index + 1, words)),
        }
        goes_on = true;
    }
    paragraphs
}

/// Whether a line begins an item of a list: `- `, `* ` or `1. `.
fn is_item(line: &str) -> bool {
    let numbered = line.split_once(". ").is_some_and(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    line.starts_with("- ") || line.starts_with("* ") || numbered
}

#[cfg(test)]
mod tests {
    use super::{super::violation, *};

    fn lines(path: &str, text: &str) -> Vec<usize> {
        violation::lines(check, path, text)
    }

    #[test]
    fn a_paragraph_of_over_a_hundred_words_is_found_and_a_shorter_one_is_fine() {
        let text = format!("# Heading\n\n{}\n{}\n\n{}", "word ".repeat(60), "word ".repeat(41), "word ".repeat(100));
        assert_eq!(lines("docs/src/start.md", &text), [3]);
        assert_eq!(lines("README.md", &text), [3]);
        assert_eq!(lines("wit/README.md", &text), [3]);
    }

    #[test]
    fn the_first_page_is_short_and_others_may_be_long() {
        assert!(lines("README.md", &"word\n\n".repeat(75)).is_empty());
        assert_eq!(lines("README.ko.md", &"word\n\n".repeat(76)), [151]);
        assert!(lines("CHANGELOG.md", &"word\n\n".repeat(76)).is_empty());
    }

    #[test]
    fn the_map_has_a_bound_of_its_own() {
        assert!(lines("ARCHITECTURE.md", &"word\n\n".repeat(100)).is_empty());
        assert_eq!(lines("ARCHITECTURE.md", &"word\n\n".repeat(101)), [201]);
    }

    #[test]
    fn items_tables_and_code_are_counted_apart() {
        let item = format!("- {}\n  {}\n", "word ".repeat(50), "word ".repeat(40));
        assert!(lines("README.md", &item.repeat(3)).is_empty());
        assert_eq!(lines("README.md", &format!("1. {}\n2. b", "word ".repeat(100))), [1]);
        let code = format!("```text\n{}\n```\n| {} |\n", "word ".repeat(200), "word ".repeat(200));
        assert!(lines("README.md", &code).is_empty());
    }
}
