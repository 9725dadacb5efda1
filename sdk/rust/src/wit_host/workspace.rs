//! The workspace of [`WitHost`]. Wasm only; it converts and holds no logic.

use super::WitHost;
use crate::ToolError;
use crate::bindings::wharf::plugin::workspace;
use crate::host::HostWorkspace;
use crate::workspace::{Directory, Usage};

impl HostWorkspace for WitHost {
    fn files(&self) -> Result<Directory, ToolError> {
        Ok(workspace::files()?.into())
    }

    fn create(&self) -> Result<Directory, ToolError> {
        Ok(workspace::create()?.into())
    }

    fn exchange(&self) -> Result<Vec<(String, Directory)>, ToolError> {
        let folders = workspace::exchange()?.into_iter();
        Ok(folders.map(|(name, directory)| (name, directory.into())).collect())
    }

    fn workspace_usage(&self) -> Result<Usage, ToolError> {
        let workspace::Usage { bytes, entries, quota_bytes } = workspace::measure()?;
        Ok(Usage { bytes, entries, quota_bytes })
    }
}

impl From<workspace::Directory> for Directory {
    fn from(directory: workspace::Directory) -> Self {
        let workspace::Directory { path, shown, exists, writable } = directory;
        Self { path: path.into(), shown, exists, writable }
    }
}
