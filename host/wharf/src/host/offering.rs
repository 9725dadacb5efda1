//! Prompts, resources and completions: asked for as tools are called, with the
//! same places, limits, grants and context.
//!
//! A caller that may use some plugins alone is served as if there were no others.

mod answering;

use std::sync::Arc;

use futures_util::future;
use serde_json::{Map, Value};
use tokio::{sync::broadcast, time::Instant};
use wharf_core::{
    Code, Error, InputGiven,
    offer::MAX_URI_BYTES,
    service::{
        Arguments, Caller, Viewer,
        offer::{
            Change, CompletionOf, Completions, OfferService, PromptAnswer, PromptDefinition, ResourceContent,
            ResourceDefinition, ResourceTemplate,
        },
    },
    text,
};

use super::{
    Host,
    homes::{At, Way},
};
use crate::{installed::Installed, nearest::nearest, registry::Registry};

const MAX_SHOWN_BYTES: usize = 128;
/// Prompts that are named where there is none of a name.
const MAX_NAMED: usize = 10;

/// The prompt of this full name as the viewer sees it, and whose it is.
fn seen_prompt<'r>(
    registry: &'r Registry,
    viewer: Viewer<'_>,
    name: &str,
) -> Option<(&'r Installed, &'r PromptDefinition)> {
    registry.offers().prompt(registry.installed(), name).filter(|(owner, _)| owner.is_seen_by(viewer))
}

/// The same where there has to be one.
fn find_prompt<'r>(
    registry: &'r Registry,
    viewer: Viewer<'_>,
    name: &str,
) -> Result<(&'r Installed, &'r PromptDefinition), Error> {
    seen_prompt(registry, viewer, name)
        .ok_or_else(|| unknown_prompt(&registry.offers().prompts(registry.installed(), viewer), name))
}

#[async_trait::async_trait]
impl OfferService for Host {
    fn prompts(&self, viewer: Viewer<'_>) -> Arc<[PromptDefinition]> {
        let registry = self.registry();
        registry.offers().prompts(registry.installed(), viewer)
    }

    fn has_prompt(&self, viewer: Viewer<'_>, name: &str) -> bool {
        seen_prompt(&self.registry(), viewer, name).is_some()
    }

    fn templates(&self, viewer: Viewer<'_>) -> Arc<[ResourceTemplate]> {
        let registry = self.registry();
        registry.offers().templates(registry.installed(), viewer)
    }

    fn has_resources(&self, viewer: Viewer<'_>) -> bool {
        let registry = self.registry();
        registry.offers().readers(registry.installed()).any(|owner| owner.is_seen_by(viewer))
    }

    fn is_incomplete(&self, viewer: Viewer<'_>) -> bool {
        let registry = self.registry();
        registry.plugins().compiling.iter().any(|compiling| viewer.allows(compiling.name.as_str()))
    }

    fn changes(&self) -> broadcast::Receiver<Change> {
        self.shared.backends.announcements.listen()
    }

    async fn prompt(
        &self,
        caller: &Arc<Caller>,
        name: &str,
        arguments: &Arguments,
        input: InputGiven,
    ) -> Result<PromptAnswer, Error> {
        self.prompt_by(Way::Arrived, caller, name, arguments, input).await
    }

    async fn resources(&self, caller: &Arc<Caller>) -> Result<Vec<ResourceDefinition>, Error> {
        let registry = self.registry();
        let readers = registry.offers().readers(registry.installed());
        let readers: Vec<_> = readers.filter(|owner| owner.is_seen_by(caller.viewer())).collect();
        let until = Instant::now() + self.shared.listing;
        let listing = readers.iter().map(async |owner| {
            // That the session's files are lost is said once, so nothing may hide it.
            let (listed, may_be_said_once) = match self.home_until(until, owner, caller).await {
                Err(error) => (Err(error), true),
                Ok(at) => {
                    let is_elsewhere = matches!(at, At::There(_));
                    (self.list_at(at, until, owner, caller).await, is_elsewhere)
                }
            };
            match listed {
                Err(error) if error.code == Code::Cancelled => Err(error),
                Err(error) if error.code == Code::Gone && may_be_said_once => Err(error),
                // Those of the others are listed all the same; the line of audit has it.
                Err(error) => {
                    let plugin = owner.plugin.name();
                    tracing::warn!(%plugin, "resources of a plugin are not listed: {error}");
                    Ok(Vec::new())
                }
                listed => listed,
            }
        });
        let listed = future::join_all(listing).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut resources = listed.concat();
        resources.sort_by(|one: &ResourceDefinition, other| one.uri.cmp(&other.uri));
        Ok(resources)
    }

    async fn read_resource(&self, caller: &Arc<Caller>, uri: &str) -> Result<Vec<ResourceContent>, Error> {
        self.read_by(Way::Arrived, caller, uri).await
    }

    async fn complete(
        &self,
        caller: &Arc<Caller>,
        of: CompletionOf,
        argument: &str,
        typed: &str,
        others: Map<String, Value>,
    ) -> Result<Completions, Error> {
        self.complete_by(Way::Arrived, caller, of, argument, typed, others).await
    }
}

impl Host {
    /// Waits for the plugins that may have this prompt, while nobody has it.
    async fn prompt_compiled(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        let awaited = || {
            let registry = self.registry();
            let viewer = caller.viewer();
            registry
                .awaited_for_prompt(viewer, name)
                .filter(|_| seen_prompt(&registry, viewer, name).is_none())
                .cloned()
        };
        self.compiled(caller, awaited).await
    }

    /// Waits for the plugins that may have resources, while nobody has the one that is asked for.
    async fn reader_compiled(&self, caller: &Caller, is_there: impl Fn(&Registry) -> bool) -> Result<(), Error> {
        let awaited = || {
            let registry = self.registry();
            registry.awaited_for_resource(caller.viewer()).filter(|_| !is_there(&registry)).cloned()
        };
        self.compiled(caller, awaited).await
    }
}

fn unknown_prompt(prompts: &[PromptDefinition], name: &str) -> Error {
    let known: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    let known = nearest(name, &known, MAX_NAMED, 0.0);
    let hint = if known.is_empty() { "there are none".to_owned() } else { format!("there are: {}", known.join(", ")) };
    Error::new(Code::NotFound, format!("there is no prompt `{}`; {hint}", text::line(name, MAX_SHOWN_BYTES)))
}

fn unknown_template(template: &str) -> Error {
    let shown = text::line(template, MAX_SHOWN_BYTES);
    Error::new(Code::NotFound, format!("there is no template `{shown}`; list the templates to see which there are"))
}

fn unknown_resource(uri: &str) -> Error {
    if uri.len() > MAX_URI_BYTES {
        return Error::new(Code::NotFound, format!("no address has more than {MAX_URI_BYTES} bytes"));
    }
    let shown = text::line(uri, MAX_URI_BYTES);
    Error::new(Code::NotFound, format!("there is no resource `{shown}`; list the resources to see which there are"))
}
