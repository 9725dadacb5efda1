//! `resources/list`, `resources/templates/list`, `resources/read`, and the
//! subscriptions of the older era.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CacheScope, ConstString, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
        ListResourcesRequestMethod, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestMethod,
        ReadResourceRequestParams, ReadResourceResult,
    },
    service::RequestContext,
};
use serde_json::{Map, json};
use wharf_core::{Code, Error, OfferService, text};

use crate::{
    answer, catalogue,
    client_request::{ClientRequest, guarded},
    handler::{self, Handler, LIST_FRESH_MILLISECONDS},
    refusal::refusal,
    rounds,
};

/// What a client may keep of what depends on the conversation: nothing, since the key
/// of no cache names the conversation.
const STALE_AT_ONCE: u64 = 0;

impl Handler {
    /// The service of resources, where any plugin offers or has offered one.
    pub(crate) fn library<M: ConstString>(&self) -> Result<&Arc<dyn OfferService>, ErrorData> {
        let offers = self.served().offers.as_ref().filter(|_| self.offered().resources);
        offers.ok_or_else(ErrorData::method_not_found::<M>)
    }

    pub(crate) async fn all_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let offers = self.library::<ListResourcesRequestMethod>()?;
        handler::no_cursor(page, "resources")?;
        let client = self.request("resources/list", context, &mut Map::new()).map_err(refusal)?;
        let listing = guarded(offers.resources(&client.caller));
        let resources = client.hearing(listing).await.map_err(refusal)?;
        resources.iter().for_each(|resource| client.keep(resource.memory.clone()));
        let resources = resources.into_iter().map(catalogue::resource).collect();
        let mut result = ListResourcesResult::with_all_items(resources);
        result.ttl_ms = Some(STALE_AT_ONCE);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    pub(crate) fn all_templates(
        &self,
        page: Option<PaginatedRequestParams>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let offers = self.library::<ListResourceTemplatesRequestMethod>()?;
        handler::no_cursor(page, "resource templates")?;
        let templates = offers.templates(self.viewer());
        let mut result =
            ListResourceTemplatesResult::with_all_items(templates.iter().map(catalogue::template).collect());
        result.ttl_ms = Some(LIST_FRESH_MILLISECONDS);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    pub(crate) async fn read(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResult, ErrorData> {
        let offers = self.library::<ReadResourceRequestMethod>()?;
        let client = self.request("resources/read", context, &mut Map::new()).map_err(refusal)?;
        if client.modern && request.request_state.is_some() {
            // Reading asks for nothing, so no state can be of it.
            return Err(rounds::foreign_state());
        }
        let contents = self.contents(offers.as_ref(), &request.uri, &client).await?;
        let mut result = ReadResourceResult::new(contents);
        result.ttl_ms = Some(STALE_AT_ONCE);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    async fn contents(
        &self,
        offers: &dyn OfferService,
        uri: &str,
        client: &ClientRequest,
    ) -> Result<Vec<rmcp::model::ResourceContents>, ErrorData> {
        let reading = guarded(offers.read_resource(&client.caller, uri));
        let read = client.hearing(reading).await.map_err(|error| match error {
            Error { code: Code::NotFound, .. } => not_found(uri),
            error => refusal(error),
        })?;
        read.iter().for_each(|part| client.keep(part.memory.clone()));
        Ok(read.into_iter().map(|part| answer::contents(part.uri, part.content)).collect())
    }
}

/// The protocol crate makes of its code what the client's era has for it.
fn not_found(uri: &str) -> ErrorData {
    let told = format!(
        "there is no resource {:?} here; resources/list has those of this conversation, and \
         resources/templates/list what others are called",
        text::line(uri, 100)
    );
    ErrorData::resource_not_found(told, Some(json!({ "uri": uri })))
}
