//! Which buckets are meant, and the store that has them.

use anyhow::Result;
use clap::Args;
use wharf::{
    AssistantId, PluginName, SessionId, TenantId, ThreadId,
    inventory::{self, BucketName, BucketSelection, Inventory, InventoryError, MissingStore, ScopeKind},
};

use crate::{exit::Unusable, global::Global};

/// Which buckets are meant. Without any of these: all of them.
#[derive(Debug, Args)]
pub(super) struct Filters {
    /// Only those of this tenant
    #[arg(long, value_name = "NAME")]
    tenant: Option<TenantId>,

    /// Only those of this plugin
    #[arg(long, value_name = "NAME")]
    plugin: Option<PluginName>,

    /// Only those of this scope: thread, session, assistant or plugin
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Option<ScopeKind>,

    /// Only those of this session and its threads
    #[arg(long, value_name = "NAME")]
    session: Option<SessionId>,

    /// Only those of this assistant and its threads
    #[arg(long, value_name = "NAME")]
    assistant: Option<AssistantId>,

    /// Only those of this thread
    #[arg(long, value_name = "NAME")]
    thread: Option<ThreadId>,

    /// Only those of this name
    #[arg(long, value_name = "NAME")]
    bucket: Option<BucketName>,
}

fn scope(word: &str) -> Result<ScopeKind, String> {
    ScopeKind::from_word(word).ok_or_else(|| "it is thread, session, assistant or plugin".to_owned())
}

impl Filters {
    /// The names, as the audit has them.
    pub(super) fn named(&self) -> String {
        let Self { tenant, plugin, scope, session, assistant, thread, bucket } = self;
        let named = [
            ("tenant", tenant.as_ref().map(ToString::to_string)),
            (ScopeKind::Plugin.as_str(), plugin.as_ref().map(ToString::to_string)),
            ("scope", scope.map(|scope| scope.as_str().to_owned())),
            (ScopeKind::Session.as_str(), session.as_ref().map(ToString::to_string)),
            (ScopeKind::Assistant.as_str(), assistant.as_ref().map(ToString::to_string)),
            (ScopeKind::Thread.as_str(), thread.as_ref().map(ToString::to_string)),
            ("bucket", bucket.as_ref().map(ToString::to_string)),
        ];
        let named: Vec<_> = named.into_iter().filter_map(|(what, name)| Some(format!("{what} {}", name?))).collect();
        if named.is_empty() { "all of it".to_owned() } else { named.join(", ") }
    }

    pub(super) fn selection(&self) -> BucketSelection {
        BucketSelection {
            tenant: self.tenant.clone(),
            plugin: self.plugin.clone(),
            kind: self.scope,
            session: self.session.clone(),
            assistant: self.assistant.clone(),
            thread: self.thread.clone(),
            bucket: self.bucket.clone(),
        }
    }
}

/// The store of the configuration. Says where its hosts do not believe the clock.
pub(super) fn open(global: &Global) -> Result<Box<dyn Inventory>> {
    let inventory = open_quietly(global)?;
    if let Some(doubt) = inventory.clock_doubt().map_err(unusable)? {
        eprintln!("{doubt}; `wharf state confirm-clock` says that it is right");
    }
    Ok(inventory)
}

pub(super) fn open_quietly(global: &Global) -> Result<Box<dyn Inventory>> {
    open_or(global, MissingStore::Refuse)
}

pub(super) fn open_or(global: &Global, missing: MissingStore) -> Result<Box<dyn Inventory>> {
    let configuration = global.configuration()?;
    let data = global.data(&configuration)?;
    inventory::open(&configuration, &data, missing).map_err(unusable)
}

/// Tells what is wrong with the data directory from what is wrong with the
/// command.
pub(super) fn unusable(error: InventoryError) -> anyhow::Error {
    match &error {
        InventoryError::Absent { .. }
        | InventoryError::Open(_)
        | InventoryError::Server(_)
        | InventoryError::State(_) => Unusable(wharf::with_causes(&error)).into(),
        _ => error.into(),
    }
}
