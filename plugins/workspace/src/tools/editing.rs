//! The tool that replaces lines.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::TextDiff;
use wharf_sdk::check::{length as check_length, text as check_text};
use wharf_sdk::{Call, Reply, ToolError, tool};

use crate::files::edits::{Edit, apply};
use crate::files::{self, kind, replace};
use crate::limits;

/// How long a difference is looked for; afterwards it is larger than it must
/// be.
const DIFFERENCE_TIME: Duration = Duration::from_secs(2);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineReplacement {
    /// The first line to replace, counted from 1 in the file as it is now.
    #[schemars(range(min = 1))]
    start_line: usize,
    /// The last line to replace. One less than `start_line` replaces nothing and inserts before that line.
    end_line: usize,
    /// The lines that take their place; an empty text deletes them.
    #[schemars(length(max = limits::CONTENT))]
    content: String,
    /// The lines as they are now: where they are not so, nothing is replaced. Give it, so that no wrong lines are replaced.
    #[schemars(length(max = limits::CONTENT))]
    expect: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplaceLines {
    /// The file, relative to the workspace.
    #[schemars(length(min = 1, max = limits::PATH))]
    path: String,
    /// What to replace, in any order; all by the line numbers of the file as it is now. They may not overlap.
    #[schemars(length(min = 1, max = limits::EDITS))]
    replacements: Vec<LineReplacement>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ReplacedLines {
    /// Relative to the workspace.
    path: String,
    /// The change as a unified diff; cut where it is long.
    diff: String,
    /// Whether the diff is cut.
    diff_truncated: bool,
    lines_added: usize,
    lines_removed: usize,
    /// Lines of the file as it is now.
    total_lines: usize,
}

/// Replaces, inserts and deletes lines of a text file, several at once: all of them by one write, or none. Line numbers
/// are those of the file as it is before. Line endings and permissions stay. Answers a unified diff.
#[tool(title = "Replace lines in a file", destructive, timeout_milliseconds = 60_000)]
pub(crate) fn replace_lines_in_file(call: &Call, input: ReplaceLines) -> Result<Reply<ReplacedLines>, ToolError> {
    check_text("path", &input.path, limits::PATH)?;
    if input.replacements.is_empty() || input.replacements.len() > limits::EDITS {
        return Err(ToolError::invalid(format!("`replacements` has 1 to {} entries", limits::EDITS)));
    }
    let mut edits = Vec::with_capacity(input.replacements.len());
    for LineReplacement { start_line, end_line, content, expect } in input.replacements {
        check_length("content", &content, limits::CONTENT)?;
        edits.push(Edit { start: start_line, end: end_line, content, expected: expect });
    }
    // What is not there is not made for it.
    if !call.workspace().files()?.exists {
        files::find_file(&files::to_read(call)?, &input.path)?;
    }
    let directory = files::to_write(call)?;
    let found = files::find_file(&directory, &input.path)?;
    let before = directory.read(&input.path, limits::EDIT_BYTES).map_err(|error| match error.code {
        wharf_sdk::ErrorCode::Limit => {
            ToolError::limit(format!("{}; `sed -i` by execute_shell changes larger files", error.message))
        }
        _ => files::advised(error),
    })?;
    if let Some(looks) = kind::binary(&before) {
        return Err(ToolError::invalid(format!("`{}` is no text but looks like {looks}", found.relative)));
    }
    let after = apply(&before, &edits)?;
    if after == before {
        return Err(ToolError::invalid(format!(
            "the replacements leave `{}` as it is; nothing was written",
            found.relative
        )));
    }
    let replaced = difference(&found.relative, &before, &after);
    replace::write_changed(&found, &before, &after)?;
    let text = format!(
        "Changed {}: +{} -{} lines, {} in all.\n{}",
        replaced.path, replaced.lines_added, replaced.lines_removed, replaced.total_lines, replaced.diff
    );
    Ok(Reply::new(text, replaced))
}

fn difference(path: &str, before: &[u8], after: &[u8]) -> ReplacedLines {
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let deadline = Instant::now() + DIFFERENCE_TIME;
    let difference = TextDiff::configure().deadline(deadline).diff_lines(before.as_ref(), after.as_ref());
    let (mut lines_added, mut lines_removed) = (0, 0);
    for operation in difference.ops() {
        if operation.tag() != similar::DiffTag::Equal {
            lines_removed += operation.old_range().len();
            lines_added += operation.new_range().len();
        }
    }
    let mut unified = difference.unified_diff();
    let mut diff = unified.context_radius(3).header(&format!("a/{path}"), &format!("b/{path}")).to_string();
    let diff_truncated = diff.len() > limits::OUTPUT_BYTES;
    if diff_truncated {
        let most = diff.floor_char_boundary(limits::OUTPUT_BYTES);
        let line = diff.get(..most).and_then(|diff| diff.rfind('\n')).map_or(most, |newline| newline + 1);
        diff.truncate(line);
        diff.push_str("[... the rest of the diff is cut; read_file shows the file ...]\n");
    }
    ReplacedLines {
        path: path.to_owned(),
        diff,
        diff_truncated,
        lines_added,
        lines_removed,
        total_lines: after.lines().count(),
    }
}
