//! Headers that are meant for the next machine alone, and those that say the same
//! thing twice.

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use wharf_core::Server;
use wharf_network::HOP_BY_HOP;

use super::answer::PROXY_ANSWER;

/// Makes the headers of a request those that the server gets.
pub(super) fn to_server(headers: &mut HeaderMap, target: &Server) -> Result<(), header::InvalidHeaderValue> {
    clean(headers);
    // The proxy itself reads the body before it knows what the server expects.
    headers.remove(header::EXPECT);
    headers.insert(header::HOST, HeaderValue::from_str(&target.authority)?);
    Ok(())
}

/// Makes the headers of an answer those that the browser gets.
pub(super) fn to_browser(headers: &mut HeaderMap) {
    // Of two lengths of a request, the server of hyper has taken this one out already.
    if headers.contains_key(header::TRANSFER_ENCODING) {
        headers.remove(header::CONTENT_LENGTH);
    }
    clean(headers);
    headers.remove(PROXY_ANSWER);
}

fn clean(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // What frames the message is not `Connection`'s to take out.
        .filter(|name| *name != header::CONTENT_LENGTH && *name != header::HOST)
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}
