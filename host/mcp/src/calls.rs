//! `tools/list` and `tools/call`.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer,
    model::{CacheScope, CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, Tool},
    service::RequestContext,
};
use serde_json::{Map, Value};
use wharf_core::{Answer, CallRequest, Error, InputGiven};

use crate::{
    answer, carried, catalogue,
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
        let mut arguments =
            carried::Arguments::of(&context.extensions).unwrap_or_else(|| request.arguments.unwrap_or_default());
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
        let again = (!caller.modern).then(|| Again::of(&call));
        let mut call = Some(call);
        let tools = &self.served().tools;
        let make = |input: InputGiven| {
            let next = call.take().or_else(|| again.as_ref().and_then(Again::call));
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

/// A call that may be made again: without its arguments, and these.
struct Again {
    call: CallRequest,
    arguments: Kept,
}

/// Arguments that are kept for a call that is hardly ever made again. Many values take a
/// multiple of their text, so of those it is the text that is kept.
enum Kept {
    Values(Map<String, Value>),
    Text(Vec<u8>),
}

/// Values of which a copy is kept as it is.
const FEW_VALUES: usize = 1_000;

impl Again {
    fn of(call: &CallRequest) -> Self {
        let mut left = FEW_VALUES;
        let arguments = match call.arguments.values().all(|value| are_few(value, &mut left)) {
            true => Kept::Values(call.arguments.clone()),
            false => Kept::Text(serde_json::to_vec(&call.arguments).unwrap_or_default()),
        };
        Self { call: without_arguments(call), arguments }
    }

    fn call(&self) -> Option<CallRequest> {
        let arguments = match &self.arguments {
            Kept::Values(values) => values.clone(),
            Kept::Text(text) => serde_json::from_slice(text).ok()?,
        };
        Some(CallRequest { arguments, ..without_arguments(&self.call) })
    }
}

/// Whether there are no more values in this one than are left.
fn are_few(value: &Value, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return false };
    *left = fewer;
    match value {
        Value::Array(items) => items.iter().all(|item| are_few(item, left)),
        Value::Object(members) => members.values().all(|member| are_few(member, left)),
        _ => true,
    }
}

fn without_arguments(call: &CallRequest) -> CallRequest {
    CallRequest {
        tool: call.tool.clone(),
        arguments: Map::new(),
        context: call.context.clone(),
        request_meta: call.request_meta.clone(),
        input: InputGiven::default(),
        cancel: call.cancel.clone(),
        events: call.events.clone(),
        trace: call.trace.clone(),
        client: call.client.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wharf_core::{Context, SessionId, TenantId};

    #[test]
    fn a_call_is_made_again_with_the_arguments_that_it_had_however_many_they_are() {
        for count in [0, 1, 998, 999, 5_000] {
            let arguments = json!({"items": vec![json!({"": 1.5}); count], "text": "x"});
            let Value::Object(arguments) = arguments else { panic!("an object") };
            let context = Context::new(TenantId::local(), SessionId::default_session());
            let again = Again::of(&CallRequest::new(context, "t", arguments.clone()));
            assert_eq!(matches!(again.arguments, Kept::Text(_)), count > 498, "{count}");
            for _ in 0..2 {
                assert_eq!(again.call().expect("a call").arguments, arguments);
            }
        }
    }
}
