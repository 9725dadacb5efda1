//! What a client carries from one round to the next, and is kept from changing.
//!
//! Owns the key, which lives and dies with what is served, unless several hosts share keys. A
//! sealed state can be read by the client; it is worth something only for the same request of
//! the same caller.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use wharf_core::{Code, Context, Error, service::input::MAX_INPUT_STATE_BYTES};

/// How long a state is worth something: a person may answer after lunch.
const LIFE: Duration = Duration::from_secs(60 * 60);

/// Longer than anything that was sealed here: escaped as JSON, a byte takes six at most,
/// and encoding makes four of three.
const MAX_SEALED_BYTES: usize = MAX_INPUT_STATE_BYTES * 8 + 512;

/// What keys are derived for (BLAKE3, `derive_key`): what opens states opens nothing else.
const KEY: &str = "wharf 2026-11-27 key of the states of rounds of input";
/// What the names of keys are derived for, which stand in each state.
const KEY_NAME: &str = "wharf 2026-11-27 name of a key of the states of rounds of input";

/// Keys that several hosts share: what one of them has sealed, each of them opens.
#[derive(Clone)]
pub struct StateKeys(Arc<RequestStateCodec>);

impl StateKeys {
    /// Keys of these secrets: the first one seals, and each opens. Nothing where there is no
    /// secret. A secret that stands twice counts once.
    #[must_use]
    pub fn of_secrets(secrets: &[impl AsRef<[u8]>]) -> Option<Self> {
        let name =
            |secret: &[u8]| blake3::Hash::from_bytes(blake3::derive_key(KEY_NAME, secret)).to_hex()[..16].to_owned();
        let keys: BTreeMap<_, _> =
            secrets.iter().map(|secret| (name(secret.as_ref()), blake3::derive_key(KEY, secret.as_ref()))).collect();
        let active = name(secrets.first()?.as_ref());
        // The names are legal and the keys long enough, so there is nothing to fail.
        RequestStateCodec::new_with_keyring(active, keys).ok().map(|codec| Self(Arc::new(codec)))
    }
}

/// Seals states, and opens its own.
#[derive(Default)]
pub(crate) struct StateSealer {
    /// Made when it is first needed: most hosts never do.
    codec: OnceLock<RequestStateCodec>,
    /// Where others have the same.
    shared: Option<StateKeys>,
}

/// What a state is bound to: a request with this method, name and arguments, on this behalf.
pub(crate) struct StateBinding<'r> {
    pub(crate) context: &'r Context,
    pub(crate) method: &'static str,
    pub(crate) name: &'r str,
    /// Their text, with members in the order of their names.
    pub(crate) arguments: Arc<str>,
}

/// What a state says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenedState {
    /// How often the call has asked.
    #[serde(rename = "r")]
    pub(crate) round: u32,
    /// The plugin's own.
    #[serde(rename = "s")]
    pub(crate) state: Option<String>,
}

impl StateBinding<'_> {
    /// Computed for the few requests that come to a sealed state.
    fn digest(&self) -> [u8; blake3::OUT_LEN] {
        let context = self.context;
        let mut digest = blake3::Hasher::new();
        // Each part says where it ends, so that none can pass for two others.
        let mut part = |bytes: &[u8]| {
            digest.update(&(bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        for id in [
            Some(context.tenant.as_str()),
            Some(context.session.as_str()),
            context.assistant.as_ref().map(|id| id.as_str()),
            context.thread.as_ref().map(|id| id.as_str()),
            Some(self.method),
            Some(self.name),
        ] {
            // No id is empty.
            part(id.unwrap_or_default().as_bytes());
        }
        digest.update(self.arguments.as_bytes());
        *digest.finalize().as_bytes()
    }
}

impl StateSealer {
    /// Seals what is to come back.
    pub(crate) fn seal(&self, binding: &StateBinding<'_>, round: u32, state: Option<String>) -> Result<String, Error> {
        let digest = binding.digest();
        let options = SealOptions::new().associated_data(&digest).ttl(LIFE);
        self.codec()?.seal_json_with(&OpenedState { round, state }, &options).map_err(|error| unusable(&error))
    }

    /// Opens what has come back; nothing where it is not worth anything.
    pub(crate) fn open(&self, binding: &StateBinding<'_>, sealed: &str) -> Result<Option<OpenedState>, Error> {
        if sealed.len() > MAX_SEALED_BYTES {
            return Ok(None);
        }
        match self.codec()?.open_json_with(sealed, &binding.digest()) {
            Ok(opened) => Ok(Some(opened)),
            Err(error) => {
                tracing::debug!(%error, "a request's state was refused");
                Ok(None)
            }
        }
    }

    pub(crate) fn of_keys(keys: StateKeys) -> Self {
        Self { codec: OnceLock::new(), shared: Some(keys) }
    }

    pub(crate) fn shared_keys(&self) -> Option<StateKeys> {
        self.shared.clone()
    }

    fn codec(&self) -> Result<&RequestStateCodec, Error> {
        if let Some(StateKeys(codec)) = &self.shared {
            return Ok(codec);
        }
        if let Some(codec) = self.codec.get() {
            return Ok(codec);
        }
        let mut key = [0; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut key).map_err(|error| unusable(&error))?;
        let codec = RequestStateCodec::try_new(key).map_err(|error| unusable(&error))?;
        // Where two race, both use the key that was set first.
        Ok(self.codec.get_or_init(|| codec))
    }
}

fn unusable(error: &dyn std::error::Error) -> Error {
    Error::new(Code::Internal, format!("what is to be carried between rounds of input cannot be sealed: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use wharf_core::{TenantId, service::Arguments};

    use super::*;

    fn context() -> Context {
        Context::new(TenantId::local(), "s".parse().expect("legal"))
    }

    fn object(value: Value) -> Arc<str> {
        Arc::clone(Arguments::from(value.as_object().expect("an object").clone()).text())
    }

    fn of<'r>(context: &'r Context, method: &'static str, name: &'r str, arguments: &Arc<str>) -> StateBinding<'r> {
        StateBinding { context, method, name, arguments: Arc::clone(arguments) }
    }

    fn opens(sealer: &StateSealer, binding: &StateBinding<'_>, sealed: &str) -> Option<OpenedState> {
        sealer.open(binding, sealed).expect("a key")
    }

    #[test]
    fn a_state_comes_back_as_it_was_for_the_same_request_alone() {
        let sealer = StateSealer::default();
        let arguments = object(json!({"a": 1, "b": {"x": 1, "y": 2}}));
        let mine = context();
        let binding = of(&mine, "tools/call", "p__t", &arguments);
        let sealed = sealer.seal(&binding, 3, Some("mine".into())).expect("sealer");
        let whole = Some(OpenedState { round: 3, state: Some("mine".into()) });
        assert_eq!(opens(&sealer, &binding, &sealed), whole);
        let reordered = object(serde_json::from_str(r#"{"b": {"y": 2, "x": 1}, "a": 1}"#).expect("an object"));
        assert_eq!(opens(&sealer, &of(&context(), "tools/call", "p__t", &reordered), &sealed), whole);

        let other_tenant = Context { tenant: "other".parse().expect("legal"), ..context() };
        let other_session = Context { session: "t".parse().expect("legal"), ..context() };
        let with_assistant = Context { assistant: "a".parse().ok(), ..context() };
        let with_thread = Context { thread: "a".parse().ok(), ..context() };
        for foreign in [
            of(&other_tenant, "tools/call", "p__t", &arguments),
            of(&other_session, "tools/call", "p__t", &arguments),
            of(&with_assistant, "tools/call", "p__t", &arguments),
            of(&with_thread, "tools/call", "p__t", &arguments),
            of(&context(), "prompts/get", "p__t", &arguments),
            of(&context(), "tools/call", "p__u", &arguments),
            of(&context(), "tools/call", "p__t", &object(json!({"a": 2, "b": {"x": 1, "y": 2}}))),
            of(&context(), "tools/call", "p__t", &object(json!({}))),
        ] {
            assert_eq!(opens(&sealer, &foreign, &sealed), None);
        }
        assert_eq!(opens(&StateSealer::default(), &binding, &sealed), None, "another host's key");
    }

    #[test]
    fn hosts_that_share_a_secret_open_what_the_others_sealed() {
        let sealer = |secrets: &[&str]| StateSealer::of_keys(StateKeys::of_secrets(secrets).expect("keys"));
        let stranger = sealer(&["other"]);
        let (before, between, after) = (sealer(&["old"]), sealer(&["old", "new"]), sealer(&["new", "old", "new"]));
        let mine = context();
        let binding = of(&mine, "tools/call", "p__t", &object(json!({})));
        let whole = |round| Some(OpenedState { round, state: Some("mine".into()) });
        for (round, sealer) in [(1, &before), (2, &between), (3, &after)] {
            let sealed = sealer.seal(&binding, round, Some("mine".into())).expect("sealed");
            for opener in [&between, &after] {
                assert_eq!(opens(opener, &binding, &sealed), whole(round));
            }
            assert_eq!(opens(&stranger, &binding, &sealed), None, "of another cluster");
            assert_eq!(opens(&before, &binding, &sealed).is_some(), round < 3, "it has no new secret");
        }
        assert!(StateKeys::of_secrets(&[""; 0]).is_none());
    }

    #[test]
    fn the_longest_state_of_a_plugin_comes_back() {
        let (sealer, longest) = (StateSealer::default(), "\u{1}".repeat(MAX_INPUT_STATE_BYTES));
        let mine = context();
        let binding = of(&mine, "tools/call", "p__t", &object(json!({})));
        let sealed = sealer.seal(&binding, 1, Some(longest.clone())).expect("sealer");
        assert_eq!(opens(&sealer, &binding, &sealed).and_then(|opened| opened.state), Some(longest));
    }

    #[test]
    fn an_assistant_does_not_pass_for_a_thread() {
        let with_assistant = Context { assistant: "a".parse().ok(), ..context() };
        let with_thread = Context { thread: "a".parse().ok(), ..context() };
        let none = object(json!({}));
        let sealer = StateSealer::default();
        let sealed = sealer.seal(&of(&with_assistant, "m", "n", &none), 1, None).expect("sealer");
        assert_eq!(opens(&sealer, &of(&with_thread, "m", "n", &none), &sealed), None);
    }

    #[test]
    fn a_changed_state_is_worth_nothing_wherever_it_was_changed() {
        let sealer = StateSealer::default();
        let mine = context();
        let binding = of(&mine, "tools/call", "p__t", &object(json!({})));
        let sealed = sealer.seal(&binding, 1, Some("state".into())).expect("sealer");
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("text");
            assert_eq!(opens(&sealer, &binding, &changed), None, "{changed}");
        }
        for garbage in ["", ".", "rs1..", "rs2.a.b.c", &format!("{sealed}-TAMPERED"), &"x".repeat(1 << 20)] {
            assert_eq!(opens(&sealer, &binding, garbage), None);
        }
    }
}
