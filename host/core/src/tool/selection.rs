//! Which tools the operator lets be listed and called, by patterns of their names.

use wildmatch::WildMatch;

use super::MAX_NAME_BYTES;

/// Patterns of the names of tools, in which `*` stands for any text and `?` for one character.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolSelection {
    tools: Option<Vec<WildMatch>>,
    skip_tools: Vec<WildMatch>,
}

/// A pattern that selects nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolPatternError {
    /// No name of a tool has such characters, or is so long.
    #[error("`{pattern}` is no pattern of names of tools: 1 to {most} characters of [A-Za-z0-9_-], `*` and `?`")]
    Malformed {
        /// The pattern.
        pattern: String,
        /// The most characters.
        most: usize,
    },
    /// The list selects nothing.
    #[error("`tools` is empty; leave it out to select all tools")]
    Empty,
    /// No tool is called so.
    #[error("`{pattern}` matches no tool; there are: {}", known.join(", "))]
    Unmatched {
        /// The pattern.
        pattern: String,
        /// The names that there are.
        known: Vec<String>,
    },
}

/// A listed name has the name of its plugin before its own.
const MOST_CHARACTERS: usize = 3 * MAX_NAME_BYTES;

impl ToolSelection {
    /// Those that one of `tools` matches, or all where absent, without those that one of
    /// `skip_tools` matches.
    ///
    /// # Errors
    /// [`ToolPatternError::Malformed`] and [`ToolPatternError::Empty`].
    pub fn new(tools: Option<Vec<String>>, skip_tools: Vec<String>) -> Result<Self, ToolPatternError> {
        if tools.as_ref().is_some_and(Vec::is_empty) {
            return Err(ToolPatternError::Empty);
        }
        if let Some(pattern) = tools.iter().flatten().chain(&skip_tools).find(|pattern| !is_legal(pattern)) {
            return Err(ToolPatternError::Malformed { pattern: pattern.clone(), most: MOST_CHARACTERS });
        }
        let read = |patterns: Vec<String>| patterns.iter().map(|pattern| WildMatch::new(pattern)).collect();
        Ok(Self { tools: tools.map(read), skip_tools: read(skip_tools) })
    }

    /// Whether it selects all tools.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.tools.is_none() && self.skip_tools.is_empty()
    }

    /// Whether it selects the tool of this name.
    #[must_use]
    pub fn selects(&self, name: &str) -> bool {
        let matches = |pattern: &WildMatch| pattern.matches(name);
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(matches)) && !self.skip_tools.iter().any(matches)
    }

    /// Checks that each pattern matches one of these names: one that does not is a misprint, or
    /// of another version.
    ///
    /// # Errors
    /// [`ToolPatternError::Unmatched`].
    pub fn check<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Result<(), ToolPatternError> {
        match self.unmatched(names.clone()).next() {
            Some(pattern) => Err(ToolPatternError::Unmatched { pattern, known: names.map(str::to_owned).collect() }),
            None => Ok(()),
        }
    }

    /// The patterns that match none of these names.
    pub fn unmatched<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> impl Iterator<Item = String> {
        let patterns = self.tools.iter().flatten().chain(&self.skip_tools);
        patterns.filter(move |pattern| !names.clone().any(|name| pattern.matches(name))).map(WildMatch::pattern)
    }
}

fn is_legal(pattern: &str) -> bool {
    (1..=MOST_CHARACTERS).contains(&pattern.len())
        && pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-*?".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(tools: Option<&[&str]>, skip_tools: &[&str]) -> Result<ToolSelection, ToolPatternError> {
        let owned = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<_>>();
        ToolSelection::new(tools.map(owned), owned(skip_tools))
    }

    #[test]
    fn tools_are_selected_by_patterns_and_skipped_by_others() {
        let chosen = selection(Some(&["read_*", "list"]), &["*_all", "read_?"]).expect("legal");
        let selected = |name| chosen.selects(name);
        assert!(selected("read_file") && selected("list"));
        assert!(!selected("write") && !selected("read_all") && !selected("read_x") && !selected("listed"));
        assert!(ToolSelection::default().is_all() && ToolSelection::default().selects("any"));
        assert!(selection(None, &["a"]).expect("legal").selects("b"));
    }

    #[test]
    fn a_pattern_that_selects_nothing_is_an_error() {
        for wrong in ["", "read file", "../x", "a\u{200b}", &"a".repeat(MOST_CHARACTERS + 1)] {
            let error = selection(Some(&["a", wrong]), &[]).expect_err(wrong);
            assert!(matches!(error, ToolPatternError::Malformed { .. }), "{error}");
            assert!(selection(None, &[wrong]).is_err(), "{wrong:?}");
        }
        assert_eq!(selection(Some(&[]), &[]), Err(ToolPatternError::Empty));
        let names = ["read_file", "list"];
        let check = |tools: &[&str], skipped: &[&str]| {
            selection(Some(tools), skipped).expect("legal").check(names.iter().copied())
        };
        assert_eq!(check(&["read_*", "l?st"], &["*"]), Ok(()));
        let error = check(&["read_*"], &["reed_*"]).expect_err("a misprint").to_string();
        assert_eq!(error, "`reed_*` matches no tool; there are: read_file, list");
    }
}
