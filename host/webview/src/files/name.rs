//! Names of files as a page gives them, made into names that can be used.

use wharf_core::text::{cut, line};

/// The longest name, in bytes. With what tells it from others it is still legal
/// everywhere.
const MAXIMUM_BYTES: usize = 200;
/// The longest extension that is kept where a name is cut.
const MAXIMUM_EXTENSION: usize = 24;

/// A name without a path, control characters, and dots or blanks at its ends.
pub(super) fn clean(raw: &str) -> String {
    let last = raw.rsplit(['/', '\\']).next().unwrap_or_default();
    let edges = |character: char| character == '.' || character.is_whitespace();
    // Cut first: what is left of a long one is all that is looked at.
    let name = line(last, usize::MAX);
    let name = name.trim_start_matches(edges).trim_end_matches(edges);
    if name.is_empty() {
        return "download".to_owned();
    }
    let (stem, extension) = split(name);
    if name.len() <= MAXIMUM_BYTES {
        return name.to_owned();
    }
    format!("{}{extension}", cut(stem, MAXIMUM_BYTES - extension.len()).trim_end_matches(edges))
}

/// The same name for the second file of it, the third, and so on.
pub(super) fn numbered(name: &str, number: u32) -> String {
    let (stem, extension) = split(name);
    if number < 2 { name.to_owned() } else { format!("{stem} ({number}){extension}") }
}

/// A name and its extension, with the dot; none where that is too long to be one.
fn split(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 && name.len() - dot <= MAXIMUM_EXTENSION => name.split_at(dot),
        _ => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_path_hidden_or_too_long() {
        for (raw, cleaned) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Windows\\notes.txt", "notes.txt"),
            ("..", "download"),
            ("", "download"),
            ("/", "download"),
            (".bashrc", "bashrc"),
            (" . .. hidden. ", "hidden"),
            ("a\0b\n\u{1b}[2J\u{202e}c.txt", "ab[2Jc.txt"),
            ("보고서.한글.hwp", "보고서.한글.hwp"),
        ] {
            assert_eq!(clean(raw), cleaned, "{raw:?}");
        }
        let long = clean(&format!("{}.tar.gz", "가".repeat(1_000)));
        assert!(long.len() <= MAXIMUM_BYTES && long.ends_with("가.gz"), "{long}");
        let odd = clean(&format!("a.{}", "b".repeat(1_000)));
        assert_eq!(odd.len(), MAXIMUM_BYTES);
    }

    #[test]
    fn the_second_file_of_a_name_keeps_its_extension() {
        assert_eq!(numbered("report.pdf", 1), "report.pdf");
        assert_eq!(numbered("report.pdf", 2), "report (2).pdf");
        assert_eq!(numbered("README", 3), "README (3)");
    }
}
