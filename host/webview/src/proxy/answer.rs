//! What the proxy itself answers.

use http_body_util::{Either, Full};
use hyper::{
    Response, StatusCode,
    body::{Bytes, Incoming},
    header::{self, HeaderName, HeaderValue},
};
use wharf_core::{Code, Error};

/// A header that the answers of a proxy itself have, and no others, since it is
/// taken out of those of servers: `denied`, `unavailable` or `invalid`.
pub const PROXY_ANSWER: HeaderName = HeaderName::from_static("wharf-proxy-answer");

/// For a connection too many.
pub(super) const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nwharf-proxy-answer: unavailable\r\n\
    content-length: 0\r\nconnection: close\r\n\r\n";

/// What a server sends, or a text of the proxy.
pub(super) type Body = Either<Incoming, Full<Bytes>>;

/// Says why a request goes no further.
pub(super) fn refusal(reason: &Error) -> Response<Body> {
    let (status, word) = match reason.code {
        Code::Denied => (StatusCode::FORBIDDEN, "denied"),
        Code::Invalid => (StatusCode::BAD_REQUEST, "invalid"),
        _ => (StatusCode::BAD_GATEWAY, "unavailable"),
    };
    let mut response = empty(status);
    *response.body_mut() = Either::Right(Full::from(reason.message.clone()));
    // Were it shown as a document, it would be one of the origin that was refused. Not
    // a sandboxed one: no script that the host runs there would ever be done.
    for (name, value) in [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (header::CACHE_CONTROL, "no-store"),
        (PROXY_ANSWER, word),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// No more than a status.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Right(Full::default()));
    *response.status_mut() = status;
    response
}
