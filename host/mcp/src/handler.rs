//! The protocol's methods over what is [`Served`].
//!
//! Owns what a connection remembers: the level of messages, which list was seen, which
//! resources are watched, and which warnings were given. It keys nothing else on the
//! connection, since one connection carries many conversations.

#![expect(deprecated, reason = "logging/setLevel is deprecated since 2026-07-28 and used by all of today's clients")]

use std::sync::Arc;

#[cfg(feature = "http")]
use rmcp::model::Extensions;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, Implementation, InitializeRequestParams,
        InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, PromptsCapability, ReadResourceRequestParams, ReadResourceResponse,
        ResourcesCapability, ServerCapabilities, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams,
        SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestMethod,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, Peer, RequestContext, SubscriptionContext},
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wharf_core::{Context, ContextRules, Error, service::Viewer, tool::json_bytes};

#[cfg(feature = "http")]
use crate::session_settings::{SessionSettings, SettingsKeeper, SettingsShelf};
use crate::{
    changes::ChangeNotifier,
    client_request::{self, ClientRequest, Remembered},
    context_claims,
    info::ServerInfo,
    malformed,
    refusal::refusal,
    request_origin::RequestOrigin,
    served::{Offered, Served},
};

/// How long a client may take a list for fresh, in milliseconds. Short, since
/// plugins come and go and not every client listens for that.
pub(crate) const LIST_FRESH_MILLISECONDS: u64 = 5_000;

/// What a client of the older era may declare for its whole connection.
const MAX_CAPABILITIES_BYTES: u64 = 16 << 10;

/// One connection. Clones share everything.
///
/// Cheap to make: a few allocations and no work, so that a transport may make one for
/// each request of the newer era. What a client of the older era sets or subscribes to
/// is kept here and ends with it, so such a client needs the same one for its whole
/// session. What has to outlive a connection is in [`Served`].
#[derive(Clone)]
pub(crate) struct Handler {
    shared: Arc<ConnectionState>,
}

struct ConnectionState {
    served: Served,
    rules: ContextRules,
    info: ServerInfo,
    changes: ChangeNotifier,
    remembered: Remembered,
    /// Where it is written down what the client of a session sets.
    #[cfg(feature = "http")]
    shelf: Option<SettingsKeeper>,
}

impl Handler {
    /// `over` fires when the connection ends.
    pub(crate) fn new(served: Served, rules: ContextRules, info: ServerInfo, over: CancellationToken) -> Self {
        let changes = ChangeNotifier::new(&served, rules.tenant.clone(), over);
        let shared = ConnectionState {
            served,
            rules,
            info,
            changes,
            remembered: Remembered::default(),
            #[cfg(feature = "http")]
            shelf: None,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Writes down what the client of a session sets, and takes up what it had set where the
    /// session goes on here.
    #[cfg(feature = "http")]
    pub(crate) fn with_settings_of(mut self, shelf: impl SettingsShelf + 'static) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.shelf = Some(SettingsKeeper::new(shelf));
        }
        self
    }

    #[cfg(feature = "http")]
    async fn keep_settings(&self, extensions: &Extensions) {
        let Some(keeper) = &self.shared.shelf else { return };
        let settings = || SessionSettings {
            level: Some(self.shared.remembered.level()),
            watched: self.changes().watching().all(),
        };
        keeper.keep(extensions, settings).await;
    }

    #[cfg(feature = "http")]
    async fn restore_settings(&self, extensions: &Extensions) {
        let Some(keeper) = &self.shared.shelf else { return };
        let Some(SessionSettings { level, watched }) = keeper.kept(extensions).await else { return };
        if let Some(level) = level {
            self.shared.remembered.set_level(level);
        }
        for (session, uri) in watched {
            // As many as the client could watch before.
            let _ = self.changes().watching().add(&Context::new(self.rules().tenant.clone(), session), &uri);
        }
    }

    pub(crate) fn served(&self) -> &Served {
        &self.shared.served
    }

    /// On whose behalf everything here is, at first.
    pub(crate) fn rules(&self) -> &ContextRules {
        &self.shared.rules
    }

    pub(crate) fn changes(&self) -> &ChangeNotifier {
        &self.shared.changes
    }

    /// The viewer of what is served here.
    pub(crate) fn viewer(&self) -> Viewer<'_> {
        Viewer { tenant: &self.shared.rules.tenant, plugins: self.shared.served.plugins.as_ref() }
    }

    /// The other end of a connection of the older era, once it has said that it is ready.
    pub(crate) fn peer(&self) -> Option<Peer<RoleServer>> {
        self.shared.remembered.peer()
    }

    pub(crate) fn offered(&self) -> Offered {
        self.shared.served.offered(self.viewer())
    }

    /// Reads the caller of `what`.
    pub(crate) fn request(
        &self,
        what: &str,
        origin: impl Into<RequestOrigin>,
        arguments: &mut Map<String, Value>,
    ) -> Result<ClientRequest, Error> {
        let ConnectionState { rules, served, remembered, .. } = &*self.shared;
        ClientRequest::read(what, origin.into(), arguments, (rules, served.plugins.as_ref()), remembered)
    }

    /// The conversation in which something is watched.
    fn conversation(&self, context: &RequestContext<RoleServer>) -> Result<Context, ErrorData> {
        let claims = context_claims::of_request(&mut context.meta.0.0.clone(), &context.extensions).map_err(refusal)?;
        let resolved = self.shared.rules.resolve(&claims, &mut Map::new()).map_err(refusal)?;
        Ok(resolved.context)
    }

    fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_logging().build();
        if let Some(tools) = capabilities.tools.as_mut().filter(|_| self.changes().of_tools()) {
            tools.list_changed = Some(true);
        }
        let offered = self.offered();
        if offered.prompts {
            let mut prompts = PromptsCapability::default();
            prompts.list_changed = Some(true);
            capabilities.prompts = Some(prompts);
        }
        if offered.resources {
            let mut resources = ResourcesCapability::default();
            (resources.list_changed, resources.subscribe) = (Some(true), Some(true));
            capabilities.resources = Some(resources);
        }
        if offered.prompts || offered.resources {
            capabilities.completions = Some(Map::new());
        }
        capabilities
    }
}

/// Refuses to go on in a list: this host gives all at once.
pub(crate) fn no_cursor(page: Option<PaginatedRequestParams>, what: &str) -> Result<(), ErrorData> {
    if page.is_some_and(|page| page.cursor.is_some()) {
        let told = format!("this host lists all {what} at once and gives no cursors");
        return Err(ErrorData::invalid_params(told, None));
    }
    Ok(())
}

// The protocol crate moves the future of a request several times, and each has room for
// the largest method. So those that do more than a look-up are boxed: moved once, and at no cost to the others.
impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let info = &self.shared.info;
        let implementation =
            Implementation::new(info.name.clone(), info.version.clone()).with_title(info.title.clone());
        let mut config = ServerConfig::new(self.capabilities()).with_server_info(implementation);
        config.instructions = Some(info.instructions.clone()).filter(|text| !text.is_empty());
        config
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // They are kept, and told to plugins with every call.
        if json_bytes(&request.capabilities) > MAX_CAPABILITIES_BYTES {
            let told = format!("`capabilities` have more than {MAX_CAPABILITIES_BYTES} bytes");
            return Err(ErrorData::invalid_params(told, None));
        }
        self.changes().opening(self.served(), self.offered());
        let negotiated = self.negotiate_initialize(&request)?;
        // Keeps the version that was agreed on, for later questions, too: an unknown version is not
        // one of the newer era.
        request.protocol_version = negotiated.protocol_version.clone();
        context.peer.set_peer_info(request);
        #[cfg(feature = "http")]
        Box::pin(self.restore_settings(&context.extensions)).await;
        Ok(negotiated)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.shared.remembered.set_peer(&context.peer);
        Box::pin(self.changes().announce(self.served(), &context.peer)).await;
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.all_tools(page).await
    }

    /// The protocol crate asks for nothing but the schema that headers have to follow.
    #[cfg(feature = "http")]
    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        crate::endpoint::repeated_arguments().map(|schema| rmcp::model::Tool::new(name.to_owned(), "", schema))
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.all_prompts(page)
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Box::pin(self.all_resources(page, context)).await
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.all_templates(page)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Box::pin(self.read(request, context)).await.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.library::<SubscribeRequestMethod>()?;
        self.changes().watching().add(&self.conversation(&context)?, &request.uri)?;
        #[cfg(feature = "http")]
        Box::pin(self.keep_settings(&context.extensions)).await;
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.library::<UnsubscribeRequestMethod>()?;
        self.changes().watching().remove(&self.conversation(&context)?, &request.uri);
        #[cfg(feature = "http")]
        Box::pin(self.keep_settings(&context.extensions)).await;
        Ok(())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Box::pin(self.completed(request, context)).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if client_request::is_modern(&context) {
            // Each request says its own.
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.shared.remembered.set_level(request.level);
        #[cfg(feature = "http")]
        Box::pin(self.keep_settings(&context.extensions)).await;
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.changes().accept(self.served(), requested)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let context = self.conversation(subscription.request_context())?;
        Box::pin(self.changes().serve(self.served(), subscription, context)).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(malformed::answer(&request.method, &self.capabilities(), client_request::is_modern(&context)))
    }
}
