//! What a transport serves: tools, called on behalf of a context, terminals, web
//! pages, and the calls of front ends.
//!
//! The protocol room knows these traits and not who implements them.

pub mod announcements;
mod caller;
pub mod front_end;
pub mod input;
pub mod metrics;
pub mod offer;
pub mod progress;
pub mod web_page;

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    Answer, Context, Error, RequestMemory, TenantId, ToolDefinition,
    trace::{TraceParent, Tracer},
};
pub use announcements::Announcements;
pub use caller::Caller;
pub use front_end::FrontEndService;
pub use input::{InputGiven, InputMethod, InputRequest, InputRequired};
pub use metrics::MetricsService;
pub use offer::OfferService;
pub use progress::Progress;
pub use web_page::WebPageService;

/// Where the progress and the messages of one call go.
///
/// Implementations return at once; what cannot be delivered is dropped.
pub trait EventSink: Send + Sync {
    /// How far the call has come.
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>);
    /// A message about the running call. `level` is a level of the contract.
    fn message(&self, level: &str, data: Value);
}

/// The events of one call; nobody listens where this is absent.
pub type Events = Option<Arc<dyn EventSink>>;

/// One call of a tool.
pub struct CallRequest {
    /// The full name: `plugin__tool`.
    pub tool: String,
    /// Context fields are already taken out.
    pub arguments: Map<String, Value>,
    /// On whose behalf.
    pub context: Context,
    /// What came with the request besides, for the plugin to read.
    pub request_meta: Map<String, Value>,
    /// What was given to an earlier round of this call.
    pub input: InputGiven,
    /// Ends the call when it fires.
    pub cancel: CancellationToken,
    /// Who listens.
    pub events: Events,
    /// The span that it belongs to, where somebody said one.
    pub trace: Option<TraceParent>,
    /// The program that calls, as it calls itself; see [`AuditSubject::client`](crate::audit::AuditSubject::client).
    pub client: Option<Arc<str>>,
}

impl CallRequest {
    /// A call that nobody cancels or listens to.
    #[must_use]
    pub fn new(context: Context, tool: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self {
            tool: tool.into(),
            arguments,
            context,
            request_meta: Map::new(),
            input: InputGiven::default(),
            cancel: CancellationToken::new(),
            events: None,
            trace: None,
            client: None,
        }
    }
}

impl std::fmt::Debug for CallRequest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Arguments may hold secrets; a log never shows them.
        formatter
            .debug_struct("CallRequest")
            .field("tool", &self.tool)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

/// Tools that can be listed and called.
#[async_trait::async_trait]
pub trait ToolService: Send + Sync + 'static {
    /// Every tool under its full name, ordered by it. Cheap: called for each
    /// listing.
    fn tools(&self) -> Arc<[ToolDefinition]>;

    /// Changes its value each time that [`ToolService::tools`] has become
    /// another list. Nothing where it never does.
    fn changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// What this tenant sees, where tenants see different tools; nothing where
    /// all see these.
    fn of_tenant(&self, _tenant: &TenantId) -> Option<Arc<dyn ToolService>> {
        None
    }

    /// What begins the spans of requests for these tools, and for all that is served
    /// beside them; nothing where nobody traces.
    fn tracer(&self) -> Option<Tracer> {
        None
    }

    /// How much memory the JSON of requests may take, for these tools and for all that is
    /// served beside them. A transport that is told nothing has an account of its own.
    fn request_memory(&self) -> Option<RequestMemory> {
        None
    }

    /// The name of the plugin that a listed tool belongs to.
    fn plugin_of(&self, tool: &str) -> Option<String> {
        tool.split_once("__").map(|(plugin, _)| plugin.to_owned())
    }

    /// Calls one tool.
    ///
    /// # Errors
    /// `not-found` for an unknown tool, `invalid` for arguments that break its
    /// schema, and whatever the call itself ends with. Dropping the future
    /// ends the call.
    async fn call(&self, request: CallRequest) -> Result<Answer, Error>;
}
