//! What headers say: on whose behalf a request is, which trace it belongs to, what its body
//! is and what its client takes.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use wharf_core::{
    Code, ContextClaims, Error,
    trace::{MAX_STATE_BYTES, RemoteParent, TraceParent},
};

use crate::failure::HttpFailure;

pub(crate) const SESSION: HeaderName = HeaderName::from_static("wharf-session");
pub(crate) const ASSISTANT: HeaderName = HeaderName::from_static("wharf-assistant");
pub(crate) const THREAD: HeaderName = HeaderName::from_static("wharf-thread");

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// A header that counts only where it is there once: of two, each reader might
/// believe another one.
pub(crate) fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, HttpFailure> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    match values.next() {
        Some(_) => Err(HttpFailure::invalid(format!("send the header `{name}` once"))),
        None => Ok(value),
    }
}

/// What the headers of a request say of its context.
///
/// # Errors
/// `invalid` where one is there twice or is no text.
pub(crate) fn context_claims(headers: &HeaderMap) -> Result<ContextClaims, Error> {
    Ok(ContextClaims {
        session: text(headers, &SESSION)?,
        assistant: text(headers, &ASSISTANT)?,
        thread: text(headers, &THREAD)?,
        ..ContextClaims::default()
    })
}

/// A header of ours, which is there at most once.
fn text(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Error> {
    let twice = || Error::new(Code::Invalid, format!("send the header `{name}` once"));
    let value = single(headers, name).map_err(|_| twice())?;
    let illegal = |_| Error::new(Code::Invalid, format!("the header `{name}` must be ASCII"));
    value.map(|value| value.to_str().map(str::to_owned)).transpose().map_err(illegal)
}

/// What the headers of a request say of its trace. Of two parents none is believed.
pub(crate) fn trace_parent(headers: &HeaderMap) -> Option<TraceParent> {
    let mut parents = headers.get_all(PARENT).iter();
    let parent = parents.next().filter(|_| parents.next().is_none())?.to_str().ok()?;
    // The state may be spread over several headers.
    let mut state = String::new();
    for value in headers.get_all(STATE) {
        let Ok(value) = value.to_str() else { continue };
        if state.len() + value.len() > MAX_STATE_BYTES {
            break;
        }
        if !state.is_empty() {
            state.push(',');
        }
        state.push_str(value);
    }
    RemoteParent::of_headers(parent, Some(&state)).map(TraceParent::Remote)
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// Whether the client takes server-sent events.
pub(crate) fn takes_events(headers: &HeaderMap) -> bool {
    takes(headers, "text/event-stream")
}

/// Whether the client takes this kind, in so many words.
pub(crate) fn takes(headers: &HeaderMap, kind: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| range.trim().eq_ignore_ascii_case(kind))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn state(lines: &[(&'static str, &str)]) -> Option<String> {
        let line = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).expect("legal"))
        };
        let mut headers = HeaderMap::new();
        for (name, value) in lines.iter().map(line) {
            headers.append(name, value);
        }
        match trace_parent(&headers)? {
            TraceParent::Remote(remote) => Some(remote.context.state.as_deref().unwrap_or_default().to_owned()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headers_say_one_parent_or_none() {
        assert_eq!(state(&[(PARENT, GOOD)]), Some(String::new()));
        assert_eq!(state(&[(PARENT, GOOD), (STATE, "a=1"), (STATE, "b=2")]).as_deref(), Some("a=1,b=2"));
        assert_eq!(state(&[(PARENT, GOOD), (STATE, &"x".repeat(600))]), Some(String::new()));
        assert_eq!(state(&[(PARENT, GOOD), (PARENT, GOOD)]), None, "each reader might believe another one");
        assert_eq!(state(&[(PARENT, "00-nonsense")]), None);
        assert_eq!(state(&[(STATE, "a=1")]), None);
    }
}
