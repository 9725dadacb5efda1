//! Wharf: a host for tools that nobody has to trust.
//!
//! An app embeds [`Host`]: it loads plugins, which are Wasm components, keeps
//! their state, and calls their tools on behalf of a [`Context`], each call in
//! a sandbox of its own that has nothing but what the operator granted. Tools
//! of the app itself stand beside them: [`Host::register_tool`].
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use wharf::{CallRequest, Configuration, Context, Host, TenantId};
//! # let directory = tempfile::tempdir()?;
//! # let data = directory.path();
//!
//! let configuration = Configuration::parse("[plugin.browser]\nenabled = false", ".".as_ref())?;
//! # let configuration = Configuration::parse("[plugin.browser]\nenabled = false\n\
//! #     [plugin.content-store]\nenabled = false\n[plugin.playbook]\nenabled = false", ".".as_ref())?;
//! let host = Host::open(configuration, data).await?;
//! let context = Context::new(TenantId::local(), "my-session".parse()?);
//! let arguments = serde_json::json!({"goal": "Ship it"}).as_object().cloned().unwrap_or_default();
//! let answer = host.call(CallRequest::new(context, "planning__create_goal", arguments)).await?;
//! assert_eq!(answer.content[0].as_text(), Some("Goal 1 is set: Ship it"));
//! # Ok(())
//! # }
//! ```
//!
//! This crate wires the rooms together and reads the configuration; it knows
//! wasmtime and the protocol only by way of their rooms. It has no command line,
//! no allocator and no subscriber of logs: those are the app's, and the `wharf`
//! command is such an app.

pub mod added;
mod answer_schema;
mod app;
pub mod audit;
mod background;
mod bundled;
mod checking;
mod collector;
pub mod configuration;
mod configuration_report;
pub mod control;
mod file_stamp;
mod folder;
mod front_ends;
mod host;
mod installed;
pub mod inventory;
mod loading;
mod metrics;
mod nearest;
mod oauth;
mod offers;
mod pages;
mod paths;
mod plugin_sources;
mod processes;
mod protocol;
mod recorder;
mod registry;
mod reserved_name;
mod rooms;
mod secret;
mod terminals;
mod tool_name;
pub mod trace;
mod unknown_table;
mod webviews;

pub use app::{AppCall, AppTool, RegisterError, ToolAction};
/// For implementations of [`ToolAction`].
pub use async_trait::async_trait;
pub use bundled::{component as bundled_component, names as bundled_names};
pub use collector::TracesError;
pub use configuration::{Configuration, ConfigurationError, InvalidConfiguration, Profile};
pub use configuration_report::ConfigurationReport;
pub use front_ends::FrontEnd;
pub use host::{
    Host, NoContainment,
    open_error::OpenError,
    opening::HostBuilder,
    plugins::{PluginError, PluginSpec, PluginState, PluginStatus},
    watching::PluginWatch,
};
pub use installed::{Installed, Off, Origin, Rejected};
pub use oauth::protected_resource;
pub use paths::{NoDirectory, absolute};
pub use protocol::McpService;
pub use rooms::workspaces;
pub use secret::read_or_make_token;
/// The browser that the host runs itself.
#[cfg(target_os = "linux")]
pub use wharf_chromium as chromium;
pub use wharf_completion::{Streams, TerminalService, detection as completion, stream};
/// What a front end says and is told: [`Host::connect_front_end`].
pub use wharf_core::service::front_end;
/// What is asked of web pages and told of them: [`Host::web_pages`].
pub use wharf_core::service::web_page;
pub use wharf_core::service::{AllowedPlugins, Arguments, CallableTool, Caller, Level, MetricsService, Viewer};
/// What plugins offer beside tools, and the rounds of input in which a call asks its caller.
pub use wharf_core::service::{Audience, input, offer};
pub use wharf_core::text::with_causes;
pub use wharf_core::{
    Answer, AssistantId, BucketName, CallLimits, CallRequest, Channel, Code, Content, Context, ContextClaims,
    ContextRules, Digest, Error, EventSink, Events, FrontEndService, Grants, HostLimits, HttpGrant, HttpLimits,
    InputGiven, InputRequired, InvalidTool, OfferService, PluginName, ProcessGrant, ProcessLimits, RequestLimits,
    RequestMemory, ScopeKey, ScopeKind, SessionId, StateGrant, StreamLimits, TenantId, TerminalGrant, TerminalLimits,
    TerminalOwner, ThreadId, ToolDefinition, ToolProblem, ToolService, WebPageService, WebViewGrant, WebViewLimits,
    WorkspaceGrant, WorkspaceKey, grant, limit, request, text,
};
pub use wharf_engine::{Component, Engine, EngineConfig, Inspection, LoadError, PluginPolicy, Rooms};
pub use wharf_http::{
    HttpAddress, HttpClient, HttpError, HttpServer, HttpServices, HttpSettings, InvalidAddress, InvalidDigest,
    InvalidToken, ProtectedResource, Tls, TlsError, Token, TokenRefused, TokenVerifier, VerifiedToken,
};
pub use wharf_mcp::{ServeError, Served, ServerInfo, serve_stdio, serve_streams};
pub use wharf_process::polls::PollTotals;
/// Where components come from, and how they are fetched.
pub use wharf_sources as sources;
pub use wharf_spawn::{Capabilities, ProcessLimitScope, SandboxMechanism, SpawnError, Spawner};
pub use wharf_state::MemoryStore;
/// For an app that brings WebViews of its own: [`HostBuilder::webview_backend`].
pub use wharf_webview as webview;
pub use wharf_workspace::{WorkspaceError, WorkspaceListing, WorkspaceSummary, Workspaces};

/// The chapter of the book on embedding: its code is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/embedding.md")]
struct Book;
