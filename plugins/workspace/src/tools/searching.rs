//! The tool that finds files and lines.

use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::text as check_text;
use wharf_sdk::{Call, Reply, ToolError, tool};

use crate::files;
use crate::files::search::{FileQuery, Hit, SearchOutcome, search};
use crate::limits::{self, check_range, time_left};

/// Bytes of a compiled pattern.
const PATTERN_SIZE_BYTES: usize = 2 << 20;

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum CaseSensitivity {
    #[default]
    Sensitive,
    Insensitive,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchFiles {
    /// A regular expression (Rust's syntax) that a line must match. Left out, files are found by `glob` alone.
    #[schemars(length(min = 1, max = limits::PATTERN))]
    pattern: Option<String>,
    /// Which files, such as `*.rs`, `src/**/*.{ts,tsx}` or `**/test_*`. One without `/` looks at names in all directories.
    #[schemars(length(min = 1, max = limits::PATTERN))]
    glob: Option<String>,
    /// The directory to search, or one file, relative to the workspace; left out, all of the workspace.
    #[serde(default = "here")]
    #[schemars(length(min = 1, max = limits::PATH))]
    path: String,
    /// How many results to answer.
    #[serde(default = "default_results")]
    #[schemars(range(min = 1, max = limits::RESULTS))]
    max_results: usize,
    /// Whether "A" and "a" are told apart: "sensitive" or "insensitive".
    #[serde(default)]
    case: CaseSensitivity,
    /// How many lines to show before and after each.
    #[serde(default)]
    #[schemars(range(max = limits::CONTEXT_LINES))]
    context_lines: usize,
    /// Whether to look at files and directories whose names begin with a dot.
    #[serde(default)]
    hidden: bool,
}

fn here() -> String {
    ".".to_owned()
}

fn default_results() -> usize {
    limits::DEFAULT_RESULTS
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct FileMatch {
    /// Relative to the workspace.
    path: String,
    /// The number of the line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The line; cut around the match where it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Lines before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    /// Lines behind it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
    /// Bytes of the file, where only files were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct FileMatches {
    /// By path and line.
    matches: Vec<FileMatch>,
    /// How many files were looked at.
    files_searched: usize,
    /// Whether there may be more than these.
    truncated: bool,
    /// Why the search ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_because: Option<String>,
    /// Files that were passed over because they are binary.
    skipped_binary: usize,
    /// Files that were passed over because they have more than 8 MiB.
    skipped_large: usize,
    /// Files and directories that could not be read.
    unreadable: usize,
}

/// Finds lines that match a regular expression, or files by name, in the workspace. Passes over binary files, files of
/// more than 8 MiB, names that begin with a dot (unless `hidden`) and symbolic links; ends after 6 seconds or 16 KiB,
/// and says so.
#[tool(title = "Search files", read_only, idempotent, timeout_milliseconds = 60_000)]
pub(crate) fn search_files(call: &Call, input: SearchFiles) -> Result<Reply<FileMatches>, ToolError> {
    check_text("path", &input.path, limits::PATH)?;
    let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    check_range("max_results", number(input.max_results), 1, number(limits::RESULTS))?;
    check_range("context_lines", number(input.context_lines), 0, number(limits::CONTEXT_LINES))?;
    if input.pattern.is_none() && input.glob.is_none() {
        return Err(ToolError::invalid("give `pattern` for lines, `glob` for files, or both for lines in such files"));
    }
    let is_insensitive = input.case == CaseSensitivity::Insensitive;
    let wanted = FileQuery {
        pattern: input.pattern.as_deref().map(|pattern| regex(pattern, is_insensitive)).transpose()?,
        glob: input.glob.as_deref().map(|glob| matcher(glob, is_insensitive)).transpose()?,
        hidden: input.hidden,
        context_lines: input.context_lines,
        max_results: input.max_results,
    };
    let directory = files::to_read(call)?;
    let found = files::find(&directory, &input.path)?;
    let outcome = if directory.exists {
        let is_file = found.metadata.as_ref().is_some_and(std::fs::Metadata::is_file);
        if !is_file {
            found.directory().map_err(files::advised)?;
        }
        search(&found.path, &found.relative, is_file, &wanted, time_left(call))
    } else {
        // Nothing was written yet: the workspace itself is there to ask for.
        files::find_directory(&directory, &input.path)?;
        SearchOutcome::default()
    };
    Ok(Reply::new(words(&outcome), FileMatches::from(outcome)))
}

fn regex(pattern: &str, is_insensitive: bool) -> Result<Regex, ToolError> {
    check_text("pattern", pattern, limits::PATTERN)?;
    let regex = RegexBuilder::new(pattern).case_insensitive(is_insensitive).size_limit(PATTERN_SIZE_BYTES).build();
    regex.map_err(|error| {
        ToolError::invalid(format!(
            "`pattern` is no regular expression: {error}; put a backslash before characters that are meant as they are"
        ))
    })
}

fn matcher(glob: &str, is_insensitive: bool) -> Result<GlobMatcher, ToolError> {
    check_text("glob", glob, limits::PATTERN)?;
    let trimmed = glob.trim_start_matches("./").trim_start_matches('/');
    let anywhere = if trimmed.contains('/') { trimmed.to_owned() } else { format!("**/{trimmed}") };
    let built = GlobBuilder::new(&anywhere).literal_separator(true).case_insensitive(is_insensitive).build();
    let built = built.map_err(|error| ToolError::invalid(format!("`glob` is none: {error}")))?;
    Ok(built.compile_matcher())
}

impl From<SearchOutcome> for FileMatches {
    fn from(outcome: SearchOutcome) -> Self {
        let matches = outcome.hits.into_iter().map(|Hit { path, line, bytes }| match line {
            Some(line) => FileMatch {
                path,
                line: Some(line.number),
                text: Some(line.text),
                before: line.before,
                after: line.after,
                bytes: None,
            },
            None => {
                FileMatch { path, line: None, text: None, before: Vec::new(), after: Vec::new(), bytes: Some(bytes) }
            }
        });
        Self {
            matches: matches.collect(),
            files_searched: outcome.files,
            truncated: outcome.stopped.is_some(),
            stopped_because: outcome.stopped.map(str::to_owned),
            skipped_binary: outcome.skipped_binary,
            skipped_large: outcome.skipped_large,
            unreadable: outcome.unreadable,
        }
    }
}

fn words(outcome: &SearchOutcome) -> String {
    let mut text = match outcome.hits.len() {
        0 => format!("Nothing was found in {} files.", outcome.files),
        1 => format!("1 result in {} files:", outcome.files),
        count => format!("{count} results in {} files:", outcome.files),
    };
    for Hit { path, line, bytes } in &outcome.hits {
        let Some(line) = line else {
            text.push_str(&format!("\n{path}  {bytes} bytes"));
            continue;
        };
        let first = line.number.saturating_sub(u64::try_from(line.before.len()).unwrap_or(0));
        for (number, before) in (first..).zip(&line.before) {
            text.push_str(&format!("\n{path}-{number}- {before}"));
        }
        text.push_str(&format!("\n{path}:{}: {}", line.number, line.text));
        for (number, after) in (line.number + 1..).zip(&line.after) {
            text.push_str(&format!("\n{path}-{number}- {after}"));
        }
    }
    if let Some(why) = outcome.stopped {
        text.push_str(&format!("\nThere may be more: {why}. Narrow the search with `path` or `glob`."));
    }
    let passed: Vec<String> = [
        (outcome.skipped_binary, "binary"),
        (outcome.skipped_large, "of more than 8 MiB"),
        (outcome.unreadable, "unreadable"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    if !passed.is_empty() {
        text.push_str(&format!("\nPassed over: {}.", passed.join(", ")));
    }
    text
}
