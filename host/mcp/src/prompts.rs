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
    service::offer::{self, PromptAnswer},
};

use crate::{
    answer,
    handler::{self, Handler, LIST_FRESH_MILLISECONDS},
    names,
    refusal::refusal,
    rounds::{self, Binding, Carried, Outcome},
};

impl Handler {
    /// Who offers prompts, where anybody does or did.
    fn prompter(&self) -> Option<&Arc<dyn OfferService>> {
        self.served().offers.as_ref().filter(|_| self.served().offered().prompts)
    }

    pub(crate) fn all_prompts(&self, page: Option<PaginatedRequestParams>) -> Result<ListPromptsResult, ErrorData> {
        let offers = self.prompter().ok_or_else(ErrorData::method_not_found::<ListPromptsRequestMethod>)?;
        handler::no_cursor(page, "prompts")?;
        let mut result = ListPromptsResult::with_all_items(self.served().protocol_prompts(&offers.prompts()).to_vec());
        result.ttl_ms = Some(LIST_FRESH_MILLISECONDS);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    /// The name of a prompt of ours.
    pub(crate) fn check_prompt(offers: &dyn OfferService, name: &str) -> Result<(), ErrorData> {
        let definitions = offers.prompts();
        let mut names = definitions.iter().map(|definition| definition.name.as_str());
        if names.clone().any(|known| known == name) {
            return Ok(());
        }
        Err(ErrorData::invalid_params(names::unknown("prompt", &mut names, name), None))
    }

    pub(crate) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let offers = self.prompter().ok_or_else(ErrorData::method_not_found::<GetPromptRequestMethod>)?;
        Self::check_prompt(offers.as_ref(), &request.name)?;
        let mut arguments = request.arguments.unwrap_or_default();
        let caller = self.caller(&request.name, context, &mut arguments).map_err(refusal)?;
        let carried = Carried { responses: request.input_responses, state: request.request_state };
        let binding = caller.modern.then(|| Binding::of(&caller.context, "prompts/get", &request.name, &arguments));
        let make = |input: InputGiven| {
            let (offers, name) = (Arc::clone(offers), request.name.clone());
            let (arguments, asking) = (arguments.clone(), caller.asking(input));
            async move { offers.prompt(&name, arguments, asking).await }
        };
        let making = rounds::run(&caller, self.served().seals(), binding.as_ref(), carried, make);
        match caller.hearing(making).await.map_err(refusal)? {
            Outcome::Done(answer) => {
                let mut result = result(answer);
                answer::warn(&mut result.meta, caller.warning);
                Ok(result.into())
            }
            Outcome::Asks(required) => Ok(required.into()),
            Outcome::Refused(error) => Err(error),
        }
    }
}

fn result(answer: PromptAnswer) -> GetPromptResult {
    let PromptAnswer { description, messages, input_required: _, meta } = answer;
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
