use std::{
    io::{BufRead as _, BufReader, Read as _},
    net::{TcpListener, TcpStream, UdpSocket},
};

use super::*;

const LINE: &str = r#"{"time":"2026-09-21T14:13:20.123Z","kind":"denied","tool":"#;

fn settings(address: &str) -> SyslogSettings {
    SyslogSettings {
        address: address.parse().expect("an address"),
        facility: 13,
        host: "test".to_owned(),
        authority: None,
    }
}

fn lines(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!("{LINE}\"{number}\"}}\n")).collect()
}

/// The next message of a stream.
fn read(stream: &mut BufReader<TcpStream>) -> String {
    let mut length = Vec::new();
    stream.read_until(b' ', &mut length).expect("a length");
    let length = String::from_utf8(length).expect("digits").trim_end().parse().expect("a number");
    let mut message = vec![0; length];
    stream.read_exact(&mut message).expect("a message");
    String::from_utf8(message).expect("text")
}

#[test]
fn a_datagram_is_a_message() {
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = receiver.local_addr().expect("known");
    let syslog = Syslog::start(&settings(&format!("udp://{address}"))).expect("started");
    syslog.copy(lines(0..3).as_bytes());
    for number in 0..3 {
        let mut message = [0; 8_192];
        let length = receiver.recv(&mut message).expect("one");
        let message = String::from_utf8_lossy(&message[..length]).into_owned();
        assert!(message.starts_with("<109>1 2026-09-21T14:13:20.123Z test wharf "), "{message}");
        assert!(message.ends_with(&format!(" denied - {LINE}\"{number}\"}}")), "{message}");
    }
    syslog.close();
    assert_eq!(syslog.counts(), (3, 0));
}

#[test]
fn lines_wait_for_a_receiver_that_is_away_and_come_in_order() {
    // A port that nobody listens at.
    let receiver = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = receiver.local_addr().expect("known");
    drop(receiver);
    let syslog = Syslog::start(&settings(&format!("tcp://{address}"))).expect("started");
    syslog.copy(lines(0..100).as_bytes());
    let receiver = TcpListener::bind(address).expect("the same port");
    let (stream, _) = receiver.accept().expect("it comes back");
    let mut stream = BufReader::new(stream);
    (0..100).for_each(|number| assert!(read(&mut stream).ends_with(&format!("\"{number}\"}}"))));
    // The receiver goes, and another one takes its place.
    drop(stream);
    syslog.copy(lines(100..101).as_bytes());
    let (stream, _) = receiver.accept().expect("it comes back");
    let mut stream = BufReader::new(stream);
    assert!(read(&mut stream).ends_with("\"100\"}"));
    syslog.copy(lines(101..102).as_bytes());
    assert!(read(&mut stream).ends_with("\"101\"}"));
    syslog.close();
    assert_eq!(syslog.counts(), (102, 0));
}

#[test]
fn a_host_ends_though_its_log_server_is_away_and_counts_what_was_not_sent() {
    let receiver = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = receiver.local_addr().expect("known");
    drop(receiver);
    let syslog = Syslog::start(&settings(&format!("tcp://{address}"))).expect("started");
    syslog.copy(lines(0..5).as_bytes());
    syslog.close();
    assert_eq!(syslog.counts(), (0, 5));
    syslog.copy(lines(5..6).as_bytes());
    assert_eq!(syslog.counts(), (0, 6), "nothing is sent any more");
}

#[cfg(unix)]
#[test]
fn the_socket_of_this_machine_takes_messages() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("log");
    let receiver = std::os::unix::net::UnixDatagram::bind(&path).expect("bound");
    let syslog = Syslog::start(&settings(&format!("unix:{}", path.display()))).expect("started");
    syslog.copy(lines(0..1).as_bytes());
    let mut message = [0; 8_192];
    let length = receiver.recv(&mut message).expect("one");
    assert!(message[..length].starts_with(b"<109>1 "));
}
