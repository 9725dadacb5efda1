//! `prompts/list` and `prompts/get`.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CacheScope, GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
        ListPromptsRequestMethod, ListPromptsResult, PaginatedRequestParams, PromptMessage, Role,
    },
    service::RequestContext,
};
use wharf_core::{
    InputGiven, OfferService,
    service::{
        Arguments,
        offer::{self, PromptAnswer},
    },
};

use crate::{
    answer, catalogue,
    handler::{self, Handler, LIST_FRESH_MILLISECONDS},
    refusal::refusal,
    rounds::{self, CarriedInput, RoundOutcome, StateBinding},
    traced::RequestSpan,
};

impl Handler {
    /// The service of prompts, where any plugin offers or has offered one.
    fn prompter(&self) -> Option<&Arc<dyn OfferService>> {
        self.served().offers.as_ref().filter(|_| self.offered().prompts)
    }

    pub(crate) fn all_prompts(&self, page: Option<PaginatedRequestParams>) -> Result<ListPromptsResult, ErrorData> {
        let offers = self.prompter().ok_or_else(ErrorData::method_not_found::<ListPromptsRequestMethod>)?;
        handler::no_cursor(page, "prompts")?;
        let prompts = offers.prompts(self.viewer());
        let mut result = ListPromptsResult::with_all_items(prompts.iter().map(catalogue::prompt).collect());
        result.ttl_ms = Some(LIST_FRESH_MILLISECONDS);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    pub(crate) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
        span: &mut RequestSpan,
    ) -> Result<GetPromptResponse, ErrorData> {
        let offers = self.prompter().ok_or_else(ErrorData::method_not_found::<GetPromptRequestMethod>)?;
        let GetPromptRequestParams { name, arguments, input_responses, request_state, .. } = request;
        if span.is_traced() && offers.has_prompt(self.viewer(), &name) {
            span.name_subject("prompts/get", &name);
        }
        let mut arguments = arguments.unwrap_or_default();
        let client = self.request(&name, context, &mut arguments).map_err(refusal)?;
        let arguments = Arguments::from(arguments);
        let binding = client.modern.then(|| StateBinding {
            context: &client.caller.context,
            method: "prompts/get",
            name: &name,
            arguments: Arc::clone(arguments.text()),
        });
        let make = |input: InputGiven| offers.prompt(&client.caller, &name, &arguments, input);
        let carried = CarriedInput { responses: input_responses, state: request_state };
        let making = rounds::run(&client, self.served().sealer(), binding.as_ref(), carried, make);
        match client.hearing(making).await.map_err(refusal)? {
            RoundOutcome::Done(answer) => {
                let mut result = result(answer);
                answer::warn(&mut result.meta, client.warning);
                Ok(result.into())
            }
            RoundOutcome::Asks(required) => Ok(required.into()),
            RoundOutcome::Refused(error) => Err(error),
        }
    }
}

fn result(answer: PromptAnswer) -> GetPromptResult {
    // The client's request keeps the memory.
    let PromptAnswer { description, messages, input_required: _, meta, memory: _ } = answer;
    let messages = messages.into_iter().enumerate().map(|(at, message)| {
        let role = match message.role {
            offer::Role::User => Role::User,
            offer::Role::Assistant => Role::Assistant,
        };
        PromptMessage::new(role, answer::block(at, message.content))
    });
    let mut result = GetPromptResult::new(messages.collect());
    (result.description, result.meta) = (description, answer::filled(meta));
    result
}
