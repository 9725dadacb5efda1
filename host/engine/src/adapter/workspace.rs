//! `workspace`: where the files of the session are, and how much they hold.

use tokio::task::spawn_blocking;
use wharf_core::grant::{Access, ExchangeFolder, GrantedWorkspace};
use wharf_workspace::Workspace;

use super::process::place_of;
use crate::{
    bindings::wharf::plugin::workspace::{self as wit, Host},
    call::ActiveCall,
    failure::Failure,
    guest::Guest,
    watch::weigh,
};

/// The workspace, as guests see it.
pub(crate) const FILES: &str = "/workspace";
/// The folder of the folders for import and export.
pub(crate) const EXCHANGE: &str = "/exchange";

weigh! {
    wit::Directory { path, shown | exists, writable };
    wit::Usage { | bytes, entries, quota_bytes };
}

impl ActiveCall {
    /// Describes the workspace, where there is one.
    async fn workspace_directory(
        &self,
        granted: &GrantedWorkspace<'_>,
        workspace: Option<Workspace>,
    ) -> wit::Directory {
        wit::Directory {
            path: FILES.to_owned(),
            exists: workspace.is_some(),
            shown: self.shown_to_processes(workspace).await,
            writable: granted.grant().access == Access::Write,
        }
    }

    /// The workspace as processes see it, where this plugin has any.
    async fn shown_to_processes(&self, workspace: Option<Workspace>) -> String {
        let shown = match (workspace, self.backends.processes(), self.grants().process(&self.plugin)) {
            (Some(workspace), Ok(processes), Ok(_)) => processes.files_as_seen(&place_of(workspace)).await.ok(),
            _ => None,
        };
        shown.map_or_else(|| FILES.to_owned(), |shown| shown.to_string_lossy().into_owned())
    }
}

impl Host for Guest {
    async fn files(&mut self) -> Result<wit::Directory, Failure> {
        let call = &*self.call;
        let granted = call.grants().workspace(&call.plugin)?;
        let found = call.backends.workspaces()?.find(&granted.key(call.context()));
        Ok(call.workspace_directory(&granted, found).await)
    }

    async fn create(&mut self) -> Result<wit::Directory, Failure> {
        let call = &*self.call;
        let granted = call.grants().workspace(&call.plugin)?;
        let workspaces = call.backends.workspaces()?;
        granted.to_write()?;
        let made = workspaces.create(&granted.key(call.context()))?;
        Ok(call.workspace_directory(&granted, Some(made)).await)
    }

    fn exchange(&mut self) -> Result<Vec<(String, wit::Directory)>, Failure> {
        let call = &*self.call;
        let granted = call.grants().workspace(&call.plugin)?;
        let folder = |folder: &ExchangeFolder| {
            let directory = wit::Directory {
                path: format!("{EXCHANGE}/{}", folder.name),
                // Processes do not see it.
                shown: String::new(),
                exists: folder.path.is_dir(),
                writable: folder.access == Access::Write,
            };
            (folder.name.clone(), directory)
        };
        Ok(granted.grant().exchange.iter().map(folder).collect())
    }

    async fn measure(&mut self) -> Result<wit::Usage, Failure> {
        let call = &*self.call;
        let key = call.grants().workspace(&call.plugin)?.key(call.context());
        let workspaces = call.backends.workspaces()?.clone();
        let quota_bytes = workspaces.quota_bytes();
        let usage = spawn_blocking(move || workspaces.usage(&key)).await??;
        Ok(wit::Usage { bytes: usage.bytes, entries: usage.entries, quota_bytes })
    }
}
