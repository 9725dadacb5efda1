//! One span for each request of a client, after the semantic conventions of
//! OpenTelemetry for this protocol.
//!
//! Owns what a request says of the trace that it belongs to, and what its span says
//! of it: names and ids, never an argument, an address of a resource or an answer.

#![expect(
    deprecated,
    reason = "levels of messages and subscriptions of the older era are used by all of today's clients"
)]

use http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult,
        DiscoverResult, Extensions, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams,
        InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        NumberOrString, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        RequestId, RequestMetaObject, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
        Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use wharf_core::{
    Tracer,
    trace::{RemoteParent, RunningSpan, Span, SpanKind, TraceParent},
};

use crate::{context_claims, handler::Handler, request_origin::RequestOrigin};

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// A handler whose requests are traced where its tools are. A ping is not, since it
/// does nothing, nor a subscription, which lasts as long as its client likes.
#[derive(Clone)]
pub(crate) struct Traced(Handler);

/// The span of one request; nothing where nobody traces.
pub(crate) struct RequestSpan(Option<RunningSpan>);

impl RequestSpan {
    pub(crate) fn is_traced(&self) -> bool {
        self.0.is_some()
    }

    /// Names it for what was asked for: a name that the operator knows.
    pub(crate) fn name_subject(&mut self, method: &str, subject: &str) {
        self.describe(|span| span.rename(&format!("{method} {subject}")));
    }

    fn describe(&mut self, describe: impl FnOnce(&mut Span)) {
        if let Some(span) = &mut self.0 {
            span.describe(describe);
        }
    }

    fn end<T>(mut self, answered: &Result<T, ErrorData>) {
        if let Err(error) = answered {
            self.describe(|span| {
                let code = error.code.0.to_string();
                span.set("rpc.response.status_code", code.as_str());
                span.fail(&code);
            });
        }
        if let Some(span) = self.0 {
            span.end();
        }
    }
}

/// Methods whose requests have nothing that a span could be named for.
macro_rules! traced {
    ($($method:literal: $function:ident($request:ty) -> $answer:ty;)*) => {$(
        async fn $function(
            &self,
            request: $request,
            mut context: RequestContext<RoleServer>,
        ) -> Result<$answer, ErrorData> {
            let span = self.begin($method, &mut context);
            let answered = self.0.$function(request, context).await;
            span.end(&answered);
            answered
        }
    )*};
}

impl Traced {
    pub(crate) fn new(handler: Handler) -> Self {
        Self(handler)
    }

    pub(crate) fn handler(&self) -> &Handler {
        &self.0
    }

    /// Begins the span of a request, and says to all that it comes to what it belongs to.
    fn begin(&self, method: &str, context: &mut RequestContext<RoleServer>) -> RequestSpan {
        let Some(tracer) = self.0.served().tools.tracer() else { return RequestSpan(None) };
        let version = context.protocol_version();
        let RequestContext { id, meta, extensions, .. } = context;
        self.span(&tracer, method, (id, meta, version), extensions)
    }

    fn span(
        &self,
        tracer: &Tracer,
        method: &str,
        (id, meta, version): (&RequestId, &RequestMetaObject, Option<ProtocolVersion>),
        extensions: &mut Extensions,
    ) -> RequestSpan {
        let mut span = tracer.begin(SpanKind::Server, said(meta, extensions).as_ref());
        span.describe(|span| {
            span.rename(method);
            span.set("mcp.method.name", method);
            span.set("wharf.tenant", self.0.rules().tenant.as_str());
            describe(span, id, version, extensions);
        });
        extensions.insert(span.as_parent());
        RequestSpan(Some(span))
    }

    /// `tools/call`, however its request came.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        mut origin: RequestOrigin,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut span = match self.0.served().tools.tracer() {
            None => RequestSpan(None),
            Some(tracer) => {
                let version = origin.version();
                let RequestOrigin { id, meta, extensions, .. } = &mut origin;
                self.span(&tracer, "tools/call", (id, meta, version), extensions)
            }
        };
        span.describe(|span| {
            span.set("gen_ai.operation.name", "execute_tool");
            span.set("gen_ai.tool.name", &*request.name);
        });
        let answered = self.0.call(request, origin, &mut span).await;
        if let Ok(CallToolResponse::Complete(result)) = &answered
            && result.is_error == Some(true)
        {
            span.describe(|span| span.fail("tool_error"));
        }
        span.end(&answered);
        answered
    }
}

impl ServerHandler for Traced {
    traced! {
        "initialize": initialize(InitializeRequestParams) -> InitializeResult;
        "tools/list": list_tools(Option<PaginatedRequestParams>) -> ListToolsResult;
        "prompts/list": list_prompts(Option<PaginatedRequestParams>) -> ListPromptsResult;
        "resources/list": list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult;
        "resources/templates/list":
            list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult;
        "resources/read": read_resource(ReadResourceRequestParams) -> ReadResourceResponse;
        "resources/subscribe": subscribe(SubscribeRequestParams) -> ();
        "resources/unsubscribe": unsubscribe(UnsubscribeRequestParams) -> ();
        "completion/complete": complete(CompleteRequestParams) -> CompleteResult;
        "logging/setLevel": set_level(SetLevelRequestParams) -> ();
        // The name of an unknown method is whatever its client writes.
        "_OTHER": on_custom_request(CustomRequest) -> CustomResult;
    }

    async fn discover(&self, mut context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let span = self.begin("server/discover", &mut context);
        let answered = self.0.discover(context).await;
        span.end(&answered);
        answered
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Box::pin(self.call(request, context.into())).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut span = self.begin("prompts/get", &mut context);
        span.describe(|span| span.set("gen_ai.prompt.name", request.name.as_str()));
        let answered = Box::pin(self.0.prompt(request, context, &mut span)).await;
        span.end(&answered);
        answered
    }

    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.get_tool(name)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.on_initialized(context).await;
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.listen(subscription).await
    }
}

/// What the request says of its trace: in its `_meta` (SEP-414), else by its transport.
/// What breaks the form says nothing.
fn said(meta: &RequestMetaObject, extensions: &Extensions) -> Option<TraceParent> {
    let text = |key| meta.0.0.get(key).and_then(serde_json::Value::as_str);
    let remote = text(PARENT).and_then(|parent| RemoteParent::of_headers(parent, text(STATE)));
    let of_http = || extensions.get::<Parts>()?.extensions.get::<TraceParent>().cloned();
    remote.map(TraceParent::Remote).or_else(of_http)
}

/// What any request says of itself.
fn describe(span: &mut Span, id: &RequestId, version: Option<ProtocolVersion>, extensions: &Extensions) {
    match id {
        NumberOrString::Number(id) => span.set("jsonrpc.request.id", id.to_string().as_str()),
        NumberOrString::String(id) => span.set("jsonrpc.request.id", &**id),
    }
    if let Some(version) = version {
        span.set("mcp.protocol.version", version.as_str());
    }
    let Some(parts) = extensions.get::<Parts>() else {
        span.set("network.transport", "pipe");
        return;
    };
    span.set("network.transport", "tcp");
    span.set("network.protocol.name", "http");
    if let Some(session) = context_claims::session_header(parts) {
        span.set("mcp.session.id", session);
    }
}
