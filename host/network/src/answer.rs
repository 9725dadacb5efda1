//! The body of an answer: counts and times it, and takes secrets out.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame};
use hyper::{body::Incoming, header::HeaderMap};
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::task::AbortOnDropHandle;
use wharf_core::{Code, Error};

use crate::{
    body::BodyFailure,
    head::named,
    mask::{MaskedStream, SecretMask},
    meter::RequestMeter,
    permits::InFlightPermit,
};

/// The limits of an answer, its meter, and the resources that it holds.
pub(crate) struct AnswerTerms {
    pub(crate) answer_bytes: u64,
    pub(crate) pause: Duration,
    pub(crate) deadline: Instant,
    pub(crate) mask: SecretMask,
    pub(crate) meter: Arc<dyn RequestMeter>,
    pub(crate) broken: BodyFailure,
    /// Released once the answer has come.
    pub(crate) held: Option<(InFlightPermit, AbortOnDropHandle<()>)>,
}

/// The body of an answer. Dropping it ends the connection and gives the request's
/// permit back.
pub struct AnswerBody {
    incoming: Option<Incoming>,
    received: u64,
    terms: AnswerTerms,
    masked: Option<MaskedStream>,
    /// The trailers, which follow the rest of the data.
    trailers: Option<HeaderMap>,
    end: Pin<Box<Sleep>>,
    silence: Pin<Box<Sleep>>,
    waits: bool,
}

impl fmt::Debug for AnswerBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AnswerBody").field("received", &self.received).finish_non_exhaustive()
    }
}

impl AnswerBody {
    pub(crate) fn new(incoming: Incoming, terms: AnswerTerms) -> Self {
        let masked = (!terms.mask.is_empty()).then(|| MaskedStream::new(terms.mask.clone()));
        let (end, silence) = (Box::pin(sleep_until(terms.deadline)), Box::pin(sleep_until(terms.deadline)));
        Self { incoming: Some(incoming), received: 0, masked, trailers: None, end, silence, waits: false, terms }
    }

    /// After the end of the stream: the bytes that were held back, then the trailers.
    fn rest(&mut self) -> Option<Frame<Bytes>> {
        let held = self.masked.as_mut().map(MaskedStream::finish).unwrap_or_default();
        if !held.is_empty() {
            return Some(Frame::data(held.into()));
        }
        self.trailers.take().map(Frame::trailers)
    }

    fn data(&mut self, data: Bytes) -> Result<Bytes, Error> {
        let bytes = data.len() as u64;
        self.received = self.received.saturating_add(bytes);
        let most = self.terms.answer_bytes;
        if self.received > most {
            let message = format!("the answer has more than {most} bytes ({})", named("answer_bytes"));
            return Err(Error::new(Code::Limit, message));
        }
        self.terms.meter.received(bytes)?;
        Ok(match &mut self.masked {
            Some(masked) => masked.push(&data).into(),
            None => data,
        })
    }

    /// The next frame, where it has come.
    fn next(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            let Some(incoming) = &mut self.incoming else { return Poll::Ready(self.rest().map(Ok)) };
            match Pin::new(incoming).poll_frame(task) {
                Poll::Pending => return self.wait(task).map(Some),
                Poll::Ready(None) => {
                    self.incoming = None;
                    drop(self.terms.held.take());
                    self.terms.meter.finished();
                }
                Poll::Ready(Some(Err(error))) => {
                    let broken = self.terms.broken.get().cloned();
                    return Poll::Ready(Some(Err(broken.unwrap_or_else(|| broke_off(&error)))));
                }
                Poll::Ready(Some(Ok(frame))) => {
                    self.waits = false;
                    match frame.into_data() {
                        Ok(data) => match self.data(data) {
                            // The whole frame may be the beginning of a secret.
                            Ok(data) if data.is_empty() => {}
                            data => return Poll::Ready(Some(data.map(Frame::data))),
                        },
                        Err(frame) => {
                            let mut trailers = frame.into_trailers().unwrap_or_default();
                            self.terms.mask.headers(&mut trailers);
                            self.trailers = Some(trailers);
                        }
                    }
                }
            }
        }
    }

    fn wait<T>(&mut self, task: &mut Context<'_>) -> Poll<Result<T, Error>> {
        if !self.waits {
            self.waits = true;
            self.silence.as_mut().reset(Instant::now() + self.terms.pause);
        }
        if self.end.as_mut().poll(task).is_ready() {
            let message = format!("the answer did not end in time ({})", named("total_milliseconds"));
            return Poll::Ready(Err(Error::retryable(Code::Timeout, message)));
        }
        if self.silence.as_mut().poll(task).is_ready() {
            let message = format!("the answer paused for too long ({})", named("between_bytes_milliseconds"));
            return Poll::Ready(Err(Error::retryable(Code::Timeout, message)));
        }
        Poll::Pending
    }
}

fn broke_off(error: &hyper::Error) -> Error {
    Error::retryable(Code::Unavailable, format!("the answer broke off: {error}"))
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let next = self.next(task);
        if let Poll::Ready(Some(Err(error))) = &next {
            self.terms.meter.failed(error);
            // No data follows an error, and least of all the bytes that were held back.
            self.incoming = None;
            drop(self.terms.held.take());
            self.masked = None;
            self.trailers = None;
        }
        next
    }
}
