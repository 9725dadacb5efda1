//! Sockets that systemd passes.

use std::{
    fs::File,
    io::Write as _,
    net::{TcpListener, TcpStream, UdpSocket},
    os::{
        fd::OwnedFd,
        unix::net::{UnixDatagram, UnixListener, UnixStream},
    },
    path::Path,
};

use wharf_test_support::processes::below;
use wharf_tests::{AMPLE, Command, Data, Server, Setup, blocking, replied, start, wharf};

use super::manager::{Activation, Manager, PASSING};

const HEALTH: &[u8] = b"GET /v1/health HTTP/1.0\r\nHost: localhost\r\n\r\n";

fn data(setup: &Setup) -> Data {
    let data = Data::new();
    data.write("wharf.toml", setup.text());
    data
}

fn command(data: &Path, place: &str) -> Command {
    wharf(["serve", "--http", place]).config(&data.join("wharf.toml")).data(data)
}

fn served(data: Data, activation: &Activation) -> Server {
    let command = command(data.path(), "systemd").input(activation.socket()).through(PASSING);
    Server::start_as(data, command)
}

#[test]
fn connections_that_come_while_no_host_runs_are_answered_by_the_next() {
    let activation = Activation::new();
    for round in 0..3 {
        // All three are there before their host is.
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let mut stream = activation.connect();
                stream.write_all(HEALTH).expect("the system keeps it");
                stream
            })
            .collect();
        let mut server = served(data(&Setup::bare()), &activation);
        assert_eq!(server.address, activation.address(), "round {round}");
        for stream in waiting {
            assert_eq!(replied(stream).status, 200, "round {round}");
        }
        server.terminate();
        assert_eq!(server.ended(), Some(0), "round {round}: {}", server.log());
    }
}

#[test]
fn a_socket_in_the_file_system_stays_when_its_host_ends() {
    let data = data(&Setup::bare());
    let path = data.path().join("passed.sock");
    let listener = UnixListener::bind(&path).expect("made");
    let ask = || {
        let mut stream = UnixStream::connect(&path).expect("no connection is refused");
        stream.set_read_timeout(Some(AMPLE)).expect("a timeout can be set");
        stream.write_all(HEALTH).expect("the system keeps it");
        stream
    };
    let waiting = ask();
    let manager = Manager::new();
    let command = command(data.path(), "systemd").input(listener.try_clone().expect("a copy")).through(PASSING);
    let mut child = start(manager.of(command));
    assert_eq!(replied(waiting).status, 200);
    let ready = manager.until("READY=1");
    let place = format!("STATUS=Serves at unix:{}: ", path.display());
    assert!(ready.iter().flatten().any(|line| line.starts_with(&place)), "{ready:?}");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("asked");
    let code = blocking::until("it ends", || child.try_wait().expect("a child"));
    assert_eq!(code.code(), Some(0));
    drop(ask());
}

#[test]
fn nothing_that_a_host_starts_has_what_systemd_passes() {
    let (activation, manager) = (Activation::new(), Manager::new());
    let data = data(&Setup::bare().own_terminals("shell = true"));
    let command = command(data.path(), "systemd").input(activation.socket()).through(PASSING);
    let server = Server::start_as(data, manager.of(command));
    let shell = server.shell("s");
    assert!(shell["terminal"].is_string(), "{shell}");

    let has_socket = |pid: u32| {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.filter_map(|entry| std::fs::read_link(entry.path()).ok()).any(|name| name == activation.name())
    };
    let variables = |pid: u32| {
        let said = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"]
            .into_iter()
            .filter(|name| said.contains(name))
            .count()
    };
    assert!(has_socket(server.id()), "the host has it");
    assert_eq!(variables(server.id()), 4);
    let children = below(server.id());
    assert!(children.len() >= 2, "a supervisor and a shell: {children:?}");
    for pid in children {
        assert!(!has_socket(pid) && variables(pid) == 0, "process {pid} has what its host was passed");
    }
}

/// What is passed, by which words, and what the host says of it.
struct Refused {
    place: &'static str,
    passed: OwnedFd,
    script: &'static str,
    says: &'static [&'static str],
}

#[test]
fn what_cannot_be_served_is_refused_with_what_to_do() {
    let data = data(&Setup::bare());
    let listener = || OwnedFd::from(TcpListener::bind("127.0.0.1:0").expect("a port"));
    let file = || OwnedFd::from(File::open("/dev/null").expect("it is there"));
    let peer = TcpListener::bind("127.0.0.1:0").expect("a port");
    let connection = TcpStream::connect(peer.local_addr().expect("an address")).expect("connected");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let public = TcpListener::bind("0.0.0.0:0").expect("a port");
    let refused = |place, passed, script, says| Refused { place, passed, script, says };
    let two = "export LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=one:other; exec \"$@\" 3<&0 4<&0 0</dev/null";
    let cases = [
        refused("systemd", file(), "exec \"$@\"", &["passes no socket", "wharf.socket"]),
        refused("systemd", listener(), "export LISTEN_PID=1 LISTEN_FDS=1; exec \"$@\" 3<&0", &["passes no socket"]),
        refused("systemd", listener(), two, &["2 sockets (one, other)", "leave one ListenStream="]),
        refused("systemd", file(), PASSING, &["`wharf.socket`", "it is no socket"]),
        refused("systemd", udp.into(), PASSING, &["`wharf.socket`", "ListenStream="]),
        refused("systemd", UnixDatagram::unbound().expect("made").into(), PASSING, &["ListenStream="]),
        refused("systemd", connection.into(), PASSING, &["it does not listen", "Accept=yes"]),
        refused("systemd", public.into(), PASSING, &["can be reached from other machines", "[http.tls]"]),
        refused("127.0.0.1:0", listener(), PASSING, &["wharf.socket", "say --http systemd"]),
        refused("systemd", file(), "export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$@\"", &["LISTEN_FDS"]),
        refused("systemd", file(), "export LISTEN_PID=$$ LISTEN_FDS=many; exec \"$@\"", &["invalid LISTEN_FDS"]),
    ];
    for Refused { place, passed, script, says } in cases {
        let ended = command(data.path(), place).input(passed).through(script).run();
        assert_eq!(ended.code, Some(3), "{script}: {}", ended.err);
        for words in says {
            assert!(ended.err.contains(words), "{script}: {words:?} is not in {}", ended.err);
        }
    }
}
