//! `completion/complete`.

use rmcp::{
    ErrorData, RoleServer,
    model::{CompleteRequestMethod, CompleteRequestParams, CompleteResult, CompletionInfo, Reference},
    service::RequestContext,
};
use serde_json::Map;
use wharf_core::service::offer::{CompletionOf, Completions};

use crate::{client_request::guarded, handler::Handler, refusal::refusal};

impl Handler {
    pub(crate) async fn completed(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let offered = self.offered();
        let offers = self.served().offers.as_ref().filter(|_| offered.prompts || offered.resources);
        let offers = offers.ok_or_else(ErrorData::method_not_found::<CompleteRequestMethod>)?;
        let of = match request.r#ref {
            Reference::Prompt(prompt) => CompletionOf::Prompt(prompt.name),
            Reference::Resource(template) => CompletionOf::Template(template.uri),
            _ => return Err(ErrorData::invalid_params("`ref` is neither a prompt nor a template of resources", None)),
        };
        let client = self.request("completion/complete", context, &mut Map::new()).map_err(refusal)?;
        let others = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let others = others.into_iter().map(|(name, value)| (name, value.into())).collect();
        let argument = request.argument;
        let completing = guarded(offers.complete(&client.caller, of, &argument.name, &argument.value, others));
        let completions = client.hearing(completing).await.map_err(refusal)?;
        Ok(CompleteResult::new(info(completions)))
    }
}

/// At most as many as the protocol takes.
fn info(completions: Completions) -> CompletionInfo {
    let Completions { mut values, total, has_more } = completions;
    let cut = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    (info.values, info.total, info.has_more) = (values, total, Some(has_more || cut));
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_told_than_the_protocol_takes() {
        let values: Vec<_> = (0..101).map(|at| at.to_string()).collect();
        let cut = info(Completions { values: values.clone(), total: Some(101), has_more: false });
        assert_eq!((cut.values.len(), cut.total, cut.has_more), (100, Some(101), Some(true)));
        let whole = info(Completions { values: values[..100].to_vec(), total: None, has_more: false });
        assert_eq!((whole.values.len(), whole.has_more), (100, Some(false)));
    }
}
