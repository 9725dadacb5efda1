//! A site on a port of this machine, for pages to visit, that remembers what it was
//! asked for.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

/// The page at `/`.
const FRONT: &str = "<!doctype html><html lang=en><title>Harbour</title><h1>Harbour</h1>\
                     <p><a href=/second>second</a> <button id=count onclick='this.textContent = ++clicks'>0</button>\
                     <p><input id=name> <input id=file type=file>\
                     <iframe src=/second name=inner></iframe>\
                     <script>var clicks = 0; console.log('said', 42);</script>";
const SECOND: &str = "<!doctype html><title>Second</title><p>The second page";

/// The site. It ends with the test.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    waiting: Arc<AtomicUsize>,
}

impl Site {
    /// Serves on a free port:
    ///
    /// - `/`: a page with a link, a button, two fields, a frame and a script;
    /// - `/second`: another one;
    /// - `/download?N`: a file of N bytes called `cargo.bin`;
    /// - `/elsewhere?URL`: a redirect;
    /// - `/silence`: nothing, for as long as the client waits.
    ///
    /// # Panics
    /// Where the system gives no port.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (asked, waiting) = (Arc::new(Mutex::default()), Arc::new(AtomicUsize::new(0)));
        let (remembered, counted) = (Arc::clone(&asked), Arc::clone(&waiting));
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (asked, waiting) = (Arc::clone(&remembered), Arc::clone(&counted));
                thread::spawn(move || answer(&connection, &asked, &waiting));
            }
        });
        Self { address, asked, waiting }
    }

    /// Its origin.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// An address of it.
    #[must_use]
    pub fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Whether anybody asked for this path.
    #[must_use]
    pub fn was_asked(&self, path: &str) -> bool {
        paths(&self.asked).iter().any(|asked| asked == path)
    }

    /// How many clients wait for `/silence` now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(SeqCst)
    }
}

fn paths(asked: &Mutex<Vec<String>>) -> MutexGuard<'_, Vec<String>> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(mut connection: &TcpStream, asked: &Mutex<Vec<String>>, waiting: &AtomicUsize) {
    let mut lines = BufReader::new(connection).lines().map_while(Result::ok);
    let Some(request) = lines.next() else { return };
    for line in lines.by_ref() {
        if line.is_empty() {
            break;
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    paths(asked).push(path.clone());
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    let html = "content-type: text/html; charset=utf-8";
    let (status, header, body) = match path {
        "/" => ("200 OK", html.to_owned(), FRONT.as_bytes().to_vec()),
        "/second" => ("200 OK", html.to_owned(), SECOND.as_bytes().to_vec()),
        "/download" => (
            "200 OK",
            "content-type: application/octet-stream\r\ncontent-disposition: attachment; filename=cargo.bin".to_owned(),
            vec![b'x'; query.parse().unwrap_or_default()],
        ),
        "/elsewhere" => ("302 Found", format!("location: {query}"), Vec::new()),
        "/silence" => {
            waiting.fetch_add(1, SeqCst);
            // Until the client goes.
            lines.for_each(drop);
            waiting.fetch_sub(1, SeqCst);
            return;
        }
        _ => ("404 Not Found", html.to_owned(), b"nothing here".to_vec()),
    };
    let head = format!("HTTP/1.1 {status}\r\n{header}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // A client that has gone does not want it.
    let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(&body));
}
