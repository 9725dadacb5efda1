//! `profile`, and what bundled plugins have where `wharf.toml` says nothing of them: which
//! grants, and which limits their work needs.

use serde::Deserialize;
use wharf_core::{
    CallLimits, Grants, ProcessGrant, StateGrant, WebViewGrant, WorkspaceGrant,
    grant::{Access, ChildGrant, EventsGrant},
};

const REASON: &str = "the profile `developer`";
/// The plugin that copies files and runs programs.
const WORKSPACE: &str = "workspace";
/// The plugin that talks to interactive programs.
const TERMINAL: &str = "terminal";
/// The plugin that answers with pictures.
const BROWSER: &str = "browser";
/// The plugin that takes whole documents.
const CONTENT_STORE: &str = "content-store";

/// What the bundled plugins are granted where the configuration does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// State, and nothing else. Plugins that can do nothing with that are off
    #[default]
    Default,
    /// For a developer's own machine: the workspace, too, with a shell, contained and without a network; and web pages
    Developer,
}

impl Profile {
    /// Its word in `wharf.toml`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Developer => "developer",
        }
    }

    /// What a bundled plugin may use where the configuration says nothing.
    pub(crate) fn grants(self, plugin: &str) -> Grants {
        let developer = self == Self::Developer;
        let state = StateGrant::with_reason("first-party plugins keep their state");
        let state = match plugin {
            CONTENT_STORE => StateGrant { quota_bytes: 256 << 20, quota_entries: 500_000, ..state },
            _ => state,
        };
        match plugin {
            WORKSPACE if developer => Grants {
                process: Some(ProcessGrant::of(every_program())),
                workspace: Some(WorkspaceGrant::with_reason(REASON)),
                ..Grants::default()
            },
            TERMINAL if developer => Grants {
                terminal: Some(every_program()),
                events: Some(EventsGrant::with_reason(REASON)),
                ..Grants::default()
            },
            BROWSER if developer => Grants {
                webview: Some(every_page()),
                // Screenshots and PDFs go where downloads do.
                workspace: Some(WorkspaceGrant::with_reason(REASON)),
                ..Grants::default()
            },
            WORKSPACE | TERMINAL | BROWSER => Grants::default(),
            CONTENT_STORE if developer => Grants {
                state: Some(state),
                workspace: Some(WorkspaceGrant { access: Access::Read, ..WorkspaceGrant::with_reason(REASON) }),
                ..Grants::default()
            },
            _ => Grants { state: Some(state), ..Grants::default() },
        }
    }

    /// What the host's own routes may use where the configuration says nothing.
    pub(crate) fn host_grants(self) -> Grants {
        if self != Self::Developer {
            return Grants::default();
        }
        Grants { terminal: Some(every_program()), webview: Some(every_page()), ..Grants::default() }
    }
}

/// What holds for the developer's own programs, too.
fn every_program() -> ChildGrant {
    ChildGrant {
        programs: vec!["**".to_owned()],
        shell: true,
        environment: vec!["*".to_owned()],
        ..ChildGrant::with_reason(REASON)
    }
}

/// Whatever the developer's own browser could reach.
fn every_page() -> WebViewGrant {
    WebViewGrant {
        origins: "*".parse().into_iter().collect(),
        downloads: true,
        uploads: true,
        private_addresses: true,
        ..WebViewGrant::with_reason(REASON)
    }
}

/// Gives a bundled plugin the limits that its work needs, except those that `is_set`
/// names.
pub(super) fn raise_limits(plugin: &str, limits: &mut CallLimits, is_set: impl Fn(&str) -> bool) {
    let needs: &[(&str, u64)] = match plugin {
        // Whole documents come in one argument and are kept in one step.
        CONTENT_STORE => &[
            ("argument_bytes", 16 << 20),
            ("memory_bytes", 512 << 20),
            ("cpu_time_milliseconds", 60_000),
            ("host_call_bytes", 64 << 20),
            ("host_call_total_bytes", 256 << 20),
        ],
        // A screenshot comes whole, and goes on whole.
        BROWSER => &[("memory_bytes", 128 << 20), ("host_call_bytes", 12 << 20), ("output_bytes", 12 << 20)],
        // Files are copied from and to exchange folders up to 256 MiB. A search looks at up to
        // 20,000 files, each of which takes some fifteen host calls.
        WORKSPACE => &[("host_call_total_bytes", 288 << 20), ("host_calls", 1_000_000)],
        _ => &[],
    };
    for (name, needed) in needs {
        let is_less = limits.values().any(|(row, value)| row.name == *name && value < *needed);
        if is_less
            && !is_set(name)
            && let Err(error) = limits.set(name, *needed)
        {
            tracing::error!(plugin, "does not get what it needs: {error}");
        }
    }
}
