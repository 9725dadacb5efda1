//! What plugins answer of prompts, resources and completions, and what of it a
//! client may see.

use super::{claims::Claims, definition::check_resource};
use crate::{
    Code, Content, Error,
    service::offer::{Completions, PromptAnswer, PromptMessage, ResourceContent, ResourceDefinition},
    text,
    tool::{MAX_DESCRIPTION_BYTES, clean_fields},
};

/// Resources that one plugin lists in one context.
pub const MAX_RESOURCES: usize = 1_024;
/// Values of one completion.
pub const MAX_COMPLETIONS: usize = 100;
const MAX_COMPLETION_BYTES: usize = 1 << 10;

impl PromptAnswer {
    /// The answer as a client may see it: without invisible characters in its
    /// texts, and without members that would speak for the host.
    ///
    /// # Errors
    /// `internal` where it breaks the contract.
    pub fn checked(mut self) -> Result<Self, Error> {
        if self.description.as_ref().is_some_and(|description| description.len() > MAX_DESCRIPTION_BYTES) {
            return Err(broken(format!("the description of its prompt has more than {MAX_DESCRIPTION_BYTES} bytes")));
        }
        self.description = self.description.map(text::visible);
        let checked = |message: PromptMessage| Ok(PromptMessage { content: message.content.checked()?, ..message });
        self.messages = self.messages.into_iter().map(checked).collect::<Result<_, Error>>()?;
        clean_fields(&mut self.meta);
        Ok(self)
    }
}

/// Resources as a client may see them: within the claims of their plugin.
///
/// # Errors
/// `internal` where the listing breaks the contract.
pub fn checked_listing(
    mut resources: Vec<ResourceDefinition>,
    claims: &Claims,
) -> Result<Vec<ResourceDefinition>, Error> {
    if resources.len() > MAX_RESOURCES {
        return Err(broken(format!("it lists more than {MAX_RESOURCES} resources; a template stands for many")));
    }
    for resource in &mut resources {
        check_resource(resource, claims).map_err(|error| broken(error.to_string()))?;
    }
    resources.sort_by(|one, other| one.uri.cmp(&other.uri));
    resources.dedup_by(|one, other| one.uri == other.uri);
    Ok(resources)
}

/// What was read, as a client may see it. Its size is checked elsewhere.
///
/// # Errors
/// `internal` where it breaks the contract.
pub fn checked_parts(parts: Vec<ResourceContent>, claims: &Claims) -> Result<Vec<ResourceContent>, Error> {
    if parts.is_empty() {
        return Err(broken("it read a resource and gave nothing; what is not there is `not-found`"));
    }
    let checked = |part: ResourceContent| {
        if !claims.cover(&part.uri) || !part.uri.bytes().all(super::claims::is_uri_byte) {
            return Err(broken("it answers with an address that it does not claim"));
        }
        Ok(ResourceContent { content: Content::checked(part.content)?, ..part })
    };
    parts.into_iter().map(checked).collect()
}

/// Completions as a client may see them: cut to what it may show.
#[must_use]
pub fn completions(values: Vec<String>, total: Option<u32>, has_more: bool) -> Completions {
    let has_more = has_more || values.len() > MAX_COMPLETIONS;
    let shown = values.iter().take(MAX_COMPLETIONS).map(|value| text::line(value, MAX_COMPLETION_BYTES));
    Completions { values: shown.collect(), total, has_more }
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("the plugin broke its contract: {what}"))
}
