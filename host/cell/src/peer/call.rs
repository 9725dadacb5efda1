//! A call that is made on another host.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use wharf_core::{
    Error,
    service::{Events, HomeAnswer, Level},
};

use super::{Sender, incarnation_of, post};
use crate::{
    passed::unmarked,
    roster::Peer,
    wire::{CALL, Frame, HTTP, Misdirected, malformed},
};

/// Bytes of a refusal.
const LARGEST_REFUSAL: usize = 4 << 10;

/// What became of a call that was passed on.
pub(crate) enum PassedOn {
    /// It ended so.
    Ended(Result<HomeAnswer, Error>),
    /// The other host did not take it up: nothing of it has run.
    Misdirected(Misdirected),
    /// The connection broke. Whether the call ran is not known.
    Broken,
}

/// Sends a call and follows it to its end. Dropping the future ends it on the other host, too.
pub(crate) async fn pass_on(
    mut sender: Sender,
    peer: &Peer,
    body: Bytes,
    events: &Events,
    message_bytes: usize,
) -> PassedOn {
    let Some(request) = post(peer, CALL, body) else { return PassedOn::Broken };
    let Ok(response) = sender.send_request(request).await else { return PassedOn::Broken };
    match response.status() {
        StatusCode::OK => follow(response.into_body(), events, message_bytes).await,
        StatusCode::MISDIRECTED_REQUEST => {
            let is_other_life = incarnation_of(response.headers()).is_some_and(|found| found != peer.incarnation);
            let body = Limited::new(response.into_body(), LARGEST_REFUSAL).collect().await;
            let said = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
            PassedOn::Misdirected(if is_other_life {
                Misdirected::OtherLife
            } else {
                said.unwrap_or(Misdirected::NotHome)
            })
        }
        _ => PassedOn::Ended(Err(malformed())),
    }
}

/// What became of a request that was passed on.
pub(crate) enum PassedRequest {
    /// It was answered; the body comes as it is sent.
    Answered(Response<Incoming>),
    /// The other host did not take it up: nothing of it has run.
    Refused(StatusCode),
    /// The connection broke before there was an answer.
    Broken,
}

/// Sends a request on. Dropping the future or the answer's body ends it on the other host, too.
pub(crate) async fn pass_request(mut sender: Sender, peer: &Peer, body: Bytes) -> PassedRequest {
    let Some(request) = post(peer, HTTP, body) else { return PassedRequest::Broken };
    match sender.send_request(request).await {
        Ok(response) => unmarked(response).map_or_else(PassedRequest::Refused, PassedRequest::Answered),
        Err(_) => PassedRequest::Broken,
    }
}

/// Reads the lines of an answer. The last one is the outcome.
async fn follow(mut body: Incoming, events: &Events, message_bytes: usize) -> PassedOn {
    let mut unread = BytesMut::new();
    // Where the search for the end of the line goes on.
    let mut searched = 0;
    loop {
        if let Some(end) = unread[searched..].iter().position(|byte| *byte == b'\n') {
            let line = unread.split_to(searched + end + 1);
            searched = 0;
            if let Some(outcome) = take(&line, events) {
                return PassedOn::Ended(outcome);
            }
            continue;
        }
        searched = unread.len();
        if searched > message_bytes {
            return PassedOn::Ended(Err(malformed()));
        }
        match body.frame().await {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    unread.extend_from_slice(&data);
                }
            }
            Some(Err(_)) | None => return PassedOn::Broken,
        }
    }
}

/// Tells the caller what a line says; the outcome where it is that.
fn take(line: &[u8], events: &Events) -> Option<Result<HomeAnswer, Error>> {
    let Ok(frame) = serde_json::from_slice::<Frame<'_>>(line) else { return Some(Err(malformed())) };
    match (frame, events) {
        (Frame::Answer(answer), _) => return Some(answer.into_answer()),
        (Frame::Error(error), _) => return Some(Err(error.into_error())),
        (Frame::Progress { done, total, message }, Some(events)) => {
            events.progress(done, total, message.as_ref().map(Cow::as_ref));
        }
        (Frame::Waits(message), Some(events)) => events.waits(&message),
        (Frame::Message { level, data }, Some(events)) => events.message(Level::from_word(&level), data),
        (_, None) => {}
    }
    None
}
