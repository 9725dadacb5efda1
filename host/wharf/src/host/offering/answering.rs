//! What plugins answer of prompts, resources and completions, at the home of the session where
//! they need one.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use wharf_contract::completion::Completed;
use wharf_core::{
    Code, Error, InputGiven, Permit,
    audit::{AuditOutcome, RunningCall},
    service::{
        Arguments, Caller, HomeAnswer, HomeQuestion, HomeRequest, RemoteHome,
        offer::{CompletionOf, Completions, PromptAnswer, PromptDefinition, ResourceContent, ResourceDefinition},
    },
    text,
};
use wharf_engine::{Call, Completing};

use super::{find_prompt, unknown_resource, unknown_template};
use crate::{
    host::{
        Host, calling,
        homes::{At, Way},
    },
    installed::Installed,
    registry::Registry,
};

/// Bytes of a word that is to be completed; the contract says so.
const MAX_TYPED_BYTES: usize = 4 << 10;
/// Bytes of the name of an argument.
const MAX_ARGUMENT_NAME_BYTES: usize = 256;
const MAX_SHOWN_BYTES: usize = 128;
/// What the audit calls a listing.
const LIST: &str = "list-resources";

/// A plugin that is asked on another host.
struct Elsewhere<'a> {
    home: Arc<dyn RemoteHome>,
    owner: &'a Installed,
    /// For the line of audit.
    what: &'a str,
}

impl Host {
    pub(in crate::host) async fn prompt_by(
        &self,
        way: Way,
        caller: &Arc<Caller>,
        name: &str,
        arguments: &Arguments,
        input: InputGiven,
    ) -> Result<PromptAnswer, Error> {
        self.prompt_compiled(caller, name).await?;
        let registry = self.registry();
        let (owner, prompt) = find_prompt(&registry, caller.viewer(), name)?;
        let what = &*format!("prompt {}", prompt.name);
        let hold = match self.home_of(owner, caller, way).await? {
            At::Here(hold) => hold,
            At::There(home) => {
                let asked = HomeQuestion::Prompt { name: name.to_owned(), arguments: arguments.clone(), input };
                return self.ask_elsewhere(Elsewhere { home, owner, what }, caller, asked).await?.into_prompt();
            }
        };
        let running = self.asked(what, owner, caller);
        let answered = async {
            check_arguments(arguments.values(), prompt)?;
            calling::argument_bytes(arguments.bytes(), &owner.policy.limits)?;
            let text = arguments.text();
            let (call, _place) = self.call_of(owner, caller, input, text.len(), &running).await?;
            owner.plugin.prompt(call, &prompt.name, text).await
        };
        let answered = answered.await;
        hold.confirmed(ended(running, answered))
    }

    /// Finds the home for a listing, which has little time.
    pub(super) async fn home_until(&self, until: Instant, owner: &Installed, caller: &Caller) -> Result<At, Error> {
        timeout_at(until, self.home_of(owner, caller, Way::Arrived)).await.unwrap_or_else(|_| Err(late()))
    }

    /// The resources of one plugin.
    pub(super) async fn list_at(
        &self,
        at: At,
        until: Instant,
        owner: &Installed,
        caller: &Arc<Caller>,
    ) -> Result<Vec<ResourceDefinition>, Error> {
        let hold = match at {
            At::Here(hold) => hold,
            At::There(home) => {
                let asked = HomeQuestion::List { plugin: owner.plugin.name().clone() };
                let asking = self.ask_elsewhere(Elsewhere { home, owner, what: LIST }, caller, asked);
                return timeout_at(until, asking).await.unwrap_or_else(|_| Err(late()))?.into_list();
            }
        };
        let running = self.asked(LIST, owner, caller);
        let listed = async {
            let (call, _place) = self.call_of(owner, caller, InputGiven::default(), 0, &running).await?;
            owner.plugin.resources(call).await
        };
        // A late plugin is skipped; dropping its future ends the call.
        let listed = timeout_at(until, listed).await.unwrap_or_else(|_| Err(late()));
        hold.confirmed(ended(running, listed))
    }

    /// The resources of one plugin, for the host that was asked for those of all.
    #[cfg(feature = "postgres")]
    pub(in crate::host) async fn list_here(
        &self,
        caller: &Arc<Caller>,
        plugin: &wharf_core::PluginName,
    ) -> Result<Vec<ResourceDefinition>, Error> {
        let registry = self.registry();
        let mut readers = registry.offers().readers(registry.installed());
        let Some(owner) = readers.find(|owner| owner.plugin.name() == plugin) else {
            return Err(Error::new(Code::NotFound, format!("plugin `{plugin}` has no resources on this host")));
        };
        let until = Instant::now() + self.shared.listing;
        let at = self.home_of(owner, caller, Way::PassedOn).await?;
        self.list_at(at, until, owner, caller).await
    }

    pub(in crate::host) async fn read_by(
        &self,
        way: Way,
        caller: &Arc<Caller>,
        uri: &str,
    ) -> Result<Vec<ResourceContent>, Error> {
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
        let what = "read-resource";
        let hold = match self.home_of(owner, caller, way).await? {
            At::Here(hold) => hold,
            At::There(home) => {
                let asked = HomeQuestion::Read { uri: uri.to_owned() };
                return self.ask_elsewhere(Elsewhere { home, owner, what }, caller, asked).await?.into_read();
            }
        };
        let running = self.asked(what, owner, caller);
        let read = async {
            let (call, _place) = self.call_of(owner, caller, InputGiven::default(), 0, &running).await?;
            owner.plugin.read_resource(call, uri).await
        };
        let read = read.await;
        hold.confirmed(ended(running, read))
    }

    pub(in crate::host) async fn complete_by(
        &self,
        way: Way,
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
        let (owner, kind, name) = match &of {
            CompletionOf::Prompt(name) => {
                let (owner, prompt) = find_prompt(&registry, caller.viewer(), name)?;
                (owner, Completed::Prompt, &prompt.name)
            }
            CompletionOf::Template(template) => {
                let found = registry.offers().describer(registry.installed(), template);
                let found = found.filter(|owner| owner.is_seen_by(caller.viewer()));
                (found.ok_or_else(|| unknown_template(template))?, Completed::Template, template)
            }
        };
        if !owner.plugin.completes() {
            return Ok(Completions::default());
        }
        check_completion(argument, typed, &others)?;
        let what = &*format!("complete {name}");
        let (argument, typed) = (argument.to_owned(), typed.to_owned());
        let hold = match self.home_of(owner, caller, way).await? {
            At::Here(hold) => hold,
            At::There(home) => {
                let elsewhere = Elsewhere { home, owner, what };
                let asked = HomeQuestion::Complete { of: of.clone(), argument, typed, others };
                return self.ask_elsewhere(elsewhere, caller, asked).await?.into_completions();
            }
        };
        let running = self.asked(what, owner, caller);
        let completed = async {
            let others = small_text(&others, owner)?;
            let completing = Completing { kind, name: name.clone(), argument, typed, others };
            let (call, _place) = self.call_of(owner, caller, InputGiven::default(), 0, &running).await?;
            owner.plugin.complete(call, &completing).await
        };
        let completed = completed.await;
        hold.confirmed(ended(running, completed))
    }

    async fn ask_elsewhere(
        &self,
        Elsewhere { home, owner, what }: Elsewhere<'_>,
        caller: &Arc<Caller>,
        asked: HomeQuestion,
    ) -> Result<HomeAnswer, Error> {
        let running = self.asked(what, owner, caller);
        self.ask_home(&*home, owner, running, HomeRequest { caller: Arc::clone(caller), asked }).await
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
            approver: self.approver(&running.audit().subject().tool, owner, caller, running.audit(), || "".into()),
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

fn check_completion(argument: &str, typed: &str, others: &Map<String, Value>) -> Result<(), Error> {
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
    Ok(())
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
