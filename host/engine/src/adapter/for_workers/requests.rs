//! Requests of guests in workers: the host checks and sends them.
//!
//! What moves data goes on beside the call: a guest may send a body while it waits for an answer.

use std::{pin::Pin, sync::Arc, task, task::Poll};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{
    Request, Response,
    body::{Body, Frame},
};
use tokio::sync::{Mutex, mpsc};
use wasmtime::{StoreContextMut, component::Resource};
use wasmtime_wasi::runtime::AbortOnDropJoinHandle;
use wasmtime_wasi_http::{Error as WasiError, RequestOptions, WasiBody, WasiHttpView as _};

use crate::{
    forwarded::{BodyPart, Fields, RequestHead, fields, frame_of, headers, part_of, told},
    guest::Guest,
    watch::linked::LinkedFunctions,
};

/// A request that is under way in the host.
struct Exchange {
    /// The parts of its body; nothing once they have ended.
    body: Arc<Mutex<Option<mpsc::Sender<BodyPart>>>>,
    answer: Arc<Mutex<ExchangeAnswer>>,
}

enum ExchangeAnswer {
    Awaited(AbortOnDropJoinHandle<Result<Response<WasiBody>, WasiError>>),
    Body(WasiBody),
    Over,
}

pub(super) fn keep(functions: &mut LinkedFunctions<Guest>) {
    functions.keep_at_once(&Arc::new(|mut store: StoreContextMut<'_, Guest>, (head,): (RequestHead,)| {
        begin(store.data_mut(), head)
    }));
    functions.keep_beside(|guest, (exchange, part): (Resource<Exchange>, BodyPart)| {
        let body = Arc::clone(&guest.table.get(&exchange)?.body);
        Ok(async move {
            let mut body = body.lock().await;
            let is_end = matches!(part, BodyPart::End | BodyPart::Failed(_));
            // A server that has answered need not read the rest.
            let taken = match body.as_ref() {
                Some(body) if !matches!(part, BodyPart::End) => body.send(part).await.is_ok(),
                _ => true,
            };
            if is_end || !taken {
                *body = None;
            }
            taken
        })
    });
    functions.keep_beside(|guest, (exchange,): (Resource<Exchange>,)| {
        let answer = Arc::clone(&guest.table.get(&exchange)?.answer);
        Ok(async move { head(&mut *answer.lock().await).await })
    });
    functions.keep_beside(|guest, (exchange,): (Resource<Exchange>,)| {
        let answer = Arc::clone(&guest.table.get(&exchange)?.answer);
        Ok(async move { next(&mut *answer.lock().await).await })
    });
    functions.keep_at_once(&Arc::new(|mut store: StoreContextMut<'_, Guest>, (exchange,): (Resource<Exchange>,)| {
        store.data_mut().table.delete(exchange)?;
        Ok(())
    }));
}

/// Checks a request and begins to send it. The guest gets a refusal as an error of WASI.
fn begin(guest: &mut Guest, head: RequestHead) -> wasmtime::Result<Result<Resource<Exchange>, String>> {
    let RequestHead { method, uri, fields, connect, first_byte, between_bytes } = head;
    let (sender, parts) = mpsc::channel(1);
    let body = BodyOfWorker { parts }.boxed_unsync();
    let mut request = match Request::builder().method(method.as_str()).uri(uri).body(body) {
        Ok(request) => request,
        Err(error) => return Ok(Err(error.to_string())),
    };
    *request.headers_mut() = match headers(fields) {
        Some(headers) => headers,
        None => return Ok(Err("a header is malformed".to_owned())),
    };
    let options = RequestOptions {
        connect_timeout: connect,
        first_byte_timeout: first_byte,
        between_bytes_timeout: between_bytes,
    };
    let sending = guest.http().hooks.send_request(request, Some(options), Box::new(async { Ok(()) }));
    let sending = wasmtime_wasi::runtime::spawn(async move { Ok(Box::into_pin(sending).await?.0) });
    let exchange = Exchange {
        body: Arc::new(Mutex::new(Some(sender))),
        answer: Arc::new(Mutex::new(ExchangeAnswer::Awaited(sending))),
    };
    Ok(Ok(guest.table.push(exchange)?))
}

/// Status and headers of the answer.
async fn head(answer: &mut ExchangeAnswer) -> Result<(u16, Fields), String> {
    let ExchangeAnswer::Awaited(sending) = answer else { return Err("the answer was there before".to_owned()) };
    let (parts, body) = match sending.await {
        Ok(response) => response.into_parts(),
        Err(error) => {
            *answer = ExchangeAnswer::Over;
            return Err(told(error));
        }
    };
    *answer = ExchangeAnswer::Body(body);
    Ok((parts.status.as_u16(), fields(&parts.headers)))
}

async fn next(answer: &mut ExchangeAnswer) -> BodyPart {
    let ExchangeAnswer::Body(body) = answer else { return BodyPart::End };
    let part = part_of(body.frame().await);
    if matches!(part, BodyPart::End | BodyPart::Failed(_)) {
        *answer = ExchangeAnswer::Over;
    }
    part
}

/// The body of a request, as a worker sends it.
struct BodyOfWorker {
    parts: mpsc::Receiver<BodyPart>,
}

impl Body for BodyOfWorker {
    type Data = Bytes;
    type Error = WasiError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, WasiError>>> {
        self.parts.poll_recv(task).map(|part| part.and_then(frame_of))
    }
}
