//! The body of a request: counts it while it is sent.

use std::{
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use wharf_core::{Code, Error};

use crate::{head::named, meter::RequestMeter};

/// Why a body was not sent to its end, for the task that waits for the answer.
pub(crate) type BodyFailure = Arc<OnceLock<Error>>;

/// A body with a limit of bytes.
pub(crate) struct SentBody<B> {
    inner: B,
    sent: u64,
    most: u64,
    /// The length in its head, if any.
    announced: Option<u64>,
    meter: Arc<dyn RequestMeter>,
    broken: BodyFailure,
}

impl<B: Body<Data = Bytes>> SentBody<B> {
    pub(crate) fn new(
        inner: B,
        announced: Option<u64>,
        most: u64,
        meter: Arc<dyn RequestMeter>,
        broken: BodyFailure,
    ) -> Result<Self, Error> {
        if inner.size_hint().lower() > most {
            return Err(too_large(most));
        }
        Ok(Self { inner, sent: 0, most, announced, meter, broken })
    }

    /// Refuses bytes beyond the limit, and beyond the announced length: they would be cut
    /// off, and the server would act on half of a request.
    fn check(&self, bytes: u64) -> Result<(), Error> {
        if self.sent > self.most {
            return Err(too_large(self.most));
        }
        if let Some(announced) = self.announced.filter(|announced| self.sent > *announced) {
            let message = format!("the request has more than the {announced} bytes that its `content-length` says");
            return Err(Error::new(Code::Invalid, message));
        }
        self.meter.sent(bytes)
    }
}

fn too_large(most: u64) -> Error {
    Error::new(Code::Limit, format!("the request has more than {most} bytes ({})", named("sent_bytes")))
}

impl<B> Body for SentBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Some(frame) = ready!(Pin::new(&mut self.inner).poll_frame(task)) else { return Poll::Ready(None) };
        let checked = match frame {
            Ok(frame) => {
                let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
                self.sent = self.sent.saturating_add(bytes);
                self.check(bytes).map(|()| frame)
            }
            Err(error) => Err(Error::new(Code::Invalid, format!("the request was not sent to its end: {error}"))),
        };
        if let Err(error) = &checked {
            let _ = self.broken.set(error.clone());
        }
        Poll::Ready(Some(checked))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
