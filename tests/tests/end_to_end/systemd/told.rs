//! What systemd is told.

use std::net::TcpStream;

use wharf_tests::{Data, Server, Setup, wharf};

use super::manager::Manager;

fn data() -> Data {
    let data = Data::new();
    data.write("wharf.toml", Setup::bare().text());
    data
}

#[test]
fn systemd_hears_that_a_host_listens_that_it_answers_and_that_it_ends() {
    let (manager, data) = (Manager::new(), data());
    let asked = "export WATCHDOG_PID=$$ WATCHDOG_USEC=200000; exec \"$@\"";
    let command = manager.of(Server::command(&data, &[])).through(asked);
    let mut server = Server::start_as(data, command);

    let before = manager.until("READY=1");
    assert_eq!(before[0], ["STATUS=Opens its state and its plugins"], "{before:?}");
    let ready = before.last().expect("the one");
    let place = format!("STATUS=Serves at http://{}: ", server.address);
    assert!(ready.iter().any(|line| line.starts_with(&place)), "{ready:?}");
    assert!(!before.iter().flatten().any(|line| line == "WATCHDOG=1"), "{before:?}");
    drop(TcpStream::connect(server.address).expect("it listens by then"));

    manager.until("WATCHDOG=1");
    let between = manager.until("WATCHDOG=1");
    assert!(!between.iter().flatten().any(|line| line == "READY=1" || line == "STOPPING=1"), "{between:?}");
    server.terminate();
    let end = manager.until("STOPPING=1");
    let last = end.last().expect("the one");
    assert!(last.contains(&"STATUS=Ends when its requests are answered".to_owned()), "{last:?}");
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn a_unit_without_a_watchdog_gets_no_signs_of_life() {
    let (manager, data) = (Manager::new(), data());
    let another = "export WATCHDOG_PID=1 WATCHDOG_USEC=20000; exec \"$@\"";
    let command = manager.of(Server::command(&data, &[])).through(another);
    let mut server = Server::start_as(data, command);
    manager.until("READY=1");
    server.terminate();
    let all = manager.until("STOPPING=1");
    assert!(!all.iter().flatten().any(|line| line.starts_with("WATCHDOG")), "{all:?}");
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn a_host_serves_where_systemd_cannot_be_told_and_says_so() {
    let data = data();
    let command = Server::command(&data, &[]).env("NOTIFY_SOCKET", "/nonexistent/notify");
    let server = Server::start_as(data, command);
    server.until_logged("systemd cannot be told");
    assert_eq!(server.log().matches("systemd cannot be told").count(), 1, "{}", server.log());
}

#[test]
fn a_host_over_standard_streams_tells_systemd_nothing() {
    let (manager, data) = (Manager::new(), data());
    let command = wharf(["serve", "--stdio"]).config(&data.path().join("wharf.toml")).data(data.path());
    let ended = manager.of(command).run();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    // The next that is told comes from this test.
    let own = std::os::unix::net::UnixDatagram::unbound().expect("made");
    own.send_to(b"mine", manager.socket()).expect("sent");
    assert_eq!(manager.message(), ["mine"]);
}
