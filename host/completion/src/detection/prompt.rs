//! What the cursor's row looks like when a program waits for somebody.
//!
//! Owns the patterns. It never sees output: a text counts as a prompt only
//! where the cursor stands behind it on the rendered screen.

use std::sync::{Arc, LazyLock};

use regex::{RegexSet, RegexSetBuilder};
use wharf_core::expression::{CompileBudget, CostlyExpression};

/// The longest pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1_024;
/// The most patterns of one kind.
const MAX_PATTERNS: usize = 64;
/// What the patterns that are compiled together may take, and their matching cache.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// A longer row is no prompt: nobody reads so much before typing.
const MAX_ROW_BYTES: usize = 1_024;

/// Questions and pagers: a program that prints one of these waits for input. The first
/// three are the examples of the facts that this module goes by.
const QUESTIONS: &[&str] = &[
    r"(?i)[(\[](y/n|yes/no|y/n/[a-z/?]+|yes/no/\[?[^)\]]{1,30}\]?)[)\]]\s?[:?]?\s?$",
    r"(?i)\b(password|passphrase|passcode|verification code)( for [^:]{1,100})?:\s?$",
    r"\(END\)\s?$",
    r"^--\s?More\s?--(\s?\([^)]{1,30}\))?\s?$",
    r"^lines \d+-\d+(/\d+)?( [\d.]+%)?\s?$",
    r"(?i)^(press|hit) (enter|return|any key)( or type command)?( to continue)?[.:]*\s?$",
];

/// Whole rows of interactive programs.
const REPLS: &[&str] = &[
    r"^>>> ?$",
    // With their spaces, since programs show progress by dots.
    r"^\.\.\. $",
    r"^ +\.\.\.> ?$",
    r"^In \[\d+\]: ?$",
    r"^\((gdb|lldb|Pdb|ipdb)\) ?$",
    r"^(sqlite|ftp|sftp|telnet|octave:\d+|ghci|iex\(\d+\)|scala|mysql|jshell)> ?$",
    r"^[a-z_][a-z0-9_]{0,62}[=-][#>] ?$",
    r#"^irb\([^)]{1,40}\):\d+(:\d+)?[>*"'] *$"#,
];

/// Whole rows of shells whose prompt names user and machine. They matter on other
/// machines, where the host cannot see what the shell does.
const SHELLS: &[&str] = &[
    r"^(\([^()]{1,60}\) ?)?\[?[A-Za-z_][A-Za-z0-9_.-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]{0,62}[: ][^$#%>:]{0,200}[^\s$#%>:][$#] $",
];

/// What most prompts end with. The document on interactive sessions ends them
/// with `>`; arrows and bars end so too, and are left out.
const ENDINGS: &[&str] = &[
    r"(^|[^-=~*#.<>|])>{1,3}\s?$",
    r"\S[:?]\s?$",
    r"(^|[^$\d])\$\s?$",
    r"(^|[^#])#\s?$",
    r"(^|[^%\d\s])%\s?$",
    r"[❯➜λ»]\s?$",
];

/// Patterns of two kinds. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub struct Prompts {
    strict: Patterns,
    broad: Patterns,
}

/// Patterns of one kind: those of the preset, of the profile and of the turn, each compiled
/// once and shared from then on.
#[derive(Debug, Clone, Default)]
struct Patterns(Vec<Arc<RegexSet>>);

impl Patterns {
    fn len(&self) -> usize {
        self.0.iter().map(|set| set.len()).sum()
    }

    fn and(&self, more: &Self) -> Result<Self, InvalidPrompt> {
        let all = Self(self.0.iter().chain(&more.0).cloned().collect());
        match all.len() {
            0..=MAX_PATTERNS => Ok(all),
            given => Err(InvalidPrompt::TooMany { given }),
        }
    }

    fn is_match(&self, row: &str) -> bool {
        self.0.iter().any(|set| set.is_match(row))
    }
}

/// Of which kind a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// Nothing else looks so.
    Strict,
    /// Other things look so too.
    Broad,
}

/// Why a text is no pattern of a prompt.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPrompt {
    /// It is too long.
    #[error("a pattern has at most {MAX_PATTERN_BYTES} bytes, this one has {given}")]
    TooLong {
        /// Its length.
        given: usize,
    },
    /// There are too many.
    #[error("there are at most {MAX_PATTERNS} patterns of one kind, not {given}")]
    TooMany {
        /// How many were given.
        given: usize,
    },
    /// It, with those before it, takes too long to compile.
    #[error(transparent)]
    Costly(#[from] CostlyExpression),
    /// It finds a prompt on an empty row.
    #[error("the pattern {pattern:?} matches an empty row, so every line break would be a prompt")]
    MatchesNothing {
        /// The pattern.
        pattern: String,
    },
    /// One is no regular expression, or they multiply out to too much.
    #[error("{problem}")]
    Syntax {
        /// What is wrong, in words.
        problem: String,
    },
}

static QUESTIONS_ALONE: LazyLock<Prompts> = LazyLock::new(|| Prompts::known(QUESTIONS, &[], &[]));
static STANDARD: LazyLock<Prompts> = LazyLock::new(|| Prompts::known(QUESTIONS, SHELLS, ENDINGS));
static WITH_REPLS: LazyLock<Prompts> = LazyLock::new(|| Prompts::known(QUESTIONS, &[REPLS, SHELLS].concat(), ENDINGS));

impl Prompts {
    /// Compiles patterns, within what the budget has left. `^` and `$` are the ends of the
    /// row.
    ///
    /// # Errors
    /// Where there are too many, one is too long, takes too long to compile, is malformed,
    /// or matches an empty row.
    pub fn new(strict: &[&str], broad: &[&str], budget: &mut CompileBudget) -> Result<Self, InvalidPrompt> {
        Ok(Self { strict: compile(strict, budget)?, broad: compile(broad, budget)? })
    }

    /// No row is a prompt: for streams that no terminal is behind.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Questions and pagers.
    #[must_use]
    pub fn questions() -> Self {
        QUESTIONS_ALONE.clone()
    }

    /// Questions, pagers, shells whose prompt names user and machine, and broadly what
    /// prompts end with.
    #[must_use]
    pub fn standard() -> Self {
        STANDARD.clone()
    }

    /// The standard ones and, strictly, the whole rows of known interactive
    /// programs.
    #[must_use]
    pub fn interactive() -> Self {
        WITH_REPLS.clone()
    }

    /// These, and more strict ones.
    ///
    /// # Errors
    /// As [`Prompts::new`].
    pub fn with_strict(&self, more: &[&str], budget: &mut CompileBudget) -> Result<Self, InvalidPrompt> {
        self.with_strict_of(&Self { strict: compile(more, budget)?, ..Self::none() })
    }

    /// These, and the strict ones of others.
    ///
    /// # Errors
    /// Where they are too many together.
    pub fn with_strict_of(&self, others: &Self) -> Result<Self, InvalidPrompt> {
        Ok(Self { strict: self.strict.and(&others.strict)?, broad: self.broad.clone() })
    }

    /// These, and the broad ones of others.
    ///
    /// # Errors
    /// Where they are too many together.
    pub fn with_broad_of(&self, others: &Self) -> Result<Self, InvalidPrompt> {
        Ok(Self { strict: self.strict.clone(), broad: self.broad.and(&others.broad)? })
    }

    /// Of which kind a row is; strict where it is both.
    #[must_use]
    pub fn find(&self, row: &str) -> Option<PromptKind> {
        if row.len() > MAX_ROW_BYTES || row.trim().is_empty() {
            None
        } else if self.strict.is_match(row) {
            Some(PromptKind::Strict)
        } else {
            self.broad.is_match(row).then_some(PromptKind::Broad)
        }
    }

    /// Patterns of this file. A test compiles each, so none is ever left out.
    fn known(strict: &[&str], more: &[&str], broad: &[&str]) -> Self {
        let mut budget = CompileBudget::new(CompileBudget::OPERATOR);
        Self::new(&[strict, more].concat(), broad, &mut budget).unwrap_or_default()
    }
}

fn compile(patterns: &[&str], budget: &mut CompileBudget) -> Result<Patterns, InvalidPrompt> {
    if patterns.is_empty() {
        return Ok(Patterns::default());
    }
    if patterns.len() > MAX_PATTERNS {
        return Err(InvalidPrompt::TooMany { given: patterns.len() });
    }
    if let Some(long) = patterns.iter().find(|pattern| pattern.len() > MAX_PATTERN_BYTES) {
        return Err(InvalidPrompt::TooLong { given: long.len() });
    }
    patterns.iter().try_for_each(|pattern| budget.spend_on(pattern))?;
    let compiled = RegexSetBuilder::new(patterns)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_COMPILED_BYTES)
        .build()
        .map_err(|error| InvalidPrompt::Syntax { problem: error.to_string() })?;
    let empty = compiled.matches("").into_iter().next();
    match empty.and_then(|index| patterns.get(index)) {
        Some(pattern) => Err(InvalidPrompt::MatchesNothing { pattern: (*pattern).to_owned() }),
        None => Ok(Patterns(vec![Arc::new(compiled)])),
    }
}

#[cfg(test)]
mod tests;
