//! Denials: why something was refused, in words that say how to allow it, and
//! how often that was so.

use std::{collections::BTreeMap, fmt, sync::Arc};

use parking_lot::Mutex;

use super::expiry::Expiry;
use crate::{Code, Error, PluginName};

/// What can be granted. Each has a table `[plugin.NAME.grants.CAPABILITY]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    /// Durable state.
    State,
    /// Progress and messages to the caller, and streams of events.
    Events,
    /// Child processes.
    Process,
    /// Interactive programs in terminals.
    Terminal,
    /// Web pages.
    WebView,
    /// The files of the session.
    Workspace,
    /// HTTP requests.
    Http,
}

impl Capability {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::State, Self::Events, Self::Workspace, Self::Process, Self::Terminal, Self::WebView, Self::Http];

    /// Its word in the configuration and in the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Events => "events",
            Self::Process => "process",
            Self::Terminal => "terminal",
            Self::WebView => "webview",
            Self::Workspace => "workspace",
            Self::Http => "http",
        }
    }

    /// The capability that the contract calls `word`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.as_str() == word)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A refusal for want of a grant. Its words name the lines of `wharf.toml` that
/// would change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The plugin that was refused.
    pub plugin: PluginName,
    /// What it wanted to use.
    pub capability: Capability,
    /// Why not.
    pub why: Refusal,
}

/// Why something was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing of the capability is granted.
    NotGranted,
    /// It was granted until then.
    Expired(Expiry),
    /// All grants of the plugin are held back, for this reason.
    Withheld(Arc<str>),
    /// What is granted does not reach so far.
    Beyond {
        /// What was wanted, as the end of a sentence about the plugin.
        what: String,
        /// What to change in the grant's table, as an order.
        change: String,
    },
}

impl fmt::Display for Denied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, capability, why } = self;
        let table = format_args!("[plugin.{plugin}.grants.{capability}]");
        match why {
            Refusal::NotGranted => write!(
                formatter,
                "plugin `{plugin}` is not granted `{capability}`; to allow it, add {table} with `reason = \"…\"` to \
                 wharf.toml"
            ),
            Refusal::Expired(expiry) => write!(
                formatter,
                "plugin `{plugin}` was granted `{capability}` until {expiry}, and that is over; to allow it again, \
                 change `expires` under {table} in wharf.toml"
            ),
            Refusal::Withheld(why) => write!(formatter, "plugin `{plugin}` is not granted `{capability}`: {why}"),
            Refusal::Beyond { what, change } => {
                write!(formatter, "plugin `{plugin}` {what}; to allow it, {change} under {table} in wharf.toml")
            }
        }
    }
}

impl std::error::Error for Denied {}

impl From<Denied> for Error {
    fn from(denied: Denied) -> Self {
        Self::new(Code::Denied, denied.to_string())
    }
}

/// How often each plugin was denied something. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct Denials {
    // Held for an addition; as many entries as there are plugins and capabilities.
    counts: Arc<Mutex<BTreeMap<(PluginName, Capability), u64>>>,
}

impl Denials {
    /// What was counted, by plugin and capability.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<(PluginName, Capability), u64> {
        self.counts.lock().clone()
    }

    pub(super) fn count(&self, denied: &Denied) {
        let mut counts = self.counts.lock();
        let count = counts.entry((denied.plugin.clone(), denied.capability)).or_default();
        *count = count.saturating_add(1);
    }
}
