//! Asking a client of the older era: requests from the server, answered by it.
//!
//! Also reads what a plugin asks for in the protocol's own types, so that no client is
//! asked for what the protocol does not know.

#![expect(deprecated, reason = "sampling and roots are deprecated since 2026-07-28 and used by today's clients")]

use std::{collections::BTreeMap, time::Duration};

use futures_util::future::join_all;
use rmcp::{
    RoleServer,
    model::{
        CreateMessageRequest, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams, ErrorData,
        InputRequest as ProtocolRequest, ListRootsRequest, ServerRequest,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Code, Error,
    service::{InputMethod, InputRequest},
};

/// How long a client may take: people are asked.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The requests in the protocol's types. What the protocol has no place for is left out.
///
/// # Errors
/// `internal` where a plugin asks for what the protocol does not know.
pub(super) fn requests(asked: BTreeMap<String, InputRequest>) -> Result<BTreeMap<String, ProtocolRequest>, Error> {
    asked
        .into_iter()
        .map(|(name, asked)| {
            let method = asked.method.as_str();
            let request = request(asked).map_err(|problem| {
                let told = format!(
                    "the plugin broke its contract: what it asks for as `{name}` is no {method} of the protocol: {problem}"
                );
                Error::new(Code::Internal, told)
            })?;
            Ok((name, request))
        })
        .collect()
}

fn request(InputRequest { method, mut parameters }: InputRequest) -> Result<ProtocolRequest, String> {
    // Metadata of requests is between host and client.
    parameters.remove("_meta");
    let parameters = Value::Object(parameters);
    match method {
        InputMethod::Elicitation => {
            let parameters = ElicitRequestParams::deserialize(parameters).map_err(|error| error.to_string())?;
            Ok(ProtocolRequest::Elicitation(ElicitRequest::new(parameters)))
        }
        InputMethod::Sampling => {
            let parameters = CreateMessageRequestParams::deserialize(parameters).map_err(|error| error.to_string())?;
            parameters.validate()?;
            Ok(ProtocolRequest::CreateMessage(CreateMessageRequest::new(parameters)))
        }
        InputMethod::Roots => Ok(ProtocolRequest::ListRoots(ListRootsRequest::default())),
    }
}

/// Asks for all of a round at once; each has a response in the end, be it an error.
pub(super) async fn ask(
    peer: &Peer<RoleServer>,
    requests: BTreeMap<String, ProtocolRequest>,
    cancel: &CancellationToken,
) -> Map<String, Value> {
    let asked = requests.into_iter().map(|(name, request)| async move { (name, one(peer, request, cancel).await) });
    join_all(asked).await.into_iter().collect()
}

async fn one(peer: &Peer<RoleServer>, request: ProtocolRequest, cancel: &CancellationToken) -> Value {
    let request = match request {
        ProtocolRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        ProtocolRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        ProtocolRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        _ => return failed(ErrorData::internal_error("the host cannot ask for this", None)),
    };
    let mut asked = match peer.send_request_with_option(request, PeerRequestOptions::no_options()).await {
        Ok(asked) => asked,
        Err(error) => return failed(undelivered(&error)),
    };
    let why = tokio::select! {
        response = &mut asked.rx => return match response {
            Ok(Ok(result)) => serde_json::to_value(result).unwrap_or_default(),
            Ok(Err(ServiceError::McpError(error))) => failed(error),
            Ok(Err(error)) => failed(undelivered(&error)),
            Err(_) => failed(undelivered(&ServiceError::TransportClosed)),
        },
        () = tokio::time::sleep(PATIENCE) => format!("the client has not answered for {} minutes", PATIENCE.as_secs() / 60),
        () = cancel.cancelled() => "the call was taken back".to_owned(),
    };
    let reason = why.clone();
    // Nobody waits for it: the connection may be what has ended.
    tokio::spawn(async move {
        if let Err(error) = asked.cancel(Some(reason)).await {
            tracing::debug!(%error, "a client could not be told that it is not asked any more");
        }
    });
    failed(ErrorData::internal_error(why, None))
}

fn undelivered(error: &ServiceError) -> ErrorData {
    ErrorData::internal_error(format!("the client could not be asked: {error}"), None)
}

/// An error as a response: the plugin decides what it means.
fn failed(error: ErrorData) -> Value {
    json!({ "error": error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: InputMethod, parameters: Value) -> Result<Value, Error> {
        let parameters = parameters.as_object().expect("an object").clone();
        let asked = requests(BTreeMap::from([("it".to_owned(), InputRequest { method, parameters })]))?;
        Ok(serde_json::to_value(&asked["it"]).expect("serializes"))
    }

    #[test]
    fn what_a_plugin_asks_for_reaches_the_client_whole() {
        let kinds = json!({
            "name": {"type": "string", "description": "who", "default": "John Doe"},
            "mail": {"type": "string", "format": "email", "minLength": 3, "maxLength": 99},
            "age": {"type": "integer", "default": 30, "minimum": 0},
            "score": {"type": "number", "default": 95.5},
            "verified": {"type": "boolean", "default": true},
            "status": {"type": "string", "enum": ["active", "inactive"], "default": "active"},
            "titled": {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
            "legacy": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
            "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "many_titled": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
        });
        let form = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": kinds, "required": ["name"]}});
        let read_form = read(InputMethod::Elicitation, form.clone()).expect("legal");
        assert_eq!(read_form["method"], "elicitation/create");
        assert_eq!(read_form["params"]["message"], form["message"]);
        assert_eq!(read_form["params"]["requestedSchema"], form["requestedSchema"]);

        let sample = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Why?"}}], "maxTokens": 100,
                            "systemPrompt": "Be brief.", "temperature": 0.5});
        let read_sample = read(InputMethod::Sampling, sample.clone()).expect("legal");
        assert_eq!(read_sample, json!({"method": "sampling/createMessage", "params": sample}));
        assert_eq!(read(InputMethod::Roots, json!({})).expect("legal"), json!({"method": "roots/list"}));
    }

    #[test]
    fn what_the_protocol_does_not_know_is_a_defect_of_the_plugin() {
        for (method, parameters) in [
            (InputMethod::Elicitation, json!({})),
            (InputMethod::Elicitation, json!({"message": "Who?", "requestedSchema": {"type": "string"}})),
            (InputMethod::Elicitation, json!({"mode": "url", "message": "Go"})),
            (InputMethod::Sampling, json!({"messages": []})),
            (InputMethod::Sampling, json!({"messages": "hi", "maxTokens": 1})),
        ] {
            let error = read(method, parameters.clone()).expect_err("no request");
            assert!(error.code == Code::Internal && error.message.contains("`it`"), "{parameters}: {error}");
        }
    }

    #[test]
    fn metadata_that_a_plugin_would_send_to_the_client_is_left_out() {
        let form = json!({"_meta": {"progressToken": 1}, "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
        assert!(read(InputMethod::Elicitation, form).expect("legal")["params"].get("_meta").is_none());
    }
}
