//! Ways over TCP that a test disturbs: a link stands before a server, and what connects to the link
//! reaches the server as long as the test lets it.

use std::{io, net::SocketAddr, path::PathBuf, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UnixStream},
    runtime::{Builder, Runtime},
    sync::watch,
};
use wharf_test_support::let_time_pass;

/// Bytes that are carried at once.
const PIECE_BYTES: usize = 64 << 10;

/// What becomes of what is sent over a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// It arrives.
    Open,
    /// It arrives so much later, in each direction.
    Slow(Duration),
    /// Connections are taken and bytes are, and nothing arrives. Once the way is open again, the
    /// bytes arrive late, as those that a network sends again.
    Silent,
    /// What clients send arrives, and what the server answers does not.
    OneWay,
    /// Connections end with a reset: those that live, and each one that comes.
    Reset,
    /// Nobody listens, and connections that live end with a reset.
    Refused,
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A port.
    Tcp(SocketAddr),
    /// A socket of the file system.
    Socket(PathBuf),
}

/// A link. It ends with the test, and so do the connections over it.
#[derive(Debug)]
pub struct Link {
    address: SocketAddr,
    state: watch::Sender<LinkState>,
    /// Whether somebody listens.
    listens: watch::Receiver<bool>,
    runtime: Option<Runtime>,
}

#[derive(Debug, Clone)]
struct LinkState {
    passage: Passage,
    destination: Destination,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToServer,
    ToClient,
}

impl Passage {
    fn breaks(self) -> bool {
        matches!(self, Self::Reset | Self::Refused)
    }

    fn lets_pass(self, direction: Direction) -> bool {
        match self {
            Self::Open | Self::Slow(_) => true,
            Self::OneWay => direction == Direction::ToServer,
            Self::Silent | Self::Reset | Self::Refused => false,
        }
    }
}

impl Link {
    /// An open one, at a port of this machine that is free.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn to(destination: Destination) -> Self {
        Self::at("127.0.0.1:0".parse().expect("an address"), destination)
    }

    /// An open one at this address.
    ///
    /// # Panics
    /// Where somebody else listens there.
    #[must_use]
    pub fn at(address: SocketAddr, destination: Destination) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind(address)).expect("a free address");
        let address = listener.local_addr().expect("an address");
        let (state, seen) = watch::channel(LinkState { passage: Passage::Open, destination });
        let (listening, listens) = watch::channel(true);
        runtime.spawn(listen(listener, seen, listening));
        Self { address, state, listens, runtime: Some(runtime) }
    }

    /// Where clients find it.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on, this becomes of what is sent; also over connections that live.
    ///
    /// # Panics
    /// Where its address has been taken meanwhile.
    pub fn set(&self, passage: Passage) {
        self.state.send_modify(|state| state.passage = passage);
        let mut listens = self.listens.clone();
        let wanted = passage != Passage::Refused;
        let reached = async { listens.wait_for(|listens| *listens == wanted).await.is_ok() };
        assert!(self.runtime.as_ref().expect("it runs").block_on(reached), "nobody listens at {} again", self.address);
    }

    /// Connections from now on lead there.
    pub fn lead_to(&self, destination: Destination) {
        self.state.send_modify(|state| state.destination = destination);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Its tasks wait for others.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn listen(listener: TcpListener, mut state: watch::Receiver<LinkState>, listening: watch::Sender<bool>) {
    let address = listener.local_addr().expect("an address");
    let mut listener = Some(listener);
    loop {
        let is_refused = state.borrow_and_update().passage == Passage::Refused;
        match (&listener, is_refused) {
            (Some(_), true) => listener = None,
            (None, false) => listener = Some(TcpListener::bind(address).await.expect("the address is still free")),
            (Some(_), false) | (None, true) => {}
        }
        listening.send_replace(listener.is_some());
        let changed = match &listener {
            None => state.changed().await,
            Some(listener) => tokio::select! {
                changed = state.changed() => changed,
                accepted = listener.accept() => {
                    if let Ok((client, _)) = accepted {
                        tokio::spawn(carry(client, state.clone()));
                    }
                    Ok(())
                }
            },
        };
        if changed.is_err() {
            return;
        }
    }
}

/// Carries what goes over one connection, until it ends or is broken.
async fn carry(mut client: TcpStream, state: watch::Receiver<LinkState>) {
    let _ = client.set_nodelay(true);
    let destination = state.borrow().destination.clone();
    let carried = match destination {
        Destination::Tcp(address) => match TcpStream::connect(address).await {
            Err(error) => Err(error),
            Ok(mut server) => {
                let _ = server.set_nodelay(true);
                let carried = exchange(client.split(), server.split(), state).await;
                if carried.is_err() {
                    let _ = server.set_zero_linger();
                }
                carried
            }
        },
        Destination::Socket(path) => match UnixStream::connect(path).await {
            Err(error) => Err(error),
            Ok(mut server) => exchange(client.split(), server.split(), state).await,
        },
    };
    if carried.is_err() {
        // It ends with a reset then.
        let _ = client.set_zero_linger();
    }
}

/// Carries both ways; an error where the test breaks the connection.
async fn exchange(
    (from_client, to_client): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    (from_server, to_server): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    state: watch::Receiver<LinkState>,
) -> io::Result<()> {
    let mut broken = state.clone();
    tokio::select! {
        biased;
        _ = broken.wait_for(|state| state.passage.breaks()) => Err(io::ErrorKind::ConnectionReset.into()),
        _ = async {
            tokio::join!(
                pass(from_client, to_server, Direction::ToServer, state.clone()),
                pass(from_server, to_client, Direction::ToClient, state.clone()),
            )
        } => Ok(()),
    }
}

/// Carries one way, to the end of what is sent.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    direction: Direction,
    mut state: watch::Receiver<LinkState>,
) {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = from.read(&mut piece).await.unwrap_or(0);
        let passage = state.borrow().passage;
        if let Passage::Slow(time) = passage {
            let_time_pass(time, "the way is long").await;
        }
        if state.wait_for(|state| state.passage.lets_pass(direction)).await.is_err() {
            return;
        }
        // The end goes on, too, and not before what was sent before it.
        if read == 0 {
            let _ = to.shutdown().await;
            return;
        }
        if to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{ErrorKind, Read as _, Write as _},
        net::{TcpListener, TcpStream},
        thread,
        time::Instant,
    };

    use super::*;
    use crate::AMPLE;

    /// Long enough for what passes, on this machine, to have passed.
    const WHILE: Duration = Duration::from_millis(200);

    /// A server that sends everything back, behind a link.
    fn echo() -> Link {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = server.local_addr().expect("an address");
        thread::spawn(move || {
            for mut client in server.incoming().flatten() {
                thread::spawn(move || std::io::copy(&mut client.try_clone()?, &mut client));
            }
        });
        Link::to(Destination::Tcp(address))
    }

    fn client(link: &Link) -> TcpStream {
        let client = TcpStream::connect(link.address()).expect("somebody listens");
        client.set_read_timeout(Some(AMPLE)).expect("a limit");
        client
    }

    #[track_caller]
    fn answers(client: &mut TcpStream, byte: u8) {
        client.write_all(&[byte]).expect("taken");
        arrives(client, byte);
    }

    #[track_caller]
    fn arrives(client: &mut TcpStream, byte: u8) {
        let mut answer = [0];
        client.read_exact(&mut answer).expect("an answer");
        assert_eq!(answer, [byte]);
    }

    #[test]
    fn what_is_held_arrives_once_the_way_is_open_again() {
        for passage in [Passage::Silent, Passage::OneWay] {
            let link = echo();
            let mut client = client(&link);
            answers(&mut client, 1);
            link.set(passage);
            client.write_all(&[2]).expect("taken");
            client.set_read_timeout(Some(WHILE)).expect("a limit");
            let error = client.read(&mut [0]).expect_err("nothing passes");
            assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{passage:?}: {error}");
            client.set_read_timeout(Some(AMPLE)).expect("a limit");
            link.set(Passage::Open);
            arrives(&mut client, 2);
        }
    }

    #[test]
    fn connections_are_reset_or_refused_and_come_again() {
        let link = echo();
        for passage in [Passage::Reset, Passage::Refused] {
            let mut live = client(&link);
            answers(&mut live, 1);
            link.set(passage);
            assert_eq!(live.read(&mut [0]).expect_err("it is broken").kind(), ErrorKind::ConnectionReset);
            let another = TcpStream::connect(link.address());
            let failed = another.and_then(|mut another| another.read(&mut [0])).expect_err("it is broken, too");
            let kind =
                if passage == Passage::Reset { ErrorKind::ConnectionReset } else { ErrorKind::ConnectionRefused };
            assert_eq!(failed.kind(), kind);
            link.set(Passage::Open);
            answers(&mut client(&link), 2);
        }
    }

    #[test]
    fn what_goes_over_a_slow_way_is_late_in_both_directions() {
        let link = echo();
        let mut client = client(&link);
        link.set(Passage::Slow(WHILE));
        let began = Instant::now();
        answers(&mut client, 1);
        assert!(began.elapsed() >= WHILE * 2, "{:?}", began.elapsed());
    }

    #[test]
    fn a_link_leads_elsewhere_from_the_next_connection_on() {
        let (link, nobody) = (echo(), TcpListener::bind("127.0.0.1:0").expect("a port"));
        let gone = nobody.local_addr().expect("an address");
        drop(nobody);
        let mut first = client(&link);
        answers(&mut first, 1);
        link.lead_to(Destination::Tcp(gone));
        assert!(client(&link).read(&mut [0]).is_err(), "nobody is there");
        answers(&mut first, 2);
    }
}
