//! Prompts, resources and completions: asked for as tools are called, with the
//! same places, limits, grants and context.
//!
//! Whoever may use some plugins alone is served as if there were no others.

mod all;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future;
use serde_json::{Map, Value};
use tokio::{
    sync::broadcast,
    time::{Instant, timeout_at},
};
use wharf_contract::completion::Completed;
use wharf_core::{
    Code, Error, Permit,
    audit::{AuditOutcome, CallAudit, RunningCall},
    offer::MAX_URI_BYTES,
    service::offer::{
        Asking, Change, CompletionOf, Completions, MayUse, OfferService, PromptAnswer, PromptDefinition,
        ResourceContent, ResourceDefinition, ResourceTemplate,
    },
    text,
};
use wharf_engine::{Completing, Invocation};

use super::{Host, calling};
use crate::registry::{Installed, Registry};

/// Bytes of a word that is to be completed; the contract says so.
const MAX_TYPED_BYTES: usize = 4 << 10;
/// Bytes of the name of an argument.
const MAX_ARGUMENT_NAME_BYTES: usize = 256;
const MAX_SHOWN_BYTES: usize = 128;

/// What plugins offer, to somebody who may use these of them; all where none are named.
#[derive(Clone)]
pub(super) struct Offering {
    host: Host,
    may_use: Option<MayUse>,
    // A lock of the standard library: held to compare two pointers, or to make a list.
    made: Arc<Mutex<Option<Lists>>>,
}

/// The whole list of prompts, and those that may be used.
type Lists = (Arc<[PromptDefinition]>, Arc<[PromptDefinition]>);

impl Offering {
    fn new(host: Host, may_use: Option<MayUse>) -> Self {
        Self { host, may_use, made: Arc::default() }
    }

    fn allows(&self, owner: &Installed) -> bool {
        self.may_use.as_ref().is_none_or(|may_use| may_use.allows(owner.plugin.name()))
    }

    /// The prompt of this full name, and whose it is.
    fn find_prompt<'r>(
        &self,
        registry: &'r Registry,
        name: &str,
    ) -> Result<(&'r Installed, &'r PromptDefinition), Error> {
        let found = registry.offers().prompt(registry.installed(), name);
        found.filter(|(owner, _)| self.allows(owner)).ok_or_else(|| unknown_prompt(&self.prompts(), name))
    }
}

#[async_trait::async_trait]
impl OfferService for Offering {
    fn prompts(&self) -> Arc<[PromptDefinition]> {
        let registry = self.host.registry();
        let whole = registry.offers().prompts();
        let Some(may_use) = &self.may_use else { return whole };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((of, allowed)) if Arc::ptr_eq(of, &whole) => Arc::clone(allowed),
            _ => {
                let allowed = registry.offers().prompts_of(registry.installed(), may_use);
                *made = Some((whole, Arc::clone(&allowed)));
                allowed
            }
        }
    }

    fn templates(&self) -> Arc<[ResourceTemplate]> {
        let registry = self.host.registry();
        match &self.may_use {
            None => registry.offers().templates(),
            Some(may_use) => registry.offers().templates_of(registry.installed(), may_use),
        }
    }

    fn has_resources(&self) -> bool {
        let registry = self.host.registry();
        registry.offers().readers(registry.installed()).any(|owner| self.allows(owner))
    }

    fn changes(&self) -> broadcast::Receiver<Change> {
        self.host.shared.rooms.announcements.listen()
    }

    fn of_plugins(self: Arc<Self>, may_use: MayUse) -> Arc<dyn OfferService> {
        let before = self.may_use.clone();
        let may_use = MayUse::new(move |plugin| {
            may_use.allows(plugin) && before.as_ref().is_none_or(|before| before.allows(plugin))
        });
        Arc::new(Self::new(self.host.clone(), Some(may_use)))
    }

    async fn prompt(&self, name: &str, arguments: Map<String, Value>, asking: Asking) -> Result<PromptAnswer, Error> {
        let (host, registry) = (&self.host, self.host.registry());
        let (owner, prompt) = self.find_prompt(&registry, name)?;
        let (running, audit) = host.asked(&format!("prompt {}", prompt.name), owner, &asking);
        let answered = async {
            check_arguments(&arguments, prompt)?;
            let arguments = small_text(arguments, owner)?;
            let (invocation, _place) = host.invocation(owner, asking, prompt.name.clone(), arguments, audit).await?;
            owner.plugin.prompt(invocation).await
        };
        ended(running, answered.await)
    }

    async fn resources(&self, asking: Asking) -> Result<Vec<ResourceDefinition>, Error> {
        let (host, registry) = (&self.host, self.host.registry());
        let readers: Vec<_> =
            registry.offers().readers(registry.installed()).filter(|owner| self.allows(owner)).collect();
        let until = Instant::now() + host.shared.listing;
        let listing = readers.iter().map(async |owner| {
            let (running, audit) = host.asked("list-resources", owner, &asking);
            let listed = async {
                let (invocation, _place) =
                    host.invocation(owner, asking.clone(), String::new(), String::new(), audit).await?;
                owner.plugin.resources(invocation).await
            };
            // Who is late is not waited for; dropping what lists ends its call.
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

    async fn read_resource(&self, uri: &str, asking: Asking) -> Result<Vec<ResourceContent>, Error> {
        let (host, registry) = (&self.host, self.host.registry());
        let owner = registry.offers().reader(registry.installed(), uri).filter(|owner| self.allows(owner));
        let owner = owner.ok_or_else(|| unknown_resource(uri))?;
        // What an address says is the caller's: it does not belong into a log.
        let (running, audit) = host.asked("read-resource", owner, &asking);
        let read = async {
            let (invocation, _place) = host.invocation(owner, asking, String::new(), String::new(), audit).await?;
            owner.plugin.read_resource(invocation, uri).await
        };
        ended(running, read.await)
    }

    async fn complete(
        &self,
        of: CompletionOf,
        argument: &str,
        typed: &str,
        others: Map<String, Value>,
        asking: Asking,
    ) -> Result<Completions, Error> {
        let (host, registry) = (&self.host, self.host.registry());
        let (owner, kind, name) = match of {
            CompletionOf::Prompt(name) => {
                let (owner, prompt) = self.find_prompt(&registry, &name)?;
                (owner, Completed::Prompt, prompt.name.clone())
            }
            CompletionOf::Template(template) => {
                let found = registry.offers().describer(registry.installed(), &template);
                let found = found.filter(|owner| self.allows(owner));
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
        let (running, audit) = host.asked(&format!("complete {name}"), owner, &asking);
        let completed = async {
            let others = small_text(others, owner)?;
            let (argument, typed) = (argument.to_owned(), typed.to_owned());
            let completing = Completing { kind, name: name.clone(), argument, typed, others };
            let (invocation, _place) = host.invocation(owner, asking, String::new(), String::new(), audit).await?;
            owner.plugin.complete(invocation, &completing).await
        };
        ended(running, completed.await)
    }
}

impl Host {
    /// One line of audit for what is asked.
    fn asked(&self, what: &str, owner: &Installed, asking: &Asking) -> (RunningCall, Arc<CallAudit>) {
        let callee = (owner.plugin.name().clone(), Some(owner.plugin.digest()));
        let running = self.shared.recorder.begin_offer(asking, callee, what);
        let audit = Arc::clone(running.audit());
        (running, audit)
    }

    /// What a plugin is asked, and its place among the running calls.
    async fn invocation(
        &self,
        owner: &Installed,
        asking: Asking,
        tool: String,
        arguments: String,
        audit: Arc<CallAudit>,
    ) -> Result<(Invocation, Permit), Error> {
        let Asking { context, mut request_meta, input, cancel, events, trace: _, client: _ } = asking;
        let given = calling::with_input(&mut request_meta, input, &owner.limits)?;
        let place = self.admit(&context, given.saturating_add(arguments.len() as u64), &cancel).await?;
        let invocation = Invocation {
            context,
            grants: Arc::clone(&owner.grants),
            limits: Arc::clone(&owner.limits),
            settings: Arc::clone(&owner.settings),
            request_meta,
            events,
            cancel,
            tool,
            arguments,
            audit: Some(audit),
            charged: Duration::ZERO,
        };
        Ok((invocation, place))
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
fn small_text(members: Map<String, Value>, owner: &Installed) -> Result<String, Error> {
    let text = Value::Object(members).to_string();
    calling::check_argument_bytes(text.len() as u64, &owner.limits)?;
    Ok(text)
}

fn late() -> Error {
    let told = "the plugin took too long to list what it has (limit `listing_milliseconds`); ask again later";
    Error::retryable(Code::Timeout, told)
}

fn unknown_prompt(prompts: &[PromptDefinition], name: &str) -> Error {
    let known: Vec<_> = prompts.iter().map(|prompt| prompt.name.as_str()).take(10).collect();
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
