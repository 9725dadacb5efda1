//! `tools/list` and `tools/call`.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer,
    model::{CacheScope, CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, Tool},
    service::RequestContext,
};
use serde_json::Value;
use wharf_core::{Answer, CallRequest, Error, InputGiven};

use crate::{
    answer, catalogue,
    handler::{self, Handler, LIST_FRESH_MILLISECONDS},
    names,
    rounds::{self, Binding, Carried, Outcome},
};

impl Handler {
    pub(crate) fn all_tools(&self, page: Option<PaginatedRequestParams>) -> Result<ListToolsResult, ErrorData> {
        handler::no_cursor(page, "tools")?;
        self.changes().listing();
        let tools = self.served().protocol_tools(&self.served().tools.tools());
        let mut result = ListToolsResult::with_all_items(tools.to_vec());
        result.ttl_ms = Some(LIST_FRESH_MILLISECONDS);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        let definitions = self.served().tools.tools();
        let at = catalogue::find(&definitions, name)?;
        self.served().protocol_tools(&definitions).get(at).cloned()
    }

    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let definitions = self.served().tools.tools();
        if catalogue::find(&definitions, &request.name).is_none() {
            let names = definitions.iter().map(|definition| definition.name.as_str());
            return Err(ErrorData::invalid_params(names::unknown("tool", names, &request.name), None));
        }
        drop(definitions);
        let called = match self.call_in_rounds(request, context).await {
            Ok(called) => called,
            Err(error) => return Ok(answer::failure(error).into()),
        };
        let mut result = match called.outcome {
            Ok(Outcome::Done(answer)) => answer::result(answer, called.modern),
            Ok(Outcome::Asks(required)) => return Ok(required.into()),
            Ok(Outcome::Refused(error)) => return Err(error),
            Err(error) => answer::failure(error),
        };
        answer::warn(&mut result.meta, called.warning);
        Ok(result.into())
    }

    async fn call_in_rounds(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Called, Error> {
        let mut arguments = request.arguments.unwrap_or_default();
        let name = request.name.into_owned();
        let mut caller = self.caller(&name, context, &mut arguments)?;
        let carried = Carried { responses: request.input_responses, state: request.request_state };
        let binding = caller.modern.then(|| Binding::of(&caller.context, "tools/call", &name, &arguments));
        let call = CallRequest {
            request_meta: std::mem::take(&mut caller.request_meta),
            cancel: caller.cancel.clone(),
            events: caller.events(),
            trace: caller.trace.clone(),
            client: caller.client.clone(),
            ..CallRequest::new(caller.context.clone(), name, arguments)
        };
        // Only clients of the older era have their calls made again here.
        let again = !caller.modern;
        let mut call = Some(call);
        let tools = &self.served().tools;
        let make = |input: InputGiven| {
            let next = if again { call.as_ref().map(copied) } else { call.take() };
            let tools = Arc::clone(tools);
            async move {
                let Some(mut next) = next else { return Err(handler::called_twice()) };
                next.input = input;
                tools.call(next).await
            }
        };
        let calling = Box::pin(rounds::run(&caller, self.served().seals(), binding.as_ref(), carried, make));
        let outcome = caller.hearing(calling).await;
        Ok(Called { outcome, modern: caller.modern, warning: caller.warning })
    }
}

/// A call that was made, and what its client is told beside what came of it.
struct Called {
    outcome: Result<Outcome<Answer>, Error>,
    modern: bool,
    warning: Option<Value>,
}

fn copied(call: &CallRequest) -> CallRequest {
    CallRequest {
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        context: call.context.clone(),
        request_meta: call.request_meta.clone(),
        input: InputGiven::default(),
        cancel: call.cancel.clone(),
        events: call.events.clone(),
        trace: call.trace.clone(),
        client: call.client.clone(),
    }
}
