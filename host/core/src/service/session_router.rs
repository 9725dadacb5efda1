//! Where the calls of a session run, where several hosts serve as one.
//!
//! A call *needs a home* where its plugin may keep something on the host between calls: a
//! process, a terminal, a web page, a stream, files. The same holds for prompts, resources and
//! completions of such a plugin. All such calls of one session run on one host, its home. The
//! host asks a [`SessionRouter`] before it runs one; other calls run where they arrive.

use std::{collections::HashSet, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{HomeAnswer, HomeRequest, offer::Change};
use crate::{Digest, Error, PluginName, SessionId, TenantId};

/// Finds the home of a session among the hosts that serve as one.
#[async_trait::async_trait]
pub trait SessionRouter: Send + Sync + 'static {
    /// Where the calls of this session run that need a home. Where no host is its home, one
    /// becomes it. `keeps_files` says that the call may use the session's files.
    ///
    /// # Errors
    /// `unavailable` where that cannot be found out now; `gone` where the home has died with all
    /// that it held of this session, for as long as no other host may take its place, and once
    /// where files of the session were lost.
    async fn place(&self, tenant: &TenantId, session: &SessionId, keeps_files: bool) -> Result<Place, Error>;
}

/// Where a call runs.
pub enum Place {
    /// On this host, for as long as this is held.
    Here(Box<dyn HomeHold>),
    /// On another one.
    Elsewhere(Arc<dyn RemoteHome>),
}

/// A call that runs at home: while it is held, no other host becomes the session's home without
/// this one having lost contact.
pub trait HomeHold: Send + Sync {
    /// Whether this host has been the session's home all the time: asked before the call is
    /// answered.
    ///
    /// # Errors
    /// `unavailable` where this host has lost contact, so that another may have acted meanwhile.
    fn confirm(&self) -> Result<(), Error>;
}

/// Another host that answers a request: the home of its session, or the one that a front end is
/// connected at.
#[async_trait::async_trait]
pub trait RemoteHome: Send + Sync {
    /// The name of that host.
    fn host(&self) -> &str;

    /// Makes the call there. Its progress and messages reach the caller's events; dropping the
    /// future cancels it there.
    ///
    /// # Errors
    /// Whatever the call ends with there; `gone` where that host has died; `unavailable` where it
    /// does not answer, and then the call may have run. No call is ever sent twice.
    async fn ask(&self, request: HomeRequest) -> Result<HomeAnswer, Error>;
}

/// Things of sessions that are on one host and would be gone with another home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Things {
    /// What runs: processes, open terminals, pages and streams.
    Running,
    /// The same, and what is kept of those that have ended, such as the output of a command.
    Kept,
}

/// A plugin that all hosts would have. Its component is where all hosts read them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedPlugin {
    /// What it is called.
    pub name: PluginName,
    /// Its component.
    pub digest: Digest,
    /// Whether each function that it exports is a tool.
    pub functions: bool,
}

/// What a host does for the others, and tells them of what it holds.
#[async_trait::async_trait]
pub trait HomeHost: Send + Sync + 'static {
    /// Makes a call that another host has passed on, here. The other host has found what is
    /// asked for its caller.
    ///
    /// # Errors
    /// Whatever the call ends with.
    async fn answer_here(&self, request: HomeRequest) -> Result<HomeAnswer, Error>;

    /// Removes the files of a session from this host: another host had later ones, which are lost.
    ///
    /// # Errors
    /// `unavailable` where they cannot be removed now.
    async fn remove_files(&self, tenant: &TenantId, session: &SessionId) -> Result<(), Error>;

    /// The sessions of which there are such things here.
    async fn sessions(&self, things: Things) -> HashSet<(TenantId, SessionId)>;

    /// Tells the clients of this host a change that a plugin has told at another one.
    fn heard(&self, change: Change);

    /// Why this host could not use the tables that all hosts would be configured with; nothing where
    /// it could.
    async fn refuses(&self, tables: &str) -> Option<String>;

    /// Why this host could not serve a plugin that all hosts would have; nothing where it could. The
    /// host fetches and compiles the component, so it serves the plugin at once when all have it.
    async fn refuses_plugin(&self, plugin: &ProposedPlugin) -> Option<String>;

    /// Ends all that lives here of any session, since the other hosts took this one for dead.
    async fn end_all(&self);
}
