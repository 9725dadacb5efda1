//! Prompts, resources and completions: asked for as tools are called, with the
//! same places, limits, grants and context.
//!
//! A caller that may use some plugins alone is served as if there were no others.

use std::{sync::Arc, time::Duration};

use futures_util::future;
use serde_json::{Map, Value};
use tokio::{
    sync::broadcast,
    time::{Instant, timeout_at},
};
use wharf_contract::completion::Completed;
use wharf_core::{
    Code, Error, InputGiven, Permit,
    audit::{AuditOutcome, RunningCall},
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
use wharf_engine::{Call, Completing};

use super::{Host, calling};
use crate::{installed::Installed, nearest::nearest, registry::Registry};

/// Bytes of a word that is to be completed; the contract says so.
const MAX_TYPED_BYTES: usize = 4 << 10;
/// Bytes of the name of an argument.
const MAX_ARGUMENT_NAME_BYTES: usize = 256;
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
        self.prompt_compiled(caller, name).await?;
        let registry = self.registry();
        let (owner, prompt) = find_prompt(&registry, caller.viewer(), name)?;
        let running = self.asked(&format!("prompt {}", prompt.name), owner, caller);
        let answered = async {
            check_arguments(arguments.values(), prompt)?;
            calling::argument_bytes(arguments.bytes(), &owner.policy.limits)?;
            let text = arguments.text();
            let (call, _place) = self.call_of(owner, caller, input, text.len(), &running).await?;
            owner.plugin.prompt(call, &prompt.name, text).await
        };
        let answered = answered.await;
        ended(running, answered)
    }

    async fn resources(&self, caller: &Arc<Caller>) -> Result<Vec<ResourceDefinition>, Error> {
        let registry = self.registry();
        let readers = registry.offers().readers(registry.installed());
        let readers: Vec<_> = readers.filter(|owner| owner.is_seen_by(caller.viewer())).collect();
        let until = Instant::now() + self.shared.listing;
        let listing = readers.iter().map(async |owner| {
            let running = self.asked("list-resources", owner, caller);
            let listed = async {
                let (call, _place) = self.call_of(owner, caller, InputGiven::default(), 0, &running).await?;
                owner.plugin.resources(call).await
            };
            // A late plugin is skipped; dropping its future ends the call.
            let listed = timeout_at(until, listed).await.unwrap_or_else(|_| Err(late()));
            (owner.plugin.name(), ended(running, listed))
        });
        let mut resources = Vec::new();
        for (plugin, listed) in future::join_all(listing).await {
            match listed {
                Ok(listed) => resources.extend(listed),
                Err(error) if error.code == Code::Cancelled => return Err(error),
                // Those of the others are listed all the same; the line of audit has it.
                Err(error) => tracing::warn!(%plugin, "resources of a plugin are not listed: {error}"),
            }
        }
        resources.sort_by(|one: &ResourceDefinition, other| one.uri.cmp(&other.uri));
        Ok(resources)
    }

    async fn read_resource(&self, caller: &Arc<Caller>, uri: &str) -> Result<Vec<ResourceContent>, Error> {
        let reads = |registry: &Registry| {
            let reader = registry.offers().reader(registry.installed(), uri);
            reader.is_some_and(|owner| owner.is_seen_by(caller.viewer()))
        };
        self.reader_compiled(caller, reads).await?;
        let registry = self.registry();
        let owner =
            registry.offers().reader(registry.installed(), uri).filter(|owner| owner.is_seen_by(caller.viewer()));
        let owner = owner.ok_or_else(|| unknown_resource(uri))?;
        // What an address says is the caller's: it does not belong into a log.
        let running = self.asked("read-resource", owner, caller);
        let read = async {
            let (call, _place) = self.call_of(owner, caller, InputGiven::default(), 0, &running).await?;
            owner.plugin.read_resource(call, uri).await
        };
        let read = read.await;
        ended(running, read)
    }

    async fn complete(
        &self,
        caller: &Arc<Caller>,
        of: CompletionOf,
        argument: &str,
        typed: &str,
        others: Map<String, Value>,
    ) -> Result<Completions, Error> {
        match &of {
            CompletionOf::Prompt(name) => self.prompt_compiled(caller, name).await?,
            CompletionOf::Template(template) => {
                let describes = |registry: &Registry| {
                    let describer = registry.offers().describer(registry.installed(), template);
                    describer.is_some_and(|owner| owner.is_seen_by(caller.viewer()))
                };
                self.reader_compiled(caller, describes).await?;
            }
        }
        let registry = self.registry();
        let (owner, kind, name) = match of {
            CompletionOf::Prompt(name) => {
                let (owner, prompt) = find_prompt(&registry, caller.viewer(), &name)?;
                (owner, Completed::Prompt, prompt.name.clone())
            }
            CompletionOf::Template(template) => {
                let found = registry.offers().describer(registry.installed(), &template);
                let found = found.filter(|owner| owner.is_seen_by(caller.viewer()));
                (found.ok_or_else(|| unknown_template(&template))?, Completed::Template, template)
            }
        };
        if !owner.plugin.completes() {
            return Ok(Completions::default());
        }
        if typed.len() > MAX_TYPED_BYTES || argument.len() > MAX_ARGUMENT_NAME_BYTES {
            let told = format!(
                "what is to be completed has more than {MAX_TYPED_BYTES} bytes, or the name of its argument more than \
                 {MAX_ARGUMENT_NAME_BYTES}"
            );
            return Err(Error::new(Code::Invalid, told));
        }
        if !others.values().all(Value::is_string) {
            return Err(Error::new(Code::Invalid, "the arguments that are filled already must be texts"));
        }
        let running = self.asked(&format!("complete {name}"), owner, caller);
        let completed = async {
            let others = small_text(&others, owner)?;
            let (argument, typed) = (argument.to_owned(), typed.to_owned());
            let completing = Completing { kind, name: name.clone(), argument, typed, others };
            let (call, _place) = self.call_of(owner, caller, InputGiven::default(), 0, &running).await?;
            owner.plugin.complete(call, &completing).await
        };
        let completed = completed.await;
        ended(running, completed)
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

    /// One line of audit for what is asked.
    fn asked(&self, what: &str, owner: &Installed, caller: &Caller) -> RunningCall {
        let callee = (owner.plugin.name().clone(), Some(owner.plugin.digest()));
        self.shared.recorder.begin_offer(caller, callee, what)
    }

    /// What a plugin is asked, and its place among the running calls.
    async fn call_of(
        &self,
        owner: &Installed,
        caller: &Arc<Caller>,
        input: InputGiven,
        argument_bytes: usize,
        running: &RunningCall,
    ) -> Result<(Call, Permit), Error> {
        let given = calling::request_bytes(caller, &input, &owner.policy.limits)?;
        let place = self.admit(caller, given.saturating_add(argument_bytes as u64)).await?;
        let call = Call {
            caller: Arc::clone(caller),
            input,
            policy: Arc::clone(&owner.policy),
            audit: Some(Arc::clone(running.audit())),
            charged: Duration::ZERO,
        };
        Ok((call, place))
    }
}

fn ended<T>(running: RunningCall, answered: Result<T, Error>) -> Result<T, Error> {
    running.ended(answered.as_ref().map_or_else(|error| AuditOutcome::Failed(error.code), |_| AuditOutcome::Ok));
    answered
}

/// Arguments as a prompt takes them: texts, all that it needs, and no others.
fn check_arguments(arguments: &Map<String, Value>, prompt: &PromptDefinition) -> Result<(), Error> {
    let invalid = |told: String| Err(Error::new(Code::Invalid, told));
    for (name, value) in arguments {
        let shown = text::line(name, MAX_SHOWN_BYTES);
        if !prompt.arguments.iter().any(|known| known.name == *name) {
            let known: Vec<_> = prompt.arguments.iter().map(|known| known.name.as_str()).collect();
            return invalid(format!("the prompt has no argument `{shown}`; it has: {}", known.join(", ")));
        }
        if !value.is_string() {
            return invalid(format!("the argument `{shown}` of a prompt must be a text"));
        }
    }
    let missing = prompt.arguments.iter().find(|known| known.required && !arguments.contains_key(&known.name));
    missing.map_or(Ok(()), |missing| invalid(format!("the prompt needs the argument `{}`", missing.name)))
}

/// The JSON text of an object that is not too large.
fn small_text(members: &Map<String, Value>, owner: &Installed) -> Result<String, Error> {
    let text = serde_json::to_string(members).unwrap_or_default();
    calling::argument_bytes(text.len() as u64, &owner.policy.limits)?;
    Ok(text)
}

fn late() -> Error {
    let told = "the plugin took too long to list what it has (limit `listing_milliseconds`); ask again later";
    Error::retryable(Code::Timeout, told)
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
