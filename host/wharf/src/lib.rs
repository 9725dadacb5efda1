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
//! wasmtime and the protocol only by way of their rooms.

mod added;
mod app;
pub mod audit;
mod background;
mod bundled;
mod checking;
mod collector;
mod component;
pub mod configuration;
mod control;
mod folder;
mod front_ends;
mod host;
mod loading;
mod metrics;
mod named;
mod nearest;
mod oauth;
mod offers;
mod pages;
mod paths;
mod processes;
mod protocol;
mod recorder;
mod registry;
mod rooms;
mod secret;
mod terminals;
pub mod trace;
mod unknown;
mod webviews;

pub use added::{AddedError, AddedPlugins, Receipt};
pub use app::{AppCall, AppTool, RegisterError, ToolAction};
/// For implementations of [`ToolAction`].
pub use async_trait::async_trait;
pub use bundled::names as bundled_names;
pub use collector::TracesError;
pub use component::bundled_component;
pub use configuration::{Configuration, ConfigurationError, Profile};
pub use control::{Attachment, Control, ControlError, Frame, RunningHost, ServedPlugins, running_hosts};
pub use front_ends::FrontEnd;
pub use host::{Host, HostBuilder, OpenError, PluginError, PluginSpec, PluginState, PluginStatus, PluginWatch};
pub use named::Checked;
pub use oauth::protected_resource;
pub use paths::{NoDirectory, absolute};
pub use protocol::McpService;
pub use registry::{Installed, Off, Origin, Rejected};
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
pub use wharf_core::service::{AllowedPlugins, Arguments, CallableTool, Caller, MetricsService, Viewer};
/// What plugins offer beside tools, and the rounds of input in which a call asks its caller.
pub use wharf_core::service::{Audience, input, offer};
pub use wharf_core::text::with_causes;
pub use wharf_core::{
    Answer, AssistantId, BucketName, CallLimits, CallRequest, Channel, Code, Content, Context, ContextHints,
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
/// Where a component comes from, and how it is fetched.
pub use wharf_sources::{
    FetchError, Fetched, OciError, OciReference, PluginSource, RegistryLogins, SourceError, read_component,
};
pub use wharf_spawn::{Capabilities, ProcessLimitScope, SandboxMechanism, SpawnError, Spawner};
pub use wharf_state::{
    BucketGroup, BucketSelection, BucketSummary, BucketTotals, ImportError, ImportMode, ImportReport, Inventory,
    InventoryError, MemoryStore,
};
/// For an app that brings WebViews of its own: [`HostBuilder::webview_backend`].
pub use wharf_webview as webview;
pub use wharf_workspace::{WorkspaceError, WorkspaceListing, WorkspaceSummary, Workspaces};
