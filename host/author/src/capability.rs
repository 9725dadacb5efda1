//! What a new plugin may ask the operator for.

/// A capability that a new plugin gets a tool for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PluginCapability {
    /// Durable entries.
    State,
    /// Child processes.
    Process,
    /// Interactive programs.
    Terminal,
    /// Web pages.
    Webview,
    /// HTTP requests.
    Http,
    /// The files of the session.
    Workspace,
}

impl PluginCapability {
    /// All of them, as commands list them.
    pub const ALL: [Self; 6] = [Self::State, Self::Process, Self::Terminal, Self::Webview, Self::Http, Self::Workspace];

    /// As it is written on a command line and in `wharf.toml`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Process => "process",
            Self::Terminal => "terminal",
            Self::Webview => "webview",
            Self::Http => "http",
            Self::Workspace => "workspace",
        }
    }
}
