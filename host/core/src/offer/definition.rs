//! Prompts and templates as plugins list them, and what makes them fit for a
//! client.

use std::collections::HashSet;

use super::{
    MAX_URI_BYTES,
    claims::{Claims, is_uri_byte},
};
use crate::{
    service::offer::{PromptDefinition, ResourceDefinition, ResourceTemplate},
    text,
    tool::{MAX_DESCRIPTION_BYTES, MAX_NAME_BYTES, clean_fields, is_legal_name, is_media_type},
};

/// Prompts of one plugin, and templates.
pub const MAX_OFFERS: usize = 256;
/// Arguments of one prompt.
pub const MAX_ARGUMENTS: usize = 32;
const MAX_TITLE_BYTES: usize = 256;
const MAX_SHOWN_BYTES: usize = 128;

/// Why a prompt or a template is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} `{name}`: {problem}")]
pub struct InvalidOffer {
    /// What it is.
    pub kind: &'static str,
    /// Its name, as far as it can be shown.
    pub name: String,
    /// What is wrong with it.
    pub problem: OfferProblem,
}

/// What is wrong with the definition of a prompt, a template or a resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OfferProblem {
    /// There are too many.
    #[error("the plugin lists more than {MAX_OFFERS} of its kind")]
    TooMany,
    /// The name of a prompt is malformed.
    #[error("its name must be 1 to {MAX_NAME_BYTES} characters of [A-Za-z0-9_-] without two underscores in a row")]
    Name,
    /// It has no name for a person, or a long one.
    #[error("its name must have 1 to {MAX_TITLE_BYTES} bytes")]
    Title,
    /// Another one is called the same.
    #[error("there are two of them")]
    Twice,
    /// It says too much of itself, or a prompt nothing.
    #[error("its description must have {least} to {MAX_DESCRIPTION_BYTES} bytes")]
    Description {
        /// What it must have at least.
        least: usize,
    },
    /// An argument is malformed.
    #[error(
        "it has at most {MAX_ARGUMENTS} arguments with names of 1 to {MAX_NAME_BYTES} bytes without control \
         characters, each of them once, and descriptions of at most {MAX_DESCRIPTION_BYTES} bytes"
    )]
    Arguments,
    /// Its address is malformed.
    #[error("its address must be printable ASCII without spaces, at most {MAX_URI_BYTES} bytes")]
    Address,
    /// Its address belongs to another plugin.
    #[error("its address does not start with what its plugin claims")]
    Foreign,
    /// Its expressions are malformed.
    #[error("its variables must be `{{name}}` with names of [A-Za-z0-9_.]")]
    Variables,
    /// Its media type is malformed.
    #[error("its type is no media type")]
    MediaType,
}

impl OfferProblem {
    fn of(self, kind: &'static str, name: &str) -> InvalidOffer {
        InvalidOffer { kind, name: text::line(name, MAX_SHOWN_BYTES), problem: self }
    }
}

fn described(description: &mut String, least: usize) -> Result<(), OfferProblem> {
    if description.len() > MAX_DESCRIPTION_BYTES {
        return Err(OfferProblem::Description { least });
    }
    *description = text::visible(std::mem::take(description));
    // There may have been nothing but what is taken out.
    if description.len() < least { Err(OfferProblem::Description { least }) } else { Ok(()) }
}

/// Prompts as a client may see them.
///
/// # Errors
/// What breaks the contract.
pub fn check_prompts(mut prompts: Vec<PromptDefinition>) -> Result<Vec<PromptDefinition>, InvalidOffer> {
    let mut names = HashSet::new();
    for (at, prompt) in prompts.iter_mut().enumerate() {
        let name = prompt.name.clone();
        let checked = if at >= MAX_OFFERS { Err(OfferProblem::TooMany) } else { check_prompt(prompt) };
        checked.map_err(|problem| problem.of("prompt", &name))?;
        if !names.insert(name) {
            return Err(OfferProblem::Twice.of("prompt", &prompt.name));
        }
    }
    Ok(prompts)
}

fn check_prompt(prompt: &mut PromptDefinition) -> Result<(), OfferProblem> {
    if !is_legal_name(&prompt.name) {
        return Err(OfferProblem::Name);
    }
    described(&mut prompt.description, 1)?;
    clean_fields(&mut prompt.meta);
    if prompt.arguments.len() > MAX_ARGUMENTS {
        return Err(OfferProblem::Arguments);
    }
    let mut names = HashSet::new();
    for argument in &mut prompt.arguments {
        let name = &argument.name;
        let legal = (1..=MAX_NAME_BYTES).contains(&name.len()) && text::line(name, MAX_NAME_BYTES) == *name;
        // The names that start so are the host's.
        if !legal || name.starts_with("__") || !names.insert(name.clone()) {
            return Err(OfferProblem::Arguments);
        }
        described(&mut argument.description, 0).map_err(|_| OfferProblem::Arguments)?;
    }
    Ok(())
}

/// Templates as a client may see them.
///
/// # Errors
/// What breaks the contract.
pub fn check_templates(
    mut templates: Vec<ResourceTemplate>,
    claims: &Claims,
) -> Result<Vec<ResourceTemplate>, InvalidOffer> {
    let mut seen = HashSet::new();
    for (at, template) in templates.iter_mut().enumerate() {
        let address = template.uri_template.clone();
        let checked = if at >= MAX_OFFERS { Err(OfferProblem::TooMany) } else { check_template(template, claims) };
        checked.map_err(|problem| problem.of("template", &address))?;
        if !seen.insert(address) {
            return Err(OfferProblem::Twice.of("template", &template.uri_template));
        }
    }
    Ok(templates)
}

fn check_template(template: &mut ResourceTemplate, claims: &Claims) -> Result<(), OfferProblem> {
    let address = &template.uri_template;
    check_address(address)?;
    let mut rest = address.as_str();
    let literal = rest.split(['{', '}']).next().unwrap_or_default();
    if !claims.cover(literal) {
        return Err(OfferProblem::Foreign);
    }
    while let Some(at) = rest.find(['{', '}']) {
        let variable = rest[at..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((variable, after)) = variable else { return Err(OfferProblem::Variables) };
        if variable.is_empty() || !variable.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte)) {
            return Err(OfferProblem::Variables);
        }
        rest = after;
    }
    template.name = named(&template.name)?;
    described(&mut template.description, 0)?;
    check_media_type(template.mime_type.as_deref())?;
    clean_fields(&mut template.meta);
    Ok(())
}

/// A resource as a client may see it.
pub(super) fn check_resource(resource: &mut ResourceDefinition, claims: &Claims) -> Result<(), InvalidOffer> {
    let uri = resource.uri.clone();
    let mut check = || {
        check_address(&resource.uri)?;
        if !claims.cover(&resource.uri) {
            return Err(OfferProblem::Foreign);
        }
        resource.name = named(&resource.name)?;
        described(&mut resource.description, 0)?;
        check_media_type(resource.mime_type.as_deref())?;
        clean_fields(&mut resource.meta);
        Ok(())
    };
    check().map_err(|problem| problem.of("resource", &uri))
}

fn check_address(address: &str) -> Result<(), OfferProblem> {
    let legal = !address.is_empty() && address.len() <= MAX_URI_BYTES && address.bytes().all(is_uri_byte);
    legal.then_some(()).ok_or(OfferProblem::Address)
}

fn named(name: &str) -> Result<String, OfferProblem> {
    let shown = text::line(name, MAX_TITLE_BYTES);
    let legal = !shown.is_empty() && name.len() <= MAX_TITLE_BYTES;
    legal.then_some(shown).ok_or(OfferProblem::Title)
}

fn check_media_type(mime_type: Option<&str>) -> Result<(), OfferProblem> {
    mime_type.is_none_or(is_media_type).then_some(()).ok_or(OfferProblem::MediaType)
}
