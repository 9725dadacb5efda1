//! The hostile site, whose origin is granted: it serves each way as a document, and
//! what those need.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use url::Url;

use crate::{
    canary::Canary,
    ways::{LEAVING, STAYING},
};

/// What every document begins with.
const START: &str = "<!doctype html><body><script>
const out = new URLSearchParams(location.search).get('out');
const here = path => `${path}?out=${encodeURIComponent(out)}`;
const add = (name, members) => document.body.appendChild(Object.assign(document.createElement(name), members));
const show = src => add('iframe', { src });
const worker = source => new Worker(URL.createObjectURL(new Blob([`const out = ${JSON.stringify(out)};${source}`])));
</script>";

pub(crate) struct Site {
    port: u16,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                        let mut bytes = [0; 4096];
                        match stream.read(&mut bytes).await {
                            Ok(length @ 1..) => head.extend_from_slice(&bytes[..length]),
                            _ => return,
                        }
                    }
                    let head = String::from_utf8_lossy(&head);
                    let url = Url::parse(&format!("http://localhost{}", head.split(' ').nth(1).unwrap_or("/")));
                    let (headers, body) = url.map_or_else(|_| (String::new(), String::new()), |url| serve(&url));
                    let status = if headers.contains("Location: ") { "302 Found" } else { "200 OK" };
                    let answer = format!(
                        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                        body.len()
                    );
                    let _ = stream.write_all(answer.as_bytes()).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { port }
    }

    pub(crate) fn authority(&self) -> String {
        format!("localhost:{}", self.port)
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.authority())
    }

    /// A document whose ways lead to a canary.
    pub(crate) fn url(&self, path: &str, canary: &Canary) -> String {
        let mut url = Url::parse(&format!("{}{path}", self.origin())).expect("a URL");
        url.query_pairs_mut().append_pair("out", &canary.origin());
        url.into()
    }
}

/// Headers and body of an answer.
fn serve(url: &Url) -> (String, String) {
    let out = url.query_pairs().find(|(name, _)| name == "out").map(|(_, out)| out.into_owned()).unwrap_or_default();
    let path = url.path();
    if let Some(name) = path.strip_prefix("/redirect/") {
        // By way of another one that is granted.
        return (format!("Location: /redirected/{name}?out={out}\r\n"), String::new());
    }
    if let Some(name) = path.strip_prefix("/redirected/") {
        return (format!("Location: {out}/{name}\r\n"), String::new());
    }
    if let Some(source) = path.strip_prefix("/service-worker/") {
        let source = format!("const out = {out:?}; onmessage = () => fetch(out + '/{source}', {{ mode: 'no-cors' }});");
        return ("Content-Type: text/javascript\r\nService-Worker-Allowed: /\r\n".to_owned(), source);
    }
    if let Some(name) = path.strip_prefix("/xml/") {
        let body = format!("<?xml version=\"1.0\"?><?xml-stylesheet type=\"text/xsl\" href=\"{out}/{name}\"?><a/>");
        return ("Content-Type: text/xml\r\n".to_owned(), body);
    }
    let html = "Content-Type: text/html; charset=utf-8\r\n";
    let found = path.strip_prefix("/way/").and_then(|name| STAYING.iter().find(|way| way.name == name));
    match found {
        Some(way) => {
            let headers = way.headers.replace("OUT", &out);
            (format!("{html}{headers}"), format!("{START}<script>{}</script>", way.script))
        }
        None if LEAVING.iter().any(|way| path == format!("/leave/{}", way.name)) => {
            (html.to_owned(), format!("<meta http-equiv=refresh content='0;url={out}{}'>", path.replace("/leave", "")))
        }
        None => (html.to_owned(), START.to_owned()),
    }
}
