//! What a transport serves: tools, called on behalf of a context, terminals, web
//! pages, and the calls of front ends.
//!
//! The protocol's crate knows these traits and not their implementations.

pub mod announcements;
mod approver;
mod arguments;
mod at_home;
mod caller;
mod client_rights;
pub mod front_end;
mod front_end_shelf;
pub mod input;
pub mod metrics;
pub mod offer;
pub mod operator;
pub mod progress;
mod session_router;
mod session_shelf;
mod viewer;
pub mod web_page;

use std::{pin::Pin, sync::Arc};

use serde_json::{Map, Value};
use tokio::sync::watch;
/// How much a message to the caller matters.
pub use wharf_contract::log::Level;

use crate::{Answer, Context, Error, RequestMemory, TenantId, ToolDefinition, trace::Tracer};
pub use announcements::{Announcements, ChangeRelay};
pub use approver::{Approver, Approving, GuardedAct};
pub use arguments::Arguments;
pub use at_home::{HomeAnswer, HomeQuestion, HomeRequest};
pub use caller::Caller;
pub use client_rights::{ClientRights, PassedClient, ProtocolClient};
pub use front_end::FrontEndService;
pub use front_end_shelf::{
    ChangedFrontEnds, ConnectTerms, FrontEndPlace, FrontEndShelf, FrontEndsVersion, ShelvedFrontEnd, TenantFrontEnds,
};
pub use input::{InputGiven, InputMethod, InputRequest, InputRequired};
pub use metrics::MetricsService;
pub use offer::OfferService;
pub use operator::OperatorService;
pub use progress::Progress;
pub use session_router::{HomeHold, HomeHost, Place, ProposedPlugin, RemoteHome, SessionRouter, Things};
pub use session_shelf::{SessionShelf, ShelvedSession};
pub use viewer::{AllowedPlugins, Audience, Viewer};
pub use web_page::WebPageService;

/// Where the progress and the messages of one call go.
///
/// Implementations return at once; what cannot be delivered is dropped.
pub trait EventSink: Send + Sync {
    /// How far the call has come.
    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>);
    /// What the call waits for before it begins, for a person. What the call itself tells of its
    /// progress counts on from nothing.
    fn waits(&self, message: &str) {
        self.progress(0.0, None, Some(message));
    }
    /// A message about the running call.
    fn message(&self, level: Level, data: Value);
}

/// The events of one call; nobody listens where this is absent.
pub type Events = Option<Arc<dyn EventSink>>;

/// One call of a tool, by its name.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallRequest {
    /// Who calls.
    pub caller: Arc<Caller>,
    /// The full name: `plugin__tool`.
    pub tool: String,
    /// Context fields are already taken out.
    pub arguments: Arguments,
    /// What was given to an earlier round of this call.
    pub input: InputGiven,
}

impl CallRequest {
    /// A call that nobody cancels or listens to.
    #[must_use]
    pub fn new(context: Context, tool: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self::of(Caller::new(context), tool, arguments)
    }

    /// A call of this caller.
    #[must_use]
    pub fn of(caller: impl Into<Arc<Caller>>, tool: impl Into<String>, arguments: Map<String, Value>) -> Self {
        let (caller, arguments) = (caller.into(), arguments.into());
        Self { caller, tool: tool.into(), arguments, input: InputGiven::default() }
    }
}

/// A wait until a plugin is ready, or cannot be made so: either way the tool is looked up then.
/// It ends with an error where it takes too long, and with the caller's cancellation, and tells
/// the caller what it waits for.
pub type Preparing = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Tools that can be listed, found and called. Each query names the viewer.
pub trait ToolService: Send + Sync + 'static {
    /// Every tool that the viewer sees, under its full name and ordered by it. Cheap: called
    /// for each listing.
    fn tools(&self, viewer: Viewer<'_>) -> Arc<[ToolDefinition]>;

    /// The tool of this full name as the viewer may call it, for a transport that has to know
    /// more of it before its caller is read. Cheap, and not recorded; nothing where the viewer
    /// sees no such tool, which [`ToolService::find`] then says in words.
    fn callable(&self, viewer: Viewer<'_>, name: &str) -> Option<Arc<dyn CallableTool>>;

    /// Changes its value each time that the tools of this tenant have become another list.
    /// Nothing where they never do.
    fn changes(&self, tenant: &TenantId) -> Option<watch::Receiver<u64>>;

    /// What the look-up of a tool that is to be called has to wait for: a plugin that is still
    /// made ready, and may have a tool of this name. Nothing as a rule.
    fn preparing(&self, _caller: &Arc<Caller>, _name: &str) -> Option<Preparing> {
        None
    }

    /// What a list of this tenant's tools has to wait for: front ends that are connected at other
    /// hosts, and are not known here yet. Nothing as a rule; where they cannot be found out, the
    /// wait ends, and the list is without them until they can.
    fn preparing_list(&self, _tenant: &TenantId) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        None
    }

    /// Looks up a tool that is to be called. What was found stays what it is, whatever is
    /// loaded meanwhile, and can be called again.
    ///
    /// # Errors
    /// `not-found` where the caller sees no tool of this name: the nearest names, or why its
    /// plugin cannot be used and what to do about it. The audit has the call then.
    fn find(&self, caller: &Arc<Caller>, name: &str) -> Result<Arc<dyn CallableTool>, Error>;

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
}

/// A tool that was found.
#[async_trait::async_trait]
pub trait CallableTool: Send + Sync {
    /// Its input schema, where that has an HTTP request repeat arguments in its headers
    /// (`x-mcp-header`).
    fn repeated_arguments(&self) -> Option<Arc<Map<String, Value>>>;

    /// Calls it on behalf of the caller that found it.
    ///
    /// # Errors
    /// `invalid` for arguments that break its schema, and whatever the call itself ends
    /// with. Dropping the future ends the call.
    async fn call(&self, caller: Arc<Caller>, arguments: Arguments, input: InputGiven) -> Result<Answer, Error>;
}
