//! How long a Rust file may be, and how modules lie in files.

use super::{source::SourceFile, violation::Violation};

/// More is a warning.
const LARGE_LINES: usize = 400;

/// More is refused.
const LARGEST_LINES: usize = 500;

pub(super) fn check(source: &SourceFile) -> Vec<Violation> {
    let old_layout = source
        .path
        .ends_with("mod.rs")
        .then(|| Violation::new(&source.path, 0, "a `mod.rs` - name the file after its module, beside the folder"));
    length(source).into_iter().chain(old_layout).collect()
}

fn length(source: &SourceFile) -> Option<Violation> {
    let lines = source.text.lines().count();
    if lines <= LARGE_LINES || source.text.starts_with("// @generated") {
        return None;
    }
    let text = format!("{lines} lines, {LARGE_LINES} is a lot - make it two modules about one thing each");
    let violation = Violation::new(&source.path, LARGE_LINES + 1, text);
    Some(Violation { warning: lines <= LARGEST_LINES, ..violation })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_lines(lines: usize) -> Option<Violation> {
        length(&SourceFile { path: "a.rs".into(), text: "line\n".repeat(lines) })
    }

    #[test]
    fn over_400_lines_is_a_warning_and_over_500_an_error() {
        assert_eq!(of_lines(400), None);
        assert!(of_lines(401).expect("a warning").warning);
        assert!(of_lines(500).expect("a warning").warning);
        assert!(!of_lines(501).expect("an error").warning);
    }

    #[test]
    fn a_module_lies_beside_its_folder_and_not_in_it() {
        let found = |path: &str| check(&SourceFile { path: path.into(), text: "line".into() }).len();
        assert_eq!((found("host/a/src/b/mod.rs"), found("host/a/src/b.rs")), (1, 0));
    }
}
