//! Requests of a guest in a worker: it has WASI's types, and the host checks and sends.

use std::{future::Future, pin::Pin, sync::Arc, task, task::Poll};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Request, Response,
    body::{Body, Frame},
    header::{HeaderName, HeaderValue},
};
use wasmtime::component::Resource;
use wasmtime_wasi::runtime::AbortOnDropJoinHandle;
use wasmtime_wasi_http::{Error as WasiError, RequestOptions, WasiBody};

use super::OwnFunction;
use crate::{
    call::ActiveCall,
    watch::crossing::{Crossing, crossing, one_of, to_bytes},
};

/// A request that is under way in the host: its number is all that a worker has of it.
pub(crate) enum ExchangeHandle {}

/// Bytes of a body that cross at once.
const PART_BYTES: usize = 64 << 10;

/// Names and values of headers or trailers.
pub(crate) type Fields = Vec<(String, Vec<u8>)>;

/// The beginning of a request.
#[derive(Debug)]
pub(crate) struct RequestHead {
    pub(crate) method: String,
    pub(crate) uri: String,
    pub(crate) fields: Fields,
    pub(crate) connect: Option<std::time::Duration>,
    pub(crate) first_byte: Option<std::time::Duration>,
    pub(crate) between_bytes: Option<std::time::Duration>,
}

crossing! { self::RequestHead { method, uri, fields, connect, first_byte, between_bytes }; }

/// What is next of a body.
#[derive(Debug)]
pub(crate) enum BodyPart {
    Data(Vec<u8>),
    Trailers(Fields),
    End,
    Failed(String),
}

one_of!(BodyPart { Data(bytes) = 0, Trailers(fields) = 1, End = 2, Failed(why) = 3 });

/// The words of an error, which the host puts into this one.
pub(crate) fn told(error: WasiError) -> String {
    match error {
        WasiError::InternalError(Some(words)) => words,
        other => other.to_string(),
    }
}

pub(crate) fn fields(headers: &HeaderMap) -> Fields {
    headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect()
}

pub(crate) fn headers(fields: Fields) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        headers.try_append(name, HeaderValue::from_bytes(&value).ok()?).ok()?;
    }
    Some(headers)
}

pub(crate) fn frame_of(part: BodyPart) -> Option<Result<Frame<Bytes>, WasiError>> {
    match part {
        BodyPart::Data(bytes) => Some(Ok(Frame::data(bytes.into()))),
        BodyPart::Trailers(fields) => headers(fields).map(|trailers| Ok(Frame::trailers(trailers))),
        BodyPart::End => None,
        BodyPart::Failed(why) => Some(Err(WasiError::InternalError(Some(why)))),
    }
}

/// What a body yields, as it crosses.
pub(crate) fn part_of(frame: Option<Result<Frame<Bytes>, WasiError>>) -> BodyPart {
    match frame.map(|frame| frame.map(Frame::into_data)) {
        None => BodyPart::End,
        Some(Err(error)) => BodyPart::Failed(told(error)),
        Some(Ok(Ok(data))) => BodyPart::Data(data.into()),
        Some(Ok(Err(frame))) => BodyPart::Trailers(frame.trailers_ref().map(fields).unwrap_or_default()),
    }
}

/// Sends a request of a worker's guest by way of the host.
pub(crate) async fn send_by_host(
    call: Arc<ActiveCall>,
    request: Request<WasiBody>,
    options: Option<RequestOptions>,
) -> Result<Response<WasiBody>, WasiError> {
    let (parts, body) = request.into_parts();
    let options = options.unwrap_or_default();
    let head = RequestHead {
        method: parts.method.to_string(),
        uri: parts.uri.to_string(),
        fields: fields(&parts.headers),
        connect: options.connect_timeout,
        first_byte: options.first_byte_timeout,
        between_bytes: options.between_bytes_timeout,
    };
    let begun: Result<Resource<ExchangeHandle>, String> =
        asked(&call, OwnFunction::BeginRequest, to_bytes(&(head,))).await?;
    let exchange = Arc::new(ExchangeOfHost { number: begun.map_err(in_words)?.rep(), call });
    let sending = wasmtime_wasi::runtime::spawn(send_body(Arc::clone(&exchange), body));
    let (status, fields): (u16, Fields) =
        exchange.ask::<Result<_, String>>(OwnFunction::ReadHead).await?.map_err(in_words)?;
    let body = AnswerOfHost { exchange, reading: None, has_ended: false, _sending: sending };
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = status.try_into().map_err(|_| in_words("no status".to_owned()))?;
    *response.headers_mut() = headers(fields).ok_or_else(|| in_words("a header is malformed".to_owned()))?;
    Ok(response)
}

fn in_words(words: String) -> WasiError {
    WasiError::InternalError(Some(words))
}

async fn asked<R: Crossing>(call: &ActiveCall, function: OwnFunction, parameters: Vec<u8>) -> Result<R, WasiError> {
    let asking = call.ask_host(function as u16, parameters);
    asking.await.map_err(|error| in_words(format!("internal: {error}")))
}

/// A request that is under way in the host, as a worker has it.
struct ExchangeOfHost {
    call: Arc<ActiveCall>,
    number: u32,
}

impl ExchangeOfHost {
    fn handle(&self) -> Resource<ExchangeHandle> {
        Resource::new_borrow(self.number)
    }

    async fn ask<R: Crossing>(&self, function: OwnFunction) -> Result<R, WasiError> {
        let parameters = to_bytes(&(self.handle(),));
        asked(&self.call, function, parameters).await
    }

    /// Says whether there is somebody who reads on.
    async fn write(&self, part: BodyPart) -> Result<bool, WasiError> {
        let parameters = to_bytes(&(self.handle(), part));
        asked(&self.call, OwnFunction::WriteBody, parameters).await
    }
}

impl Drop for ExchangeOfHost {
    fn drop(&mut self) {
        let handle = Resource::<ExchangeHandle>::new_own(self.number);
        let _ = self.call.tell_host(OwnFunction::EndRequest as u16, &(handle,));
    }
}

/// Sends a body until it ends, or nobody reads on.
async fn send_body(exchange: Arc<ExchangeOfHost>, mut body: WasiBody) {
    loop {
        let mut part = part_of(body.frame().await);
        if let BodyPart::Data(data) = &mut part {
            while data.len() > PART_BYTES {
                let rest = data.split_off(PART_BYTES);
                let first = BodyPart::Data(std::mem::replace(data, rest));
                if !matches!(exchange.write(first).await, Ok(true)) {
                    return;
                }
            }
        }
        let is_end = matches!(part, BodyPart::End | BodyPart::Failed(_));
        if !matches!(exchange.write(part).await, Ok(true)) || is_end {
            return;
        }
    }
}

type ReadingPart = Pin<Box<dyn Future<Output = Result<BodyPart, WasiError>> + Send>>;

/// The body of an answer, read as the guest asks for it.
struct AnswerOfHost {
    exchange: Arc<ExchangeOfHost>,
    reading: Option<ReadingPart>,
    has_ended: bool,
    _sending: AbortOnDropJoinHandle<()>,
}

impl Body for AnswerOfHost {
    type Data = Bytes;
    type Error = WasiError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, WasiError>>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        let exchange = Arc::clone(&self.exchange);
        let reading =
            self.reading.get_or_insert_with(|| Box::pin(async move { exchange.ask(OwnFunction::ReadBody).await }));
        let read = task::ready!(reading.as_mut().poll(task));
        self.reading = None;
        let frame = match read {
            Ok(part) => frame_of(part),
            Err(error) => Some(Err(error)),
        };
        self.has_ended = !matches!(frame, Some(Ok(_)));
        Poll::Ready(frame)
    }
}
