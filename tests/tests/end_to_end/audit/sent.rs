//! The lines of the audit at a log server.

use std::{
    fs,
    io::{Read, Write as _},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, channel},
    thread,
};

use rustls::{ServerConnection, StreamOwned};
use serde_json::json;
use wharf::audit::directory;
use wharf_tests::{AMPLE, Client, Data, Setup, wharf};

use crate::plugins::registries::protected::{CERTIFICATE, as_localhost};

/// A log server: the messages that it gets, and its port.
fn log_server() -> (Receiver<String>, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let (message, messages) = channel();
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let message = message.clone();
            // A host that does not trust it goes during the handshake.
            thread::spawn(move || take(connection, |text| message.send(text).is_ok()));
        }
    });
    (messages, port)
}

/// Takes messages of a connection, each behind its length.
fn take(connection: TcpStream, mut message: impl FnMut(String) -> bool) -> Option<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(as_localhost()).ok()?, connection);
    loop {
        let (mut length, mut byte) = (String::new(), [0]);
        loop {
            stream.read_exact(&mut byte).ok()?;
            match byte[0] {
                b' ' => break,
                digit => length.push(char::from(digit)),
            }
        }
        let mut text = vec![0; length.parse().ok()?];
        stream.read_exact(&mut text).ok()?;
        if !message(String::from_utf8(text).ok()?) {
            return None;
        }
    }
}

fn served(port: u16, authority: &str) -> (Data, Client) {
    let data = Data::new();
    let tables = format!("[audit.syslog]\naddress = \"tls://localhost:{port}\"\nauthority = {authority:?}\n");
    let configuration = data.write("wharf.toml", Setup::new().with_tables(&tables).text());
    let client = Client::connect(wharf(["serve", "--stdio"]).config(&configuration).data(data.path()));
    (data, client)
}

#[test]
fn a_log_server_has_each_line_with_its_chain_also_where_the_end_of_the_file_was_cut_off() {
    let (messages, port) = log_server();
    let (data, mut client) = served(port, CERTIFICATE);
    for _ in 0..20 {
        client.call("echo__echo", json!({"text": "x"}), json!({}));
    }
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    let file = fs::read_dir(directory(data.path())).expect("a directory").next().expect("a file").expect("readable");
    let text = fs::read_to_string(file.path()).expect("text");
    let lines: Vec<_> = text.lines().collect();
    for line in &lines {
        let message = messages.recv_timeout(AMPLE).expect("a message");
        let (head, sent) = message.split_at(message.find('{').expect("JSON"));
        assert_eq!(sent, *line);
        let kind = serde_json::from_str::<serde_json::Value>(line).expect("JSON")["kind"].clone();
        let kind = kind.as_str().expect("a word");
        // A plugin that was compiled after the start is a change.
        let severity =
            if matches!(kind, "call" | "offer" | "host-call" | "begin" | "head" | "removed") { 110 } else { 109 };
        assert!(head.starts_with(&format!("<{severity}>1 20")) && head.ends_with(&format!(" {kind} - ")), "{head}");
    }
    assert!(lines.len() > 20);

    let last = lines.last().and_then(|line| line.rsplit_once("\"chain\":\"")).expect("a chain").1;
    let chain = last.trim_end_matches("\"}");
    let verify = || wharf(["audit", "verify", "--chain", chain]).data(data.path()).run();
    assert_eq!(verify().code, Some(0));
    fs::File::create(file.path())
        .and_then(|mut file| file.write_all((lines[..lines.len() - 3].join("\n") + "\n").as_bytes()))
        .expect("written");
    let cut = verify();
    assert!(cut.code == Some(1) && cut.out.contains(chain), "{cut:?}");
}

#[test]
fn a_log_server_that_nobody_vouches_for_gets_nothing_and_holds_nobody_up() {
    let (messages, port) = log_server();
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let place = Data::new();
    let authority = place.write("other.pem", other.cert.pem());
    let (data, mut client) = served(port, authority.to_str().expect("UTF-8"));
    client.call("echo__echo", json!({"text": "x"}), json!({}));
    let (_, log, code) = client.leave();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("the log server takes no line of the audit, so they wait"), "{log}");
    assert!(messages.try_recv().is_err());
    assert_eq!(wharf(["audit", "verify"]).data(data.path()).run().code, Some(0));

    // What cannot be used is told before anything is served.
    place.write("empty.pem", "");
    let text = "[audit.syslog]\naddress = \"tls://log.example\"\nauthority = \"empty.pem\"\n";
    let configuration = place.write("wharf.toml", text);
    for arguments in [&["serve", "--stdio"][..], &["config", "check"]] {
        let refused = wharf(arguments).config(&configuration).data(place.path()).run();
        assert!(refused.code == Some(3) && refused.err.contains("it has no certificate"), "{refused:?}");
    }
}
