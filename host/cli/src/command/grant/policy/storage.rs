//! Paths of a policy as files of the session, and as folders for import and export.

use std::path::PathBuf;

use wharf::grant::{Access, ExchangeFolder};

use super::{AccessKind, StorageRule};

/// The folder that stands for the files of the session.
const WORKSPACE: &str = "workspace";

/// What a rule allows, where a grant can allow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StoragePlace {
    /// All files of the session.
    Workspace,
    /// All in this folder of the machine.
    Folder(PathBuf),
}

/// The segments of a path before its first wildcard.
fn segments(uri: &str) -> Vec<&str> {
    let path = uri.strip_prefix("fs://").unwrap_or(uri);
    path.split('/')
        .filter(|segment| !matches!(*segment, "" | "."))
        .take_while(|segment| !segment.contains('*'))
        .collect()
}

/// Where a rule leads; the error says why no grant can name it.
pub(super) fn place(uri: &str) -> Result<StoragePlace, &'static str> {
    let path = uri.strip_prefix("fs://").ok_or("it is no path (`fs://…`)")?;
    let path = path.strip_suffix("/**").unwrap_or(path);
    if path.contains('*') {
        return Err("a grant of files has no wildcards: it is a whole folder, with all below it");
    }
    if path.chars().any(char::is_control) || path.split('/').any(|segment| segment == "..") {
        return Err("it is no plain path");
    }
    if path.trim_end_matches('/') == WORKSPACE {
        return Ok(StoragePlace::Workspace);
    }
    match path.strip_prefix('/') {
        Some(below) if below.trim_matches('/').is_empty() => {
            Err("it is the whole machine, with the files of Wharf itself")
        }
        Some(_) => Ok(StoragePlace::Folder(PathBuf::from(path.trim_end_matches('/')))),
        None if path.starts_with("workspace/") => {
            Err("it is a part of the workspace, and a grant of the workspace is for all files of the session")
        }
        None => {
            Err("it begins where that server keeps its plugins, which is no place here; absolute paths are fs:///…")
        }
    }
}

/// The access of a grant that is no more than these; the error says why there is none.
pub(super) fn access(kinds: &[AccessKind]) -> Result<Access, &'static str> {
    match (kinds.contains(&AccessKind::Read), kinds.contains(&AccessKind::Write)) {
        (true, true) => Ok(Access::Write),
        (true, false) => Ok(Access::Read),
        (false, _) => Err("who may write here may also read, and the policy allows writing alone"),
    }
}

/// Whether a rule of `deny` may touch what another allows. Where relative paths begin is
/// that server's own, so they are taken to begin anywhere that they could.
pub(super) fn touches(denied: &StorageRule, allowed: &StorageRule) -> bool {
    if !denied.access.iter().any(|kind| allowed.access.contains(kind)) {
        return false;
    }
    let (path, allowed) = (segments(&denied.uri), segments(&allowed.uri));
    let is_plain = denied.uri.starts_with("fs://") && !path.contains(&"..");
    !is_plain || path.starts_with(&allowed) || allowed.starts_with(&path)
}

/// A name for a folder that none of these has.
pub(super) fn folder(path: PathBuf, access: Access, taken: &[ExchangeFolder]) -> ExchangeFolder {
    let last = path.file_name().unwrap_or_default().to_string_lossy();
    let legal = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    let stem: String = last.chars().map(|character| if legal(character) { character } else { '-' }).take(48).collect();
    let stem = if matches!(stem.as_str(), "" | "." | "..") { "folder".to_owned() } else { stem };
    let is_taken = |name: &str| taken.iter().any(|folder| folder.name == name);
    let name = (2..).map(|number| format!("{stem}-{number}")).find(|name| !is_taken(name));
    let name = if is_taken(&stem) { name.unwrap_or_default() } else { stem };
    ExchangeFolder { name, path, access }
}
