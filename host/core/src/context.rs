//! On whose behalf a call runs: given by the transport, never chosen by a
//! model.

use serde_json::{Map, Value};

use crate::{AssistantId, Code, Error, SessionId, TenantId, ThreadId, id};

/// On whose behalf a call runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Context {
    /// From authentication; `local` on stdio.
    pub tenant: TenantId,
    /// One conversation or run.
    pub session: SessionId,
    /// The assistant, where the client names one.
    pub assistant: Option<AssistantId>,
    /// The thread, where the client names one.
    pub thread: Option<ThreadId>,
}

impl Context {
    /// The context of a call that names nothing but its session.
    #[must_use]
    pub fn new(tenant: TenantId, session: SessionId) -> Self {
        Self { tenant, session, assistant: None, thread: None }
    }
}

/// Whether the arguments of a call may carry context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Channel {
    /// Arguments come from a model: context fields in them are dropped.
    #[default]
    Open,
    /// A middleware that the operator trusts writes them.
    TrustedMiddleware,
}

/// What a transport found about the caller, unchecked.
///
/// The first three come from the request's own metadata and must be legal ids.
/// The others are what known clients and transports send in shapes of their
/// own; where those are illegal as ids, they are hashed.
#[derive(Debug, Clone, Default)]
pub struct ContextClaims {
    /// `dev.wharf/sessionId`.
    pub session: Option<String>,
    /// `dev.wharf/assistantId`.
    pub assistant: Option<String>,
    /// `dev.wharf/threadId`.
    pub thread: Option<String>,
    /// A conversation id of a known client.
    pub client_session: Option<String>,
    /// A thread id of a known client.
    pub client_thread: Option<String>,
    /// The session of the transport itself, where it has one.
    pub transport_session: Option<String>,
}

/// How the context of a call is made on one channel.
#[derive(Debug, Clone)]
pub struct ContextRules {
    /// Whose calls these are.
    pub tenant: TenantId,
    /// Whether arguments may carry context.
    pub channel: Channel,
    /// The session of calls that name none; `default` where this is absent.
    pub fallback_session: Option<SessionId>,
    /// Refuse calls without a session.
    pub require_session: bool,
}

/// A context, and what was remarkable about its making.
#[derive(Debug)]
pub struct Resolved {
    /// The context.
    pub context: Context,
    /// Context fields that were dropped from the arguments of an open channel.
    pub dropped: Vec<&'static str>,
    /// Nothing named a session.
    pub defaulted: bool,
}

const SESSION_FIELD: &str = "__sessionId";
const ASSISTANT_FIELD: &str = "__assistantId";
const THREAD_FIELD: &str = "__threadId";

impl ContextRules {
    /// The rules of a local channel without authentication.
    #[must_use]
    pub fn local() -> Self {
        Self { tenant: TenantId::local(), channel: Channel::Open, fallback_session: None, require_session: false }
    }

    /// Makes the context of one call, and takes the three context fields out
    /// of its arguments. Nested data and other names are left alone.
    ///
    /// # Errors
    /// `invalid` where an id is illegal, where a trusted field is no text or
    /// contradicts the metadata, or where a session is required and missing.
    pub fn resolve(&self, claims: &ContextClaims, arguments: &mut Map<String, Value>) -> Result<Resolved, Error> {
        let mut dropped = Vec::new();
        let mut field = |name: &'static str, claim: &Option<String>| -> Result<Option<String>, Error> {
            let Some(value) = arguments.remove(name) else {
                return Ok(claim.clone());
            };
            if self.channel == Channel::Open {
                dropped.push(name);
                return Ok(claim.clone());
            }
            let Value::String(value) = value else {
                return Err(Error::new(Code::Invalid, format!("{name} must be a text")));
            };
            match claim {
                Some(claim) if *claim != value => Err(Error::new(
                    Code::Invalid,
                    format!("{name} and the request's `_meta` name different ids; send one of them"),
                )),
                _ => Ok(Some(value)),
            }
        };
        let session = field(SESSION_FIELD, &claims.session)?;
        let assistant = field(ASSISTANT_FIELD, &claims.assistant)?;
        let thread = field(THREAD_FIELD, &claims.thread)?;

        let named: Option<SessionId> = match session {
            Some(raw) => Some(raw.parse()?),
            None => [&claims.client_session, &claims.transport_session]
                .into_iter()
                .find_map(|claim| claim.as_deref().and_then(id::foreign)),
        };
        let defaulted = named.is_none() && self.fallback_session.is_none();
        if defaulted && self.require_session {
            return Err(Error::new(
                Code::Invalid,
                "this host requires a session: send `dev.wharf/sessionId` in `_meta`, or start it with \
                 `wharf serve --session NAME`",
            ));
        }
        let context = Context {
            tenant: self.tenant.clone(),
            session: named.or_else(|| self.fallback_session.clone()).unwrap_or_else(SessionId::default_session),
            assistant: assistant.map(|raw| raw.parse::<AssistantId>()).transpose()?,
            thread: match thread {
                Some(raw) => Some(raw.parse::<ThreadId>()?),
                None => claims.client_thread.as_deref().and_then(id::foreign),
            },
        };
        Ok(Resolved { context, dropped, defaulted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn trusted() -> ContextRules {
        ContextRules { channel: Channel::TrustedMiddleware, ..ContextRules::local() }
    }

    #[test]
    fn a_model_cannot_choose_its_context_by_writing_it() {
        let mut given = arguments(json!({"__sessionId": "victim", "__threadId": 7, "goal": "x"}));
        let resolved = ContextRules::local().resolve(&ContextClaims::default(), &mut given).expect("resolves");
        assert_eq!(resolved.context.session.as_str(), "default");
        assert_eq!(resolved.context.thread, None);
        assert_eq!(resolved.dropped, ["__sessionId", "__threadId"]);
        assert_eq!(Value::Object(given), json!({"goal": "x"}));
    }

    #[test]
    fn a_trusted_middleware_may_and_exactly_three_names_are_taken_out() {
        let mut given = arguments(json!({
            "__sessionId": "s", "__assistantId": "a", "__threadId": "t",
            "__other": 1, "nested": {"__sessionId": "data"},
        }));
        let resolved = trusted().resolve(&ContextClaims::default(), &mut given).expect("resolves");
        assert_eq!(resolved.context.session.as_str(), "s");
        assert_eq!(resolved.context.assistant.map(|id| id.to_string()).as_deref(), Some("a"));
        assert_eq!(resolved.context.thread.map(|id| id.to_string()).as_deref(), Some("t"));
        assert_eq!(Value::Object(given), json!({"__other": 1, "nested": {"__sessionId": "data"}}));
    }

    #[test]
    fn a_trusted_field_that_contradicts_the_metadata_is_invalid() {
        let claims = ContextClaims { session: Some("one".into()), ..ContextClaims::default() };
        let error = trusted().resolve(&claims, &mut arguments(json!({"__sessionId": "two"}))).expect_err("differs");
        assert_eq!(error.code, Code::Invalid);
        assert!(trusted().resolve(&claims, &mut arguments(json!({"__sessionId": "one"}))).is_ok());
        let error = trusted().resolve(&claims, &mut arguments(json!({"__threadId": 1}))).expect_err("no text");
        assert_eq!(error.code, Code::Invalid);
    }

    #[test]
    fn own_metadata_comes_before_a_client_and_a_client_before_the_transport() {
        let mut claims = ContextClaims {
            session: Some("own".into()),
            client_session: Some("client".into()),
            transport_session: Some("transport".into()),
            ..ContextClaims::default()
        };
        let session = |claims: &ContextClaims| {
            let resolved = ContextRules::local().resolve(claims, &mut Map::new()).expect("resolves");
            resolved.context.session.to_string()
        };
        assert_eq!(session(&claims), "own");
        claims.session = None;
        assert_eq!(session(&claims), "client");
        claims.client_session = None;
        assert_eq!(session(&claims), "transport");
    }

    #[test]
    fn an_illegal_id_in_the_metadata_is_an_error_and_not_another_session() {
        for illegal in ["", "a b", "../x"] {
            let claims = ContextClaims { session: Some(illegal.into()), ..ContextClaims::default() };
            let error = ContextRules::local().resolve(&claims, &mut Map::new()).expect_err("illegal");
            assert!(error.message.contains("1 to 128 bytes"), "{error}");
        }
    }

    #[test]
    fn a_missing_session_is_default_or_the_fallback_or_refused() {
        let resolved = ContextRules::local().resolve(&ContextClaims::default(), &mut Map::new()).expect("resolves");
        assert!(resolved.defaulted);
        let named = ContextRules { fallback_session: "mine".parse().ok(), ..ContextRules::local() };
        let resolved = named.resolve(&ContextClaims::default(), &mut Map::new()).expect("resolves");
        assert_eq!((resolved.context.session.as_str(), resolved.defaulted), ("mine", false));
        let strict = ContextRules { require_session: true, ..ContextRules::local() };
        let error = strict.resolve(&ContextClaims::default(), &mut Map::new()).expect_err("required");
        assert!(error.message.contains("dev.wharf/sessionId"), "{error}");
    }
}
