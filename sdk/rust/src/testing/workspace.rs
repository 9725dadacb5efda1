//! The workspace of the test host: real directories that the test names.

use std::fs;
use std::path::PathBuf;

use super::TestCall;
use super::grants::TestWorkspace;
use super::host::TestHost;
use crate::ToolError;
use crate::host::HostWorkspace;
use crate::workspace::{Directory, Usage};

const QUOTA_BYTES: u64 = 1 << 30;

impl TestCall {
    /// Grants the workspace, as this directory, which need not exist yet. The host
    /// decides what a component may reach of it: natively, only the checks of the
    /// plugin itself stand between its tests and the machine's files.
    #[must_use]
    pub fn workspace(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let shown = path.display().to_string();
        let directory = Directory { path, shown, exists: false, writable: true };
        self.host.workspace = Some(TestWorkspace { directory, exchange: Vec::new() });
        self
    }

    /// The path under which processes would see the workspace.
    ///
    /// # Panics
    /// Where no workspace is granted.
    #[must_use]
    pub fn workspace_shown_as(mut self, shown: impl Into<String>) -> Self {
        self.granted_workspace().directory.shown = shown.into();
        self
    }

    /// As where the operator granted the workspace for reading alone.
    ///
    /// # Panics
    /// Where no workspace is granted.
    #[must_use]
    pub fn workspace_read_only(mut self) -> Self {
        self.granted_workspace().directory.writable = false;
        self
    }

    /// A folder for import and export, of the operator's naming.
    ///
    /// # Panics
    /// Where no workspace is granted.
    #[must_use]
    pub fn exchange(mut self, name: impl Into<String>, path: impl Into<PathBuf>, writable: bool) -> Self {
        let name = name.into();
        let directory = Directory { path: path.into(), shown: format!("/exchange/{name}"), exists: false, writable };
        self.granted_workspace().exchange.push((name, directory));
        self
    }

    fn granted_workspace(&mut self) -> &mut TestWorkspace {
        let Some(workspace) = &mut self.host.workspace else { panic!("grant a workspace first") };
        workspace
    }
}

impl TestHost {
    fn workspace(&self) -> Result<&TestWorkspace, ToolError> {
        self.workspace.as_ref().ok_or_else(|| {
            ToolError::denied(
                "no workspace is granted to this plugin: the operator grants it with [plugin.NAME.grants.workspace]",
            )
        })
    }
}

impl HostWorkspace for TestHost {
    fn files(&self) -> Result<Directory, ToolError> {
        Ok(now(&self.workspace()?.directory))
    }

    fn create(&self) -> Result<Directory, ToolError> {
        let directory = &self.workspace()?.directory;
        if !directory.writable {
            return Err(ToolError::denied("the workspace is granted for reading only"));
        }
        fs::create_dir_all(&directory.path)
            .map_err(|error| ToolError::unavailable(format!("the workspace cannot be made: {error}")))?;
        Ok(now(directory))
    }

    fn exchange(&self) -> Result<Vec<(String, Directory)>, ToolError> {
        let folders = self.workspace()?.exchange.iter();
        Ok(folders.map(|(name, directory)| (name.clone(), now(directory))).collect())
    }

    fn workspace_usage(&self) -> Result<Usage, ToolError> {
        let mut usage = Usage { bytes: 0, entries: 0, quota_bytes: QUOTA_BYTES };
        let mut pending = vec![self.workspace()?.directory.path.clone()];
        while let Some(directory) = pending.pop() {
            // A directory that is not there holds nothing.
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                usage.entries += 1;
                if metadata.is_dir() {
                    pending.push(entry.path());
                } else {
                    usage.bytes += metadata.len();
                }
            }
        }
        Ok(usage)
    }
}

fn now(directory: &Directory) -> Directory {
    Directory { exists: directory.path.is_dir(), ..directory.clone() }
}
