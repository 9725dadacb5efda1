//! A tool with files: the workspace is the directory of the caller's session.

use wharf_sdk::{Call, Reply, ToolError, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    /// What to write down.
    #[schemars(length(min = 1, max = 10_000))]
    text: String,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Noted {
    /// The file, relative to the workspace.
    path: String,
    /// Its bytes.
    bytes: usize,
}

/// Writes a note into the workspace of the session, in place of the one before.
#[tool(title = "Write a note")]
pub(crate) fn write_note(call: &Call, input: Note) -> Result<Reply<Noted>, ToolError> {
    let files = call.workspace().create()?;
    let path = "note.txt";
    std::fs::write(files.path.join(path), &input.text)
        .map_err(|error| ToolError::from_file("be written", path, &error))?;
    Ok(Reply::new(format!("Wrote {path}."), Noted { path: path.to_owned(), bytes: input.text.len() }))
}
