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
//! This crate wires the backends together and reads the configuration; it knows
//! wasmtime and the protocol only by way of their crates. It has no command line,
//! no allocator and no subscriber of logs: those are the app's, and the `wharf`
//! command is such an app.
//!
//! What an app may leave out is a feature: `bundled-plugins`, `chromium`, `http`, `nats`, `oauth`,
//! `oci`, `postgres` and `traces`, all on by default. A configuration that asks for what a build leaves
//! out is refused: [`MissingFeature`].

pub mod added;
mod answer_schema;
mod app;
pub mod approvals;
pub mod audit;
mod backends;
mod background;
pub mod backup;
mod bundled;
mod checking;
#[cfg(feature = "postgres")]
pub mod cluster;
mod clustered;
#[cfg_attr(not(feature = "traces"), path = "collector/absent.rs")]
mod collector;
pub mod configuration;
mod configuration_report;
pub mod confinement;
#[cfg(feature = "http")]
mod console;
pub mod control;
#[cfg(feature = "postgres")]
mod database;
mod denied;
pub mod disk;
#[cfg(all(feature = "http", feature = "postgres"))]
mod elsewhere;
pub mod encryption;
mod file_stamp;
mod folder;
mod found_materials;
mod front_ends;
mod host;
mod inspecting;
mod installed;
pub mod inventory;
mod loading;
mod metrics;
mod missing_feature;
mod nearest;
#[cfg(feature = "oauth")]
mod oauth;
mod offers;
mod operator;
mod pages;
pub mod paths;
mod plugin_materials;
mod plugin_sources;
#[cfg(feature = "http")]
mod protocol;
mod recorder;
mod registry;
mod reserved_name;
mod running_calls;
mod secret;
mod terminals;
#[cfg(feature = "http")]
mod token_file;
mod tool_name;
pub mod trace;
mod unknown_table;
mod vetting;
mod webviews;

pub use app::{AppCall, AppTool, RegisterError, ToolAction};
/// For implementations of [`ToolAction`].
pub use async_trait::async_trait;
pub use bundled::{component as bundled_component, names as bundled_names};
pub use configuration::{Configuration, ConfigurationError, InvalidConfiguration, Profile};
pub use configuration_report::{ConfigurationFinding, ConfigurationPart, ConfigurationReport};
pub use front_ends::FrontEnd;
pub use host::{
    Host,
    builder::HostBuilder,
    open_error::OpenError,
    plugins::{PluginError, PluginSpec, PluginState, PluginStatus},
    watching::PluginWatch,
};
pub use installed::{Installed, Off, Origin, Rejected};
pub use missing_feature::MissingFeature;
pub use reserved_name::reason as reserved_name;
pub use wharf_core::grant::EventsGrant;
pub use wharf_core::service::{AllowedPlugins, Caller, Level, Viewer};
pub use wharf_core::text::with_causes;
pub use wharf_core::{
    Answer, AssistantId, CallLimits, CallRequest, Channel, Code, Content, Context, ContextClaims, ContextRules, Digest,
    Error, EventSink, Grants, HostLimits, HttpGrant, InputGiven, InputRequired, OfferService, PluginName, ProcessGrant,
    SessionId, StateGrant, TenantId, TerminalGrant, ThreadId, ToolDefinition, ToolService, WebViewGrant,
    WorkspaceGrant,
};
pub use wharf_state::MemoryStore;

/// Streams of events: [`Host::streams`].
pub use wharf_completion::stream;
/// What is asked of terminals and told of them: [`Host::terminal_service`].
pub use wharf_completion::terminals as terminal;
/// What a front end says and is told: [`Host::connect_front_end`].
pub use wharf_core::service::front_end;
/// The rounds of input in which a call asks its caller.
pub use wharf_core::service::input;
/// What plugins offer beside tools: prompts, resources, completions.
pub use wharf_core::service::offer;
/// What is asked of web pages and told of them: [`Host::web_pages`].
pub use wharf_core::service::web_page;

/// For tests of plugins that need no compiler, no server and no other program of the machine:
/// [`HostBuilder::program_stand_ins`], [`HostBuilder::server_stand_ins`].
pub mod stand_in {
    pub use wharf_network::{ServerStandIns, StandInAnswer};
    pub use wharf_spawn::{StandIn, StandIns};
}

/// For an app that brings WebViews of its own: [`HostBuilder::webview_backend`]. The crate
/// `wharf-webview` has the suite that each backend passes.
pub mod webview {
    pub use wharf_webview::{
        Abilities, ConsoleEntry, ConsoleKind, DeniedConnection, DialogAnswer, DialogKind, DialogOpened, DialogPolicy,
        Download, Failure, FailureKind, FrameInfo, FramesResult, ImageFormat, Injection, KeyKind, Modifier,
        MouseButton, MouseKind, NameOverrides, NavigationResult, NetworkEntry, Operation, Order, OrderOutput,
        PROXY_ANSWER, PageEvent, PageId, PageSettings, PageShares, Paper, PostedResult, Proxy, ProxySettings, Receipt,
        Rectangle, ReportReceiver, RequestId, ScriptAnswer, Settled, Sink, Token, WebViewBackend, WebViewError,
        WrappedScript, script_wrapper,
    };
}

/// The browser that the host runs itself.
#[cfg(all(target_os = "linux", feature = "chromium"))]
pub mod chromium {
    pub use wharf_chromium::{BROWSER_USER, Chromium, ChromiumError, ChromiumSettings, InstalledChromium};
}

/// When a turn is over: what [`Host::open_stream`] and terminals are told, and what they say.
pub mod completion {
    pub use wharf_completion::detection::{
        Adaptation, AdaptiveSilence, AgentStatus, Confidence, Decision, Event, InvalidParameter, InvalidPrompt, Layer,
        Parameters, Preset, PromptKind, Prompts, Reason, Signal, Tuning, Verdict,
    };
}

/// Components: looked at without a host, and loaded as plugins.
pub mod component {
    pub use wharf_engine::{
        ClockResolution, Component, ComponentAbout, EngineError, Inspection, InvalidResolution, IsolationConfig,
        LanguageRuntime, LoadError, Plugin, PluginPolicy, StartReport, WorkersBy,
    };

    pub use crate::inspecting::{CompileCaches, inspect, inspect_start};
}

/// What grants are made of.
pub mod grant {
    pub use wharf_core::{
        grant::{
            Access, AllowedCommand, Capability, ChildGrant, ExchangeFolder, Expiry, GrantClock, InvalidExpiry, Standing,
        },
        origin::{OriginPattern, OriginPolicy, is_private},
        request::{InvalidRequestPattern, RequestPattern},
    };
}

/// Serving over HTTP: the listener, who may call, and how much.
#[cfg(feature = "http")]
pub mod http {
    pub use wharf_core::{InvalidDigest, InvalidToken, RequestMemory, Token, service::ClientRights};
    pub use wharf_http::{
        ClientCertificates, ConnectionCertificate, ConsoleFile, ConsoleSessions, Elsewhere, HttpAddress, HttpClient,
        HttpClients, HttpError, HttpServer, HttpServices, HttpSettings, InvalidAddress, ProtectedResource, Tls,
        TlsError, TokenRefused, TokenVerifier, VerifiedToken,
    };
    #[cfg(target_os = "linux")]
    pub use wharf_http::{PassedSocket, UnusableSocket};

    #[cfg(feature = "oauth")]
    pub use crate::oauth::protected_resource;
    pub use crate::{console::CONSOLE_FILES, token_file::read_or_make_token};
}

/// Every limit: its name, its default and its ceiling.
pub mod limit {
    pub use wharf_core::limit::{
        CallLimits, HostLimits, HttpLimits, InvalidLimit, LimitInfo, LimitScope, ProcessLimits, RequestLimits,
        StreamLimits, TerminalLimits, WebViewLimits,
    };
}

/// Which tools lists show, and how much of their schemas.
pub mod listing {
    pub use wharf_core::tool::{OutputSchemas, ToolPatternError, ToolSelection};
}

/// The Model Context Protocol: over standard streams, and as a service for an HTTP server.
pub mod mcp {
    pub use wharf_mcp::{ServeError, Served, ServerInfo, StateKeys, serve_stdio, serve_streams};

    #[cfg(feature = "http")]
    pub use crate::protocol::McpService;
}

/// What starts and contains the processes of a host: [`Host::spawner`], [`Host::containment`].
pub mod processes {
    pub use wharf_process::polls::PollTotals;
    pub use wharf_spawn::{
        Capabilities, KernelFeature, MissingAbility, ProcessLimitScope, SandboxMechanism, SpawnError, Spawner,
    };

    pub use crate::host::NoContainment;
}

/// What transports serve: the traits behind tools, terminals, pages, front ends and metrics.
pub mod service {
    pub use wharf_completion::TerminalService;
    pub use wharf_core::{
        InvalidTool, ToolProblem,
        service::{
            Arguments, Audience, CallableTool, FrontEndService, MetricsService, OfferService, OperatorService,
            Preparing, ToolService, WebPageService, operator,
        },
    };
}

/// Where components come from, how they are fetched, and indexes that list them.
pub mod sources {
    pub use wharf_sources::{
        FetchError, FetchedComponent, IndexError, IndexedPlugin, IndexedVersion, OciError, OciReference, PluginIndex,
        PluginSource, RegistryLogins, SIGNATURE_BYTES, SourceError, read_component, signature_files,
    };
    #[cfg(feature = "oci")]
    pub use wharf_sources::{Publication, PublishedComponent, publish};
}

/// What plugins are made of and how they were built, and advisories about that.
pub mod materials {
    pub use wharf_materials::{
        AdvisoryDatabase, AdvisoryMatch, BillFormat, BuildProvenance, DatabaseError, DatabaseReport, Package,
    };

    pub use crate::{
        found_materials::{Binding, FoundBill, FoundMaterials, FoundProvenance, Voucher},
        plugin_materials::{UnreadBill, UnreadComponent, packages_of_bill},
    };
}

/// Texts of plugins and clients, made fit for a line of a log or a terminal.
pub mod text {
    pub use wharf_core::text::{cut, for_shell, is_visible, line, visible};
}

/// Who signed a component, whether that counts, and what must not run.
pub mod trust {
    pub use wharf_trust::{
        Covered, Evidence, FoundSignature, IdentityPattern, KeyError, PinnedSigner, SignatureError, SignatureForm,
        SignedArtifact, Signer, TrustError, TrustPolicy, TrustRule, TrustedKey, Untrusted,
    };

    pub use crate::{
        denied::{Denied, DenyKeeper, DenyList, DenyListStatus, DenyListUnavailable, InvalidDenyList},
        vetting::{FoundSignatures, SourcedComponent, Unvetted, Vetted},
    };
}

/// The files of sessions, for the operator.
pub mod workspaces {
    pub use wharf_core::WorkspaceKey;
    pub use wharf_workspace::{WorkspaceError, WorkspaceListing, WorkspaceSummary, Workspaces};

    pub use crate::backends::workspaces as of;
}

/// The chapter of the book on embedding: its code is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/embedding.md")]
struct Book;
