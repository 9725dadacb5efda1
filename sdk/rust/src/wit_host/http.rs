//! The requests of [`WitHost`], by `wasi:http`. Wasm only; it converts and holds no
//! logic.

use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest, Scheme,
};
use wasip2::io::streams::StreamError;

use super::WitHost;
use crate::ToolError;
use crate::host::HostHttp;
use crate::http::{Request, Response, error};

/// What one write takes.
const WRITE_BYTES: usize = 4096;
/// What is read at once.
const READ_BYTES: u64 = 64 << 10;

impl HostHttp for WitHost {
    fn send(&self, request: &Request) -> Result<Response, ToolError> {
        let (scheme, authority, path) = request.target()?;
        let headers = Fields::new();
        for (name, value) in &request.headers {
            let unfit = |_| ToolError::invalid(format!("the header `{name}` cannot be set so"));
            headers.append(name, value.as_bytes()).map_err(unfit)?;
        }
        if !request.body.is_empty() {
            let length = request.body.len().to_string();
            let unfit = |_| ToolError::invalid("the length of the body is the host's to say");
            headers.set("content-length", &[length.into_bytes()]).map_err(unfit)?;
        }
        let unfit = |()| ToolError::invalid("this is no request that can be sent");
        let outgoing = OutgoingRequest::new(headers);
        outgoing.set_method(&method(&request.method)).map_err(unfit)?;
        outgoing.set_scheme(Some(&self::scheme(scheme))).map_err(unfit)?;
        outgoing.set_authority(Some(authority)).map_err(unfit)?;
        outgoing.set_path_with_query(Some(&path)).map_err(unfit)?;
        let body = if request.body.is_empty() { None } else { Some(outgoing.body().map_err(unfit)?) };
        let future = handle(outgoing, None).map_err(told)?;
        if let Some(body) = body {
            // The answer says why it could not be written to its end.
            let written = body.write().is_ok_and(|stream| {
                request.body.chunks(WRITE_BYTES).all(|chunk| stream.blocking_write_and_flush(chunk).is_ok())
            });
            if written {
                OutgoingBody::finish(body, None).map_err(told)?;
            }
        }
        future.subscribe().block();
        match future.get() {
            Some(Ok(Ok(response))) => read(response, request.max_body_bytes),
            Some(Ok(Err(code))) => Err(told(code)),
            Some(Err(())) | None => Err(ToolError::internal("the host has no answer to a request")),
        }
    }
}

fn method(word: &str) -> Method {
    match word {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "OPTIONS" => Method::Options,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

fn scheme(word: &str) -> Scheme {
    match word {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    }
}

fn told(code: ErrorCode) -> ToolError {
    match code {
        ErrorCode::InternalError(Some(words)) => error(&words),
        code => error(&format!("unavailable: the request failed: {code:?}")),
    }
}

fn read(response: IncomingResponse, most: usize) -> Result<Response, ToolError> {
    let status = response.status();
    let headers = response.headers().entries().into_iter();
    let headers = headers.map(|(name, value)| (name, String::from_utf8_lossy(&value).into_owned())).collect();
    let gone = |()| ToolError::internal("the host has no body for an answer");
    let incoming = response.consume().map_err(gone)?;
    let stream = incoming.stream().map_err(gone)?;
    let mut body = Vec::new();
    loop {
        match stream.blocking_read(READ_BYTES) {
            Ok(piece) => body.extend(piece),
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(failure)) => {
                let words = failure.to_debug_string();
                return Err(ToolError::unavailable(format!("the answer was not read to its end: {words}")));
            }
        }
        if body.len() > most {
            return Err(ToolError::limit(format!("the answer has more than {most} bytes; that is all that is read")));
        }
    }
    drop(stream);
    drop(IncomingBody::finish(incoming));
    Ok(Response { status, headers, body })
}
