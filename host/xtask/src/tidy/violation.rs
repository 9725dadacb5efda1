//! What a rule finds.

use std::path::{Path, PathBuf};

#[cfg(test)]
use super::source::SourceFile;

/// One broken rule.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Violation {
    /// Relative to the root.
    pub(super) path: PathBuf,
    /// From 1; 0 where the whole file is meant.
    pub(super) line: usize,
    /// What is wrong, and how to mend it.
    pub(super) text: String,
    /// Warnings are shown and do not fail.
    pub(super) warning: bool,
}

impl Violation {
    pub(super) fn new(path: &Path, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_path_buf(), line, text: text.into(), warning: false }
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.warning { "warning: " } else { "" };
        write!(formatter, "{}:{}: {kind}{}", self.path.display(), self.line.max(1), self.text)
    }
}

/// The lines of a text at which a rule finds something.
#[cfg(test)]
pub(super) fn lines(check: impl FnOnce(&SourceFile) -> Vec<Violation>, path: &str, text: &str) -> Vec<usize> {
    let source = SourceFile { path: path.into(), text: text.into() };
    check(&source).into_iter().map(|violation| violation.line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_is_one_line_that_an_editor_can_follow() {
        let violation = Violation::new(Path::new("host/core/src/lib.rs"), 7, "too long - split it");
        assert_eq!(violation.to_string(), "host/core/src/lib.rs:7: too long - split it");
    }
}
