//! Fetches a page from a server of a test, and finds its scripts.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

/// Longer than any server of a test takes.
const PATIENCE: Duration = Duration::from_secs(30);
const MAXIMUM_BYTES: u64 = 4 << 20;

pub(super) struct FetchedPage {
    pub(super) status: u16,
    pub(super) title: String,
    pub(super) scripts: Vec<String>,
}

pub(super) fn get(url: &str) -> io::Result<FetchedPage> {
    let rest = url.strip_prefix("http://").ok_or_else(|| io::Error::other("only http: is spoken here"))?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET /{path} HTTP/1.0\r\nHost: {host}\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(MAXIMUM_BYTES).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| io::Error::other("that is no answer of HTTP"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok(FetchedPage {
        status: status.ok_or_else(|| io::Error::other("that is no answer of HTTP"))?,
        title: between(body, "<title>", "</title>").first().copied().unwrap_or_default().to_owned(),
        scripts: between(body, "<script>", "</script>").into_iter().map(str::to_owned).collect(),
    })
}

fn between<'t>(text: &'t str, begin: &str, end: &str) -> Vec<&'t str> {
    text.split(begin).skip(1).filter_map(|rest| rest.split_once(end).map(|(inner, _)| inner)).collect()
}
