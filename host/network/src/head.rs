//! The heads of requests and of answers: the headers that a plugin may set, those that the
//! host fills, and their size.

use hyper::{
    Request, Response, StatusCode,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use wharf_core::{Code, Error, grant::GrantedRequest};

/// Headers of a single connection, even without a `Connection` that names them: each machine
/// on the way has its own.
pub const HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Bytes between a name and its value, and behind it.
const AROUND_BYTES: u64 = 4;

/// Turns the head of a request into the one that the server gets.
pub(crate) fn to_server<B>(granted: &GrantedRequest, request: &mut Request<B>, most: u64) -> Result<(), Error> {
    let target = request.uri().path_and_query().cloned();
    let headers = request.headers_mut();
    for name in HOP_BY_HOP.iter().chain(&[header::EXPECT, header::HOST]) {
        headers.remove(name);
    }
    for name in headers.keys() {
        granted.header(name.as_str())?;
    }
    let length = bytes(headers).saturating_add(target.as_ref().map_or(0, |target| target.as_str().len() as u64));
    if length > most {
        let message = format!("the head of the request has {length} bytes, more than {most} ({})", named("head_bytes"));
        return Err(Error::new(Code::Limit, message));
    }
    let unfit = |_| Error::new(Code::Invalid, "this names no server");
    headers.insert(header::HOST, HeaderValue::from_str(&granted.wanted().server.authority).map_err(unfit)?);
    if !granted.secrets().is_empty() {
        with_secrets(granted, headers)?;
    }
    // A server may take an absolute address, which is for proxies, for one of another server.
    *request.uri_mut() = target.map_or_else(hyper::Uri::default, hyper::Uri::from);
    *request.version_mut() = hyper::Version::HTTP_11;
    Ok(())
}

/// Sets the headers that the host fills. The answer must then be one in which the host
/// can find a secret, should the server send it back.
fn with_secrets(granted: &GrantedRequest, headers: &mut HeaderMap) -> Result<(), Error> {
    if headers.contains_key(header::RANGE) {
        let message = "a request to which the host adds a secret cannot ask for a part of an answer: leave `range` out";
        return Err(Error::new(Code::Denied, message));
    }
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for secret in granted.secrets() {
        let defect = || Error::new(Code::Internal, format!("the secret `{}` fits no header", secret.rule().name()));
        let name = HeaderName::from_bytes(secret.rule().header().as_bytes()).map_err(|_| defect())?;
        let mut value = HeaderValue::from_str(&secret.value()).map_err(|_| defect())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(())
}

/// Checks the head of an answer.
pub(crate) fn from_server<B>(granted: &GrantedRequest, answer: &Response<B>, most: u64) -> Result<(), Error> {
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Error::new(Code::Unavailable, "the server wants to speak another protocol"));
    }
    if bytes(answer.headers()) > most {
        return Err(too_large_a_head(most));
    }
    let other_than = |name: HeaderName, plain: &str| {
        answer.headers().get_all(name).iter().any(|coding| !coding.as_bytes().eq_ignore_ascii_case(plain.as_bytes()))
    };
    // The client joins chunks before the host looks for a secret.
    let encoded = other_than(header::CONTENT_ENCODING, "identity") || other_than(header::TRANSFER_ENCODING, "chunked");
    if encoded && !granted.secrets().is_empty() {
        let message = "the server answered in an encoding that was not asked for, in which a secret could not be found";
        return Err(Error::new(Code::Unavailable, message));
    }
    Ok(())
}

pub(crate) fn too_large_a_head(most: u64) -> Error {
    let message = format!("the head of the answer has more than {most} bytes ({})", named("head_bytes"));
    Error::new(Code::Limit, message)
}

/// Bytes of headers on the wire.
fn bytes(headers: &HeaderMap) -> u64 {
    headers.iter().map(|(name, value)| name.as_str().len() as u64 + value.len() as u64 + AROUND_BYTES).sum()
}

/// The name of a limit, for an error.
pub(crate) fn named(limit: &str) -> String {
    format!("limit `{limit}` of [request.limits]")
}
