//! The tool that lists a directory.

use std::fs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wharf_sdk::check::text as check_text;
use wharf_sdk::{Call, Reply, ToolError, tool};

use crate::files;
use crate::limits::{self, check_range};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirectory {
    /// The directory, relative to the workspace; left out, the workspace itself.
    #[serde(default = "here")]
    #[schemars(length(min = 1, max = limits::PATH))]
    path: String,
    /// How many levels to show: 1 is the directory alone.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = limits::DEPTH))]
    depth: usize,
    /// Whether to show names that begin with a dot.
    #[serde(default)]
    hidden: bool,
}

fn here() -> String {
    ".".to_owned()
}

fn one() -> usize {
    1
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EntryKind {
    Directory,
    File,
    /// It is not followed here.
    Symlink,
    /// A pipe, a socket or a device.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DirectoryEntry {
    /// Relative to the workspace.
    path: String,
    kind: EntryKind,
    /// Bytes of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Listing {
    /// Relative to the workspace.
    path: String,
    /// Directories before files, each by name; what is in a directory follows it.
    entries: Vec<DirectoryEntry>,
    /// How many entries were left out because there are too many.
    omitted: usize,
    /// How many were left out because their names begin with a dot.
    hidden: usize,
    /// Directories whose content could not be read to its end.
    unreadable: Vec<String>,
}

/// Lists a directory (folder) of the workspace: directories first, files with their sizes, each by name. At most 1,000
/// entries come. To find files by name, search_files with `glob` is quicker.
#[tool(title = "List a directory", read_only, idempotent, timeout_milliseconds = 60_000)]
pub(crate) fn list_directory(call: &Call, input: ListDirectory) -> Result<Reply<Listing>, ToolError> {
    check_text("path", &input.path, limits::PATH)?;
    check_range("depth", u64::try_from(input.depth).unwrap_or(u64::MAX), 1, 5)?;
    let directory = files::to_read(call)?;
    let found = files::find_directory(&directory, &input.path)?;
    let mut listing = Listing { path: found.relative.clone(), ..Listing::default() };
    if !directory.exists {
        return Ok(Reply::new("The workspace is empty; nothing was written to it yet.", listing));
    }
    let prefix = if found.relative == "." { String::new() } else { format!("{}/", found.relative) };
    let mut left = ListingBudget { entries: limits::ENTRIES, bytes: limits::LISTING_BYTES };
    // Level by level, so that a deep directory does not crowd out the others.
    let mut level = vec![(found.path, prefix.clone())];
    for _ in 0..input.depth {
        let mut below = Vec::new();
        for (path, prefix) in level {
            for entry in listing.read(&path, &prefix, input.hidden, &mut left) {
                if entry.kind == EntryKind::Directory {
                    let name = entry.path.strip_prefix(&prefix).unwrap_or_default();
                    below.push((path.join(name), format!("{}/", entry.path)));
                }
                listing.entries.push(entry);
            }
        }
        level = below;
    }
    listing.arrange();
    Ok(Reply::new(listing.words(&prefix), listing))
}

/// How much of a listing is left.
struct ListingBudget {
    entries: usize,
    bytes: usize,
}

impl Listing {
    /// The entries of one directory, in order, as many as there is room for.
    fn read(
        &mut self,
        path: &std::path::Path,
        prefix: &str,
        hidden: bool,
        left: &mut ListingBudget,
    ) -> Vec<DirectoryEntry> {
        let Ok(read) = fs::read_dir(path) else {
            self.unreadable.push(prefix.trim_end_matches('/').to_owned());
            return Vec::new();
        };
        let mut entries = Vec::new();
        for entry in read {
            let Ok(entry) = entry else {
                self.unreadable.push(prefix.trim_end_matches('/').to_owned());
                break;
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') && !hidden {
                self.hidden += 1;
            } else if entries.len() >= limits::DIRECTORY_ENTRIES {
                self.omitted += 1;
            } else {
                let kind = entry.file_type().map_or(EntryKind::Other, kind_of);
                entries.push(DirectoryEntry { path: format!("{prefix}{name}"), kind, bytes: None });
            }
        }
        entries.sort_by(|left, right| order(left).cmp(&order(right)));
        let mut shown = Vec::new();
        for mut entry in entries {
            if left.entries == 0 || left.bytes < entry.path.len() {
                self.omitted += 1;
                continue;
            }
            left.entries -= 1;
            left.bytes -= entry.path.len();
            if entry.kind == EntryKind::File {
                let name = entry.path.strip_prefix(prefix).unwrap_or_default();
                entry.bytes = fs::symlink_metadata(path.join(name)).ok().map(|metadata| metadata.len());
            }
            shown.push(entry);
        }
        shown
    }

    /// What is in a directory behind it.
    fn arrange(&mut self) {
        let directories: std::collections::HashSet<String> = self
            .entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::Directory)
            .map(|entry| entry.path.clone())
            .collect();
        self.entries.sort_by_cached_key(|entry| {
            let mut key = Vec::new();
            for (at, _) in entry.path.match_indices('/').chain([(entry.path.len(), "")]) {
                let path = entry.path.get(..at).unwrap_or_default();
                // Every directory on the way is one, whether it is listed or
                // above what is.
                let is_directory = at < entry.path.len() || directories.contains(path);
                key.push((!is_directory, path.to_owned()));
            }
            key
        });
    }

    fn words(&self, prefix: &str) -> String {
        let mut text = match self.entries.len() {
            0 => format!("{} is empty.", self.path),
            count => format!("{}, {count} entries:", self.path),
        };
        for DirectoryEntry { path, kind, bytes } in &self.entries {
            let path = path.strip_prefix(prefix).unwrap_or(path);
            text.push_str(&match (kind, bytes) {
                (EntryKind::Directory, _) => format!("\n{path}/"),
                (EntryKind::File, Some(bytes)) => format!("\n{path}  {bytes} bytes"),
                (EntryKind::File, None) => format!("\n{path}"),
                (EntryKind::Symlink, _) => format!("\n{path}  (symbolic link)"),
                (EntryKind::Other, _) => format!("\n{path}  (pipe, socket or device)"),
            });
        }
        if self.hidden > 0 {
            text.push_str(&format!("\n{} hidden; `hidden` true shows them.", self.hidden));
        }
        if self.omitted > 0 {
            text.push_str(&format!(
                "\n{} more were left out; list a directory below, or search_files with `glob`.",
                self.omitted
            ));
        }
        if !self.unreadable.is_empty() {
            text.push_str(&format!("\nNot read to the end: {}.", self.unreadable.join(", ")));
        }
        text
    }
}

fn order(entry: &DirectoryEntry) -> (bool, &str) {
    (entry.kind != EntryKind::Directory, entry.path.as_str())
}

fn kind_of(kind: fs::FileType) -> EntryKind {
    match kind {
        kind if kind.is_dir() => EntryKind::Directory,
        kind if kind.is_file() => EntryKind::File,
        kind if kind.is_symlink() => EntryKind::Symlink,
        _ => EntryKind::Other,
    }
}
