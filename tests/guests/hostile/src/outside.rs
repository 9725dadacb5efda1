//! Attempts to reach the machine: files, environment, network.

use std::io::Write;
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};

use serde_json::{Value, json};
use wharf_sdk::bindings::exports::wharf::plugin::tools::Answer;
use wharf_sdk::bindings::wharf::plugin::types::Error;

use crate::attack::{Attack, report, text};

pub(crate) const ATTACKS: &[Attack] = &[
    Attack::new("read_file", "Reads a file.", &[("path", "string")], read_file),
    Attack::new("write_file", "Writes a file.", &[("path", "string")], write_file),
    Attack::new("list_directory", "Lists a directory.", &[("path", "string")], list_directory),
    Attack::new("environment", "Reads every environment variable.", &[], environment),
    Attack::new("program_arguments", "Reads the arguments of the program.", &[], program_arguments),
    Attack::new("working_directory", "Asks for the working directory.", &[], working_directory),
    Attack::new("connect", "Connects by TCP.", &[("address", "string")], connect),
    Attack::new("listen", "Listens by TCP.", &[("address", "string")], listen),
    Attack::new("send_datagram", "Sends a datagram.", &[("address", "string")], send_datagram),
    Attack::new("resolve", "Looks a name up.", &[("name", "string")], resolve),
];

/// Whether it was reached, and what came of it.
fn reached<T: Into<Value>>(result: std::io::Result<T>) -> Result<Answer, Error> {
    match result {
        Ok(found) => report(&json!({ "reached": true, "found": found.into() })),
        Err(error) => report(&json!({ "reached": false, "error": error.to_string() })),
    }
}

fn read_file(arguments: &Value) -> Result<Answer, Error> {
    reached(std::fs::read(text(arguments, "path")).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn write_file(arguments: &Value) -> Result<Answer, Error> {
    reached(
        std::fs::File::create(text(arguments, "path"))
            .and_then(|mut file| file.write_all(b"hostile"))
            .map(|()| "written"),
    )
}

fn list_directory(arguments: &Value) -> Result<Answer, Error> {
    let entries = std::fs::read_dir(text(arguments, "path"));
    reached(entries.map(|entries| {
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.collect::<Vec<_>>()
    }))
}

fn environment(_arguments: &Value) -> Result<Answer, Error> {
    let variables = std::env::vars_os().map(|(name, value)| format!("{}={}", name.display(), value.display()));
    report(&json!({ "found": variables.collect::<Vec<_>>() }))
}

fn program_arguments(_arguments: &Value) -> Result<Answer, Error> {
    let arguments = std::env::args_os().map(|argument| argument.display().to_string());
    report(&json!({ "found": arguments.collect::<Vec<_>>() }))
}

fn working_directory(_arguments: &Value) -> Result<Answer, Error> {
    reached(std::env::current_dir().map(|path| path.display().to_string()))
}

fn connect(arguments: &Value) -> Result<Answer, Error> {
    reached(TcpStream::connect(text(arguments, "address")).map(|_| "connected"))
}

fn listen(arguments: &Value) -> Result<Answer, Error> {
    reached(TcpListener::bind(text(arguments, "address")).map(|_| "listening"))
}

fn send_datagram(arguments: &Value) -> Result<Answer, Error> {
    let socket = UdpSocket::bind("0.0.0.0:0");
    reached(socket.and_then(|socket| socket.send_to(b"hostile", text(arguments, "address"))).map(|_| "sent"))
}

fn resolve(arguments: &Value) -> Result<Answer, Error> {
    let addresses = (text(arguments, "name"), 80).to_socket_addrs();
    reached(addresses.map(|addresses| addresses.map(|address| address.to_string()).collect::<Vec<_>>()))
}
