//! Tools that bring files in and out, by the folders that the operator named.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::text as check_text;
use wharf_sdk::workspace::{Directory, ResolvedPath};
use wharf_sdk::{Call, Reply, ToolError, tool};

use crate::files::{self, replace};
use crate::limits::{self, time_left};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportFile {
    /// The name of the exchange folder. Any other name answers the list of them.
    #[schemars(length(min = 1, max = limits::PATH))]
    exchange: String,
    /// The file in that folder.
    #[schemars(length(min = 1, max = limits::PATH))]
    path: String,
    /// Where it goes in the workspace: a file, or a directory (which ends with `/`, or is there). Left out, it keeps its
    /// name.
    #[schemars(length(min = 1, max = limits::PATH))]
    to: Option<String>,
    /// Whether it may replace a file that is there.
    #[serde(default)]
    overwrite: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportFile {
    /// The file, relative to the workspace.
    #[schemars(length(min = 1, max = limits::PATH))]
    path: String,
    /// The name of the exchange folder. Any other name answers the list of them.
    #[schemars(length(min = 1, max = limits::PATH))]
    exchange: String,
    /// Where it goes in that folder: a file, or a directory (which ends with `/`, or is there). Left out, it keeps its
    /// name.
    #[schemars(length(min = 1, max = limits::PATH))]
    to: Option<String>,
    /// Whether it may replace a file that is there.
    #[serde(default)]
    overwrite: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct CopiedFile {
    /// The exchange folder.
    exchange: String,
    /// Where it came from, relative to its folder.
    from: String,
    /// Where it is now, relative to its folder.
    to: String,
    bytes: u64,
    /// Whether a file that was there was replaced.
    overwritten: bool,
}

/// Copies a file from an exchange folder, which the operator named for files that come in and go out, into the workspace.
/// Directories on the way are made. A file has at most 256 MiB.
#[tool(title = "Import a file", destructive, timeout_milliseconds = 300_000)]
pub(crate) fn import_file(call: &Call, input: ImportFile) -> Result<Reply<CopiedFile>, ToolError> {
    let folder = folder(call, &input.exchange)?;
    let workspace = files::to_write(call)?;
    let from = source(&folder, &input.path)?;
    let to = target(&workspace, &from, input.to.as_deref())?;
    copy(call, input.exchange, &from, &to, input.overwrite)
}

/// Copies a file of the workspace to an exchange folder, which the operator named for files that come in and go out, so that
/// people find it. Directories on the way are made. A file has at most 256 MiB.
#[tool(title = "Export a file", destructive, timeout_milliseconds = 300_000)]
pub(crate) fn export_file(call: &Call, input: ExportFile) -> Result<Reply<CopiedFile>, ToolError> {
    check_text("path", &input.path, limits::PATH)?;
    let folder = folder(call, &input.exchange)?;
    if !folder.writable {
        return Err(ToolError::denied(format!(
            "the exchange folder `{}` is for reading only; the operator decides that in \
             [plugin.NAME.grants.workspace]",
            input.exchange
        )));
    }
    let from = files::find_file(&files::to_read(call)?, &input.path)?;
    let to = target(&folder, &from, input.to.as_deref())?;
    copy(call, input.exchange, &from, &to, input.overwrite)
}

fn folder(call: &Call, name: &str) -> Result<Directory, ToolError> {
    let folders = call.workspace().exchange()?;
    let names: Vec<String> = folders.iter().map(|(name, _)| format!("`{name}`")).collect();
    let Some((_, folder)) = folders.into_iter().find(|(folder, _)| folder == name) else {
        let there = match names.len() {
            0 => "the operator named none".to_owned(),
            _ => format!("there are {}", names.join(", ")),
        };
        return Err(ToolError::not_found(format!("there is no exchange folder `{name}`: {there}")));
    };
    if !folder.exists {
        return Err(ToolError::not_found(format!("the exchange folder `{name}` does not exist now; ask the operator")));
    }
    Ok(folder)
}

fn source(folder: &Directory, path: &str) -> Result<ResolvedPath, ToolError> {
    check_text("path", path, limits::PATH)?;
    let found = folder.find(path)?;
    let missing = |error: ToolError| match error.code {
        wharf_sdk::ErrorCode::NotFound => {
            let (names, more) = names(folder);
            let more = if more { ", …" } else { "" };
            ToolError::not_found(format!("{} in that folder; it has: {}{more}", error.message, names.join(", ")))
        }
        _ => error,
    };
    found.file().map_err(missing)?;
    Ok(found)
}

/// Some names in a folder, and whether there are more.
fn names(folder: &Directory) -> (Vec<String>, bool) {
    let entries = std::fs::read_dir(&folder.path).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.take(limits::ENTRIES).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let more = names.len() > 20;
    names.truncate(20);
    (names, more)
}

fn target(directory: &Directory, from: &ResolvedPath, to: Option<&str>) -> Result<ResolvedPath, ToolError> {
    let name = from.relative.rsplit('/').next().unwrap_or(&from.relative);
    let Some(to) = to else { return directory.find(name) };
    check_text("to", to, limits::PATH)?;
    let found = directory.find(to)?;
    let is_directory = to.ends_with('/') || found.metadata.as_ref().is_some_and(|metadata| metadata.is_dir());
    if is_directory { directory.find(&format!("{to}/{name}")) } else { Ok(found) }
}

fn copy(
    call: &Call,
    exchange: String,
    from: &ResolvedPath,
    to: &ResolvedPath,
    overwrite: bool,
) -> Result<Reply<CopiedFile>, ToolError> {
    let overwritten = to.metadata.is_some();
    if overwritten {
        to.file()?;
        if !overwrite {
            return Err(ToolError {
                retryable: false,
                ..ToolError::conflict(format!(
                    "there is a file `{}` already; give `overwrite` true to replace it, or another `to`",
                    to.relative
                ))
            });
        }
    }
    let bytes = from.file()?.len();
    if bytes > limits::COPY_BYTES {
        return Err(ToolError::limit(format!(
            "`{}` has {bytes} bytes; {} are copied at most",
            from.relative,
            limits::COPY_BYTES
        )));
    }
    replace::make_parents(to)?;
    let bytes = replace::copy(from, to, limits::COPY_BYTES, || !time_left(call).is_zero())?;
    let copied = CopiedFile { exchange, from: from.relative.clone(), to: to.relative.clone(), bytes, overwritten };
    Ok(Reply::new(format!("Copied {} to {}: {bytes} bytes.", copied.from, copied.to), copied))
}
