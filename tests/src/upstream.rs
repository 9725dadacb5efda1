//! A server on a port of this machine that requests of plugins go to: it remembers
//! what it was sent, byte for byte, and answers whatever a test likes.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The heads of requests, in the order in which they came.
type Asked = Mutex<Vec<String>>;

/// The server. It ends with the test.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    asked: Arc<Asked>,
}

impl Upstream {
    /// Serves on a free port. `/silence` is never answered; of everything else it
    /// does what `answer` does, which is given the head and reads the body itself.
    ///
    /// # Panics
    /// Where the system gives no port.
    #[must_use]
    pub fn start(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::listen(move |mut connection, asked| serve(&mut connection, asked, &answer))
    }

    /// The same over TLS.
    ///
    /// # Panics
    /// Where the system gives no port.
    #[must_use]
    pub fn over_tls(config: Arc<ServerConfig>, answer: impl Fn(&str, &mut dyn Write) + Send + Sync + 'static) -> Self {
        Self::listen(move |connection, asked| {
            let Ok(session) = ServerConnection::new(Arc::clone(&config)) else { return };
            let mut connection = StreamOwned::new(session, connection);
            // A client that does not trust it says no more than that.
            serve(&mut connection, asked, &|head, connection| answer(head, connection));
            connection.conn.send_close_notify();
            let _ = connection.flush();
        })
    }

    fn listen(serve: impl Fn(TcpStream, &Asked) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked: Arc<Asked> = Arc::default();
        let (remembered, serve) = (Arc::clone(&asked), Arc::new(serve));
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (asked, serve) = (Arc::clone(&remembered), Arc::clone(&serve));
                thread::spawn(move || serve(connection, &asked));
            }
        });
        Self { address, asked }
    }

    /// One that sends back the head of each request as the body of its answer.
    #[must_use]
    pub fn echo() -> Self {
        Self::start(|head, connection| Self::send(connection, "", head.as_bytes()))
    }

    /// Sends a whole answer, with further lines of its head.
    pub fn send(mut connection: impl Write, lines: &str, body: &[u8]) {
        let head = format!("HTTP/1.1 200 OK\r\n{lines}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
        // A client that has gone does not want it.
        let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(body));
    }

    /// Host and port.
    #[must_use]
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// The port alone, for names that lead to this machine.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The heads of what it was asked, in the order in which they came.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve<C: Read + Write>(connection: &mut C, asked: &Asked, answer: &dyn Fn(&str, &mut C)) {
    let Some(head) = head(connection) else { return };
    let is_silent = head.split(' ').nth(1) == Some("/silence");
    asked.lock().unwrap_or_else(PoisonError::into_inner).push(head.clone());
    if is_silent {
        // Until the client goes.
        let _ = std::io::copy(connection, &mut std::io::sink());
    } else {
        answer(&head, connection);
    }
}

fn head(connection: &mut impl Read) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        connection.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}
