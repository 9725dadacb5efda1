//! The protocol's methods over a [`ToolService`].
//!
//! Owns what a connection remembers: the level of messages, which list was seen,
//! and which warnings were given. It keys nothing else on the connection, since one connection
//! carries many conversations.

#![expect(deprecated, reason = "logging/setLevel is deprecated since 2026-07-28 and used by all of today's clients")]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
        CompleteResult, Implementation, ListPromptsRequestMethod, ListPromptsResult,
        ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
        ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams, ProgressToken, ProtocolVersion,
        ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio_util::sync::CancellationToken;
use wharf_core::{Answer, CallRequest, Code, ContextRules, Error, EventSink, InputGiven, ToolService};

use crate::{
    answer,
    catalogue::{self, Catalogue},
    changes::Changes,
    events::CallEvents,
    hints,
    info::ServerInfo,
};

/// How long a client may take a list of tools for fresh, in milliseconds.
/// Short, since tools come and go and not every client listens for that.
const LIST_FRESH_MILLISECONDS: u64 = 5_000;

/// One connection. Clones share everything.
#[derive(Clone)]
pub(crate) struct Handler {
    shared: Arc<Shared>,
}

struct Shared {
    service: Arc<dyn ToolService>,
    rules: ContextRules,
    config: ServerConfig,
    catalogue: Catalogue,
    changes: Changes,
    // A lock of the standard library: held for a copy.
    level: Mutex<LoggingLevel>,
    warned_of_default: AtomicBool,
}

impl Handler {
    /// `over` fires when the connection ends.
    pub(crate) fn new(
        service: Arc<dyn ToolService>,
        rules: ContextRules,
        info: ServerInfo,
        over: CancellationToken,
    ) -> Self {
        let changes = Changes::new(service.changes(), over);
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_logging().build();
        if let Some(tools) = capabilities.tools.as_mut().filter(|_| changes.happen()) {
            tools.list_changed = Some(true);
        }
        let implementation = Implementation::new(info.name, info.version).with_title(info.title);
        let mut config = ServerConfig::new(capabilities).with_server_info(implementation);
        config.instructions = Some(info.instructions).filter(|text| !text.is_empty());
        let shared = Shared {
            service,
            rules,
            config,
            catalogue: Catalogue::default(),
            changes,
            level: Mutex::new(LoggingLevel::Info),
            warned_of_default: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The level from which messages are sent for a request. A client of the
    /// older era sets it for the connection, one of the newer in each request.
    fn message_floor(&self, context: &RequestContext<RoleServer>, modern: bool) -> Option<LoggingLevel> {
        if modern {
            context.meta.log_level()
        } else {
            Some(*self.shared.level.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }

    /// Makes the call out of the request.
    fn prepare(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
        modern: bool,
    ) -> Result<(CallRequest, Option<Arc<CallEvents>>), Error> {
        let token: Option<ProgressToken> = context.meta.get_progress_token();
        let floor = self.message_floor(&context, modern);
        let mut meta = std::mem::take(&mut context.meta.0.0);
        let hints = hints::take(&mut meta)?;
        let mut arguments = request.arguments.unwrap_or_default();
        let resolved = self.shared.rules.resolve(&hints, &mut arguments)?;
        if !resolved.dropped.is_empty() {
            tracing::warn!(tool = %request.name, fields = ?resolved.dropped, "context fields in arguments were dropped");
        }
        if resolved.defaulted && !self.shared.warned_of_default.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                session = %resolved.context.session,
                "the client names no session, so all its conversations share one; \
                 `wharf serve --session NAME` gives this client one of its own"
            );
        }
        let events =
            (token.is_some() || floor.is_some()).then(|| Arc::new(CallEvents::new(context.peer, token, floor)));
        let call = CallRequest {
            tool: request.name.into_owned(),
            arguments,
            context: resolved.context,
            request_meta: meta,
            input: InputGiven::default(),
            cancel: context.ct,
            events: events.clone().map(|events| events as Arc<dyn EventSink>),
        };
        Ok((call, events))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.shared.config.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("this host lists all tools at once and gives no cursors", None));
        }
        self.shared.changes.listing();
        let tools = self.shared.catalogue.tools(&self.shared.service.tools());
        let mut result = ListToolsResult::with_all_items(tools.to_vec());
        result.ttl_ms = Some(LIST_FRESH_MILLISECONDS);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let definitions = self.shared.service.tools();
        let at = catalogue::find(&definitions, name)?;
        self.shared.catalogue.tools(&definitions).get(at).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let definitions = self.shared.service.tools();
        if catalogue::find(&definitions, &request.name).is_none() {
            return Err(ErrorData::invalid_params(catalogue::unknown(&definitions, &request.name), None));
        }
        drop(definitions);
        let modern = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let cancelled = context.ct.clone();
        let (call, events) = match self.prepare(request, context, modern) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(answer::failure(error).into()),
        };
        let calling = guarded(self.shared.service.call(call));
        let outcome = match events {
            None => calling.await,
            Some(events) => {
                let calling = async {
                    let outcome = calling.await;
                    events.finish();
                    outcome
                };
                // What the call said comes before what it answers.
                tokio::join!(calling, events.forward(&cancelled)).0
            }
        };
        let result = match outcome {
            Ok(answer) => answer::result(answer, modern),
            Err(error) => answer::failure(error),
        };
        Ok(result.into())
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        *self.shared.level.lock().unwrap_or_else(PoisonError::into_inner) = request.level;
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.shared.changes.announce(&context.peer).await;
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The protocol crate takes out what the capabilities do not name.
        self.shared.changes.happen().then(|| requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.shared.changes.serve(subscription).await
    }

    // The protocol crate answers these with empty lists; what is not offered
    // is refused instead.

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }
}

/// A panic of the host ends its own call with an answer; without this the
/// client would wait for ever.
async fn guarded(calling: impl Future<Output = Result<Answer, Error>>) -> Result<Answer, Error> {
    let mut calling = pin!(calling);
    std::future::poll_fn(|context| {
        // Nothing of the call is looked at again after a panic.
        catch_unwind(AssertUnwindSafe(|| calling.as_mut().poll(context))).unwrap_or_else(|_| {
            let told = "the host failed in this call, and only in this one; its log says more";
            Poll::Ready(Err(Error::new(Code::Internal, told)))
        })
    })
    .await
}
