//! `workspace`: where the files of the session are, and how much they hold.

use wharf_core::{Error, grant::Access};
use wharf_workspace::Workspace;

use super::process::place_of;
use crate::{
    bindings::wharf::plugin::{
        types,
        workspace::{self as wit, Host},
    },
    call::ActiveCall,
    guest::Guest,
};

/// The workspace, as guests see it.
pub(crate) const FILES: &str = "/workspace";
/// The folder of the folders for import and export.
pub(crate) const EXCHANGE: &str = "/exchange";

impl ActiveCall {
    async fn own_directory(&self, create: bool) -> Result<wit::Directory, Error> {
        let granted = self.grants().workspace(&self.plugin)?;
        let (workspaces, key) = (self.rooms.workspaces()?, granted.key(self.context()));
        let found = if create {
            granted.to_write()?;
            Some(workspaces.create(&key)?)
        } else {
            workspaces.find(&key)
        };
        Ok(wit::Directory {
            path: FILES.to_owned(),
            shown: self.shown_workspace(found.as_ref()).await,
            exists: found.is_some(),
            writable: granted.grant().access == Access::Write,
        })
    }

    /// The workspace as processes see it, where this plugin has any.
    async fn shown_workspace(&self, found: Option<&Workspace>) -> String {
        let (Some(found), Ok(processes), Ok(_)) = (found, self.rooms.processes(), self.grants().process(&self.plugin))
        else {
            return FILES.to_owned();
        };
        processes
            .shown(&place_of(found.clone()))
            .await
            .map_or_else(|_| FILES.to_owned(), |shown| shown.to_string_lossy().into_owned())
    }

    fn exchange_folders(&self) -> Result<Vec<(String, wit::Directory)>, Error> {
        let granted = self.grants().workspace(&self.plugin)?;
        let folder = |folder: &wharf_core::grant::ExchangeFolder| {
            let path = format!("{EXCHANGE}/{}", folder.name);
            let directory = wit::Directory {
                // Processes do not see it.
                shown: String::new(),
                exists: folder.path.is_dir(),
                writable: folder.access == Access::Write,
                path,
            };
            (folder.name.clone(), directory)
        };
        Ok(granted.grant().exchange.iter().map(folder).collect())
    }

    async fn workspace_usage(&self) -> Result<wit::Usage, Error> {
        let granted = self.grants().workspace(&self.plugin)?;
        let (workspaces, key) = (self.rooms.workspaces()?.clone(), granted.key(self.context()));
        let quota_bytes = workspaces.quota_bytes();
        let measured = tokio::task::spawn_blocking(move || workspaces.usage(&key)).await;
        let usage = measured.map_err(|error| Error::new(wharf_core::Code::Internal, error.to_string()))??;
        Ok(wit::Usage { bytes: usage.bytes, entries: usage.entries, quota_bytes })
    }
}

impl Host for Guest {
    async fn files(&mut self) -> wasmtime::Result<Result<wit::Directory, types::Error>> {
        self.call.budget.host_call(0)?;
        Ok(self.call.own_directory(false).await.map_err(types::Error::from))
    }

    async fn create(&mut self) -> wasmtime::Result<Result<wit::Directory, types::Error>> {
        self.call.budget.host_call(0)?;
        Ok(self.call.own_directory(true).await.map_err(types::Error::from))
    }

    fn exchange(&mut self) -> wasmtime::Result<Result<Vec<(String, wit::Directory)>, types::Error>> {
        self.call.budget.host_call(0)?;
        Ok(self.call.exchange_folders().map_err(types::Error::from))
    }

    async fn measure(&mut self) -> wasmtime::Result<Result<wit::Usage, types::Error>> {
        self.call.budget.host_call(0)?;
        Ok(self.call.workspace_usage().await.map_err(types::Error::from))
    }
}
