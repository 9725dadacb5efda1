//! Answers that stand in for those of servers, as the cases of a plugin want them.
//!
//! A stand-in replaces the connection and nothing else: the request was granted, its head and
//! its body are made, counted and sent as to any server, and the answer is read, limited and
//! masked as any other. No name is resolved, no address is asked for, and nothing is encrypted.

use std::{fmt, sync::Arc};

use hyper::{Method, Request, StatusCode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, copy, duplex, sink, split};
use wharf_core::{Error, Origin};

/// Says how requests are answered without their servers.
pub trait ServerStandIns: Send + Sync + 'static {
    /// The answer to a granted request, with its address and query; none where its server is
    /// to answer. Must not block.
    ///
    /// # Errors
    /// Why the request may not be sent at all. The plugin gets the error's words.
    fn answer(&self, method: &str, url: &str) -> Result<Option<StandInAnswer>, Error>;
}

/// An answer that no server gave. It is written as it is: names and values of headers have no
/// line breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandInAnswer {
    /// The status, 200 to 599.
    pub status: u16,
    /// Names and values of its headers, but for `content-length`.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

/// The stand-ins of a client; most have none.
#[derive(Clone, Default)]
pub(crate) struct ChosenStandIns(Option<Arc<dyn ServerStandIns>>);

impl fmt::Debug for ChosenStandIns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ChosenStandIns").field(&self.0.is_some()).finish()
    }
}

impl ChosenStandIns {
    pub(crate) fn new(stand_ins: Arc<dyn ServerStandIns>) -> Self {
        Self(Some(stand_ins))
    }

    /// The connection to what stands in for a server.
    pub(crate) fn connect<B>(&self, origin: &Origin, request: &Request<B>) -> Result<Option<DuplexStream>, Error> {
        let Some(stand_ins) = &self.0 else { return Ok(None) };
        let (method, url) = (request.method(), format!("{origin}{}", request.uri()));
        Ok(stand_ins.answer(method.as_str(), &url)?.map(|answer| serve(&answer, method)))
    }
}

/// Bytes that wait in a connection, each way.
const BUFFER_BYTES: usize = 64 << 10;

/// A server of one answer, for as long as the other end of its connection is open.
fn serve(answer: &StandInAnswer, method: &Method) -> DuplexStream {
    let written = written(answer, method);
    let (client, mut server) = duplex(BUFFER_BYTES);
    tokio::spawn(async move {
        // An answer that comes before its request is none.
        if server.read_u8().await.is_err() {
            return;
        }
        let (mut requests, mut answers) = split(server);
        let answer = async {
            // A client that has gone wants no answer.
            let _ = answers.write_all(&written).await;
        };
        tokio::join!(answer, async { copy(&mut requests, &mut sink()).await.ok() });
    });
    client
}

fn written(StandInAnswer { status, headers, body }: &StandInAnswer, method: &Method) -> Vec<u8> {
    let mut written = format!("HTTP/1.1 {status} \r\n");
    for (name, value) in headers {
        written.push_str(&format!("{name}: {value}\r\n"));
    }
    let is_empty = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].iter().any(|empty| empty.as_u16() == *status);
    let has_body = method != Method::HEAD && !is_empty;
    if has_body {
        written.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    written.push_str("\r\n");
    let mut written = written.into_bytes();
    if has_body {
        written.extend_from_slice(body);
    }
    written
}
