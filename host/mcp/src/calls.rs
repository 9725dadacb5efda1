//! `tools/list` and `tools/call`.

use std::sync::Arc;

use rmcp::{
    ErrorData,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, JsonRpcMessage, ListToolsResult, PaginatedRequestParams,
        RequestId, ServerJsonRpcMessage, ServerResult,
    },
};
use wharf_core::{Code, Error, InputGiven, json::InvalidJson, service::Arguments};

use crate::{
    answer,
    carried::CarriedCall,
    catalogue,
    handler::{self, Handler, LIST_FRESH_MILLISECONDS},
    refusal::refusal,
    request_origin::RequestOrigin,
    rounds::{self, CarriedInput, RoundOutcome, StateBinding},
    traced::RequestSpan,
};

impl Handler {
    pub(crate) async fn all_tools(&self, page: Option<PaginatedRequestParams>) -> Result<ListToolsResult, ErrorData> {
        handler::no_cursor(page, "tools")?;
        if let Some(preparing) = self.served().tools.preparing_list(&self.rules().tenant) {
            preparing.await;
        }
        let tools = self.changes().list(self.served());
        let mut result = ListToolsResult::with_all_items(tools.iter().map(catalogue::tool).collect());
        result.ttl_ms = Some(LIST_FRESH_MILLISECONDS);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        mut origin: RequestOrigin,
        span: &mut RequestSpan,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let carried = CarriedCall::of(&origin.extensions);
        let taken = carried.as_ref().and_then(CarriedCall::take_arguments);
        let found = origin.tool.take().or_else(|| carried?.tool);
        let mut arguments = taken.or(arguments).unwrap_or_default();
        let client = match self.request(&name, origin, &mut arguments) {
            Ok(client) => client,
            Err(error) => return Ok(answer::failure(error).into()),
        };
        let tool = match found {
            Some(tool) => tool,
            None => {
                let tools = &self.served().tools;
                if let Some(preparing) = tools.preparing(&client.caller, &name)
                    && let Err(error) = client.hearing_before(preparing).await
                {
                    return Ok(answer::failure(error).into());
                }
                tools.find(&client.caller, &name).map_err(refusal)?
            }
        };
        // A name becomes one of the span's only where the operator knows it.
        span.name_subject("tools/call", &name);
        let arguments = Arguments::from(arguments);
        let text = Arc::clone(arguments.text());
        let binding = client.modern.then(|| StateBinding {
            context: &client.caller.context,
            method: "tools/call",
            name: &name,
            arguments: Arc::clone(&text),
        });
        let mut first = Some(arguments);
        let make = |input: InputGiven| {
            let arguments = first.take().map_or_else(|| Arguments::parse(Arc::clone(&text)), Ok);
            let (tool, caller) = (Arc::clone(&tool), Arc::clone(&client.caller));
            async move { tool.call(caller, arguments.map_err(|error| lost(&error))?, input).await }
        };
        let carried = CarriedInput { responses: input_responses, state: request_state };
        let calling = Box::pin(rounds::run(&client, self.served().sealer(), binding.as_ref(), carried, make));
        let mut result = match client.hearing(calling).await {
            Ok(RoundOutcome::Done(answer)) => answer::result(answer, client.modern),
            Ok(RoundOutcome::Asks(required)) => return Ok(required.into()),
            Ok(RoundOutcome::Refused(error)) => return Err(error),
            Err(error) => answer::failure(error),
        };
        answer::warn(&mut result.meta, client.warning);
        Ok(result.into())
    }
}

/// The message that answers a call, as the protocol crate would make it.
pub(crate) fn message(
    called: Result<CallToolResponse, ErrorData>,
    id: RequestId,
    modern: bool,
) -> ServerJsonRpcMessage {
    match called {
        Ok(response) => {
            let mut result = ServerResult::from(response);
            if !modern {
                result.strip_result_type_for_legacy_peer();
            }
            JsonRpcMessage::response(result, id)
        }
        Err(error) => JsonRpcMessage::error(error, Some(id)),
    }
}

fn lost(error: &InvalidJson) -> Error {
    Error::new(Code::Internal, format!("the host cannot read the arguments of this call again: {error}"))
}
