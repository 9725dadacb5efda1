//! `caller`: the context of the call, read only.

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value};
use wharf_contract::caller::{CAPABILITIES, CLIENT, INPUT, OWN_PREFIX, RESPONSES, STATE};
use wharf_core::{InputGiven, service::Caller};

use crate::{bindings::wharf::plugin::caller::Host, call::Call, guest::Guest};

/// The metadata of a request, as the plugin reads it.
struct RequestMeta<'c> {
    caller: &'c Caller,
    input: &'c InputGiven,
}

struct Client<'c> {
    capabilities: &'c Map<String, Value>,
}

impl Serialize for Client<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(CAPABILITIES, self.capabilities)])
    }
}

struct Input<'c>(&'c InputGiven);

impl Serialize for Input<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let InputGiven { responses, state } = self.0;
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry(RESPONSES, responses)?;
        if let Some(state) = state {
            members.serialize_entry(STATE, state)?;
        }
        members.end()
    }
}

impl RequestMeta<'_> {
    /// What the client declared, where the caller is one.
    fn client(&self) -> Option<Client<'_>> {
        self.caller.capabilities.as_ref().map(|capabilities| Client { capabilities })
    }

    fn input(&self) -> Option<Input<'_>> {
        (!self.input.is_empty()).then_some(Input(self.input))
    }
}

impl Serialize for RequestMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        // A caller never speaks for the host.
        for (name, value) in self.caller.meta.iter().filter(|(name, _)| !name.starts_with(OWN_PREFIX)) {
            members.serialize_entry(name, value)?;
        }
        if let Some(client) = self.client() {
            members.serialize_entry(CLIENT, &client)?;
        }
        if let Some(input) = self.input() {
            members.serialize_entry(INPUT, &input)?;
        }
        members.end()
    }
}

impl Host for Guest {
    fn session(&mut self) -> wasmtime::Result<String> {
        Ok(self.call.context().session.to_string())
    }

    fn assistant(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(self.call.context().assistant.as_ref().map(ToString::to_string))
    }

    fn thread(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(self.call.context().thread.as_ref().map(ToString::to_string))
    }

    fn request_meta(&mut self) -> wasmtime::Result<String> {
        let Call { caller, input, .. } = &self.call.request;
        Ok(serde_json::to_string(&RequestMeta { caller, input })?)
    }

    fn remaining(&mut self) -> wasmtime::Result<u64> {
        let clock = &self.call.clock;
        let remaining = self.call.coarse.map_or_else(|| clock.remaining(), |coarse| coarse.remaining(clock.deadline()));
        Ok(u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wharf_core::{Context, SessionId, TenantId};

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn read(caller: &Caller, input: &InputGiven) -> Value {
        let text = serde_json::to_string(&RequestMeta { caller, input }).expect("JSON");
        serde_json::from_str(&text).expect("JSON")
    }

    fn caller() -> Caller {
        Caller::new(Context::new(TenantId::local(), SessionId::default_session()))
    }

    #[test]
    fn a_plugin_reads_nothing_where_nothing_came() {
        assert_eq!(read(&caller(), &InputGiven::default()), json!({}));
    }

    #[test]
    fn a_plugin_reads_what_came_and_what_the_host_knows() {
        let mut caller = caller();
        caller.meta = object(json!({"com.example/k": [1], "x": null}));
        caller.capabilities = Some(Map::new());
        let input = InputGiven { responses: object(json!({"n": {"action": "accept"}})), state: None };
        let read_first = read(&caller, &input);
        let client = json!({"capabilities": {}});
        assert_eq!(
            read_first,
            json!({"com.example/k": [1], "x": null, "dev.wharf/client": client,
                   "dev.wharf/input": {"responses": {"n": {"action": "accept"}}}})
        );
        caller.capabilities = Some(object(json!({"roots": {}})));
        let input = InputGiven { responses: Map::new(), state: Some("s\u{1b}".to_owned()) };
        let read_then = read(&caller, &input);
        assert_eq!(read_then["dev.wharf/client"], json!({"capabilities": {"roots": {}}}));
        assert_eq!(read_then["dev.wharf/input"], json!({"responses": {}, "state": "s\u{1b}"}));
    }

    #[test]
    fn no_caller_speaks_for_the_host() {
        let mut caller = caller();
        caller.meta = object(json!({"dev.wharf/input": 1, "dev.wharf/client": 2, "dev.wharf/tenant": 3, "mine": 4}));
        assert_eq!(read(&caller, &InputGiven::default()), json!({"mine": 4}));
    }
}
