//! What a plugin offers beside tools, asked for as the host asks.

use serde_json::{Value, json};
use wharf_contract::caller::{CAPABILITIES, CLIENT, INPUT, RESPONSES, STATE};

use super::TestCall;
use super::host::TestHost;
use crate::ToolError;
use crate::completion::{Completion, CompletionOf, Completions, Typed};
use crate::host::HostChanges;
use crate::prompt::{PromptReply, Prompts};
use crate::resource::{Resource, ResourcePart, Resources};

impl TestCall {
    /// Makes the prompt `name` of `P` as the host would: the arguments go through
    /// JSON. They are not checked against its definition.
    ///
    /// # Errors
    /// What the prompt fails with.
    ///
    /// # Panics
    /// Where `P` has no such prompt.
    pub fn prompt<P: Prompts>(&self, name: &str, arguments: &Value) -> Result<PromptReply, ToolError> {
        match P::make(&self.call(), name, &arguments.to_string()) {
            Some(made) => made,
            None => panic!("this plugin has no prompt `{name}`"),
        }
    }

    /// Lists the resources of `P` in this context.
    ///
    /// # Errors
    /// What the plugin fails with.
    pub fn resources<P: Resources>(&self) -> Result<Vec<Resource>, ToolError> {
        P::list(&self.call())
    }

    /// Reads a resource of `P` in this context.
    ///
    /// # Errors
    /// What the plugin fails with.
    ///
    /// # Panics
    /// Where `P` does not claim the address: the host would not ask it.
    pub fn read_resource<P: Resources>(&self, uri: &str) -> Result<Vec<ResourcePart>, ToolError> {
        let claimed = P::CLAIMS.iter().any(|claim| uri.starts_with(claim));
        assert!(claimed, "this plugin does not claim `{uri}`");
        P::read(&self.call(), uri)
    }

    /// Completes a word.
    ///
    /// # Errors
    /// What the plugin fails with.
    pub fn complete<P: Completion>(
        &self,
        of: CompletionOf<'_>,
        argument: &str,
        text: &str,
    ) -> Result<Completions, ToolError> {
        let typed = Typed { of, argument, text, others: serde_json::Map::new() };
        P::complete(&self.call(), &typed)
    }

    /// The same call in the next round of input, with this response to the request
    /// `name`; again for each further one.
    #[must_use]
    pub fn given(self, name: &str, response: Value) -> Self {
        self.changed_input(|input| input[RESPONSES][name] = response)
    }

    /// The same call in the next round of input, with the state of the round before.
    #[must_use]
    pub fn given_state(self, state: &str) -> Self {
        self.changed_input(|input| input[STATE] = state.into())
    }

    /// The same call by a client that has declared these capabilities.
    #[must_use]
    pub fn client(self, capabilities: &Value) -> Self {
        self.changed_meta(|meta| meta[CLIENT] = json!({ (CAPABILITIES): capabilities }))
    }

    fn changed_input(self, change: impl FnOnce(&mut Value)) -> Self {
        self.changed_meta(|meta| {
            let input = &mut meta[INPUT];
            if input.is_null() {
                *input = json!({ (RESPONSES): {} });
            }
            change(input);
        })
    }

    fn changed_meta(mut self, change: impl FnOnce(&mut Value)) -> Self {
        let mut meta = serde_json::from_str(&self.host.request_meta).unwrap_or_else(|_| json!({}));
        change(&mut meta);
        self.host.request_meta = meta.to_string();
        self
    }

    /// Every change that was told: the word of a list, or an address.
    #[must_use]
    pub fn changes(&self) -> Vec<String> {
        self.host.world().changes.clone()
    }
}

impl HostChanges for TestHost {
    fn changed(&self, list: &str) -> Result<(), ToolError> {
        self.events()?;
        self.world().changes.push(list.to_owned());
        Ok(())
    }

    fn updated(&self, uri: &str) -> Result<(), ToolError> {
        self.events()?;
        self.world().changes.push(uri.to_owned());
        Ok(())
    }
}
