//! Attempts to reach the machine: files, environment, network.

use std::io::Write;
use std::net::SocketAddr;

use serde_json::{Value, json};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::{ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp::OutgoingDatagram;
use wasip2::sockets::udp_create_socket::create_udp_socket;
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

/// Straight by WASI: the sockets of the standard library need a C library that
/// not every toolchain for components brings.
fn networked(result: Result<String, ErrorCode>) -> Result<Answer, Error> {
    match result {
        Ok(found) => report(&json!({ "reached": true, "found": found })),
        Err(error) => report(&json!({ "reached": false, "error": error.name() })),
    }
}

fn address(arguments: &Value) -> Result<IpSocketAddress, Error> {
    let parsed: Result<SocketAddr, _> = text(arguments, "address").parse();
    match parsed.map_err(|cause| crate::attack::error("invalid", &cause.to_string()))? {
        SocketAddr::V4(address) => {
            let [a, b, c, d] = address.ip().octets();
            Ok(IpSocketAddress::Ipv4(Ipv4SocketAddress { port: address.port(), address: (a, b, c, d) }))
        }
        SocketAddr::V6(address) => {
            let [a, b, c, d, e, f, g, h] = address.ip().segments();
            let port = address.port();
            let address = (a, b, c, d, e, f, g, h);
            Ok(IpSocketAddress::Ipv6(Ipv6SocketAddress { port, flow_info: 0, address, scope_id: 0 }))
        }
    }
}

fn family(address: &IpSocketAddress) -> IpAddressFamily {
    match address {
        IpSocketAddress::Ipv4(_) => IpAddressFamily::Ipv4,
        IpSocketAddress::Ipv6(_) => IpAddressFamily::Ipv6,
    }
}

fn connect(arguments: &Value) -> Result<Answer, Error> {
    let address = address(arguments)?;
    networked((|| {
        let socket = create_tcp_socket(family(&address))?;
        socket.start_connect(&instance_network(), address)?;
        socket.subscribe().block();
        socket.finish_connect()?;
        Ok("connected".to_owned())
    })())
}

fn listen(arguments: &Value) -> Result<Answer, Error> {
    let address = address(arguments)?;
    networked((|| {
        let socket = create_tcp_socket(family(&address))?;
        socket.start_bind(&instance_network(), address)?;
        socket.finish_bind()?;
        socket.start_listen()?;
        socket.finish_listen()?;
        Ok("listening".to_owned())
    })())
}

fn send_datagram(arguments: &Value) -> Result<Answer, Error> {
    let remote_address = Some(address(arguments)?);
    networked((|| {
        let any = IpSocketAddress::Ipv4(Ipv4SocketAddress { port: 0, address: (0, 0, 0, 0) });
        let socket = create_udp_socket(IpAddressFamily::Ipv4)?;
        socket.start_bind(&instance_network(), any)?;
        socket.finish_bind()?;
        let (_incoming, outgoing) = socket.stream(None)?;
        outgoing.check_send()?;
        outgoing.send(&[OutgoingDatagram { data: b"hostile".to_vec(), remote_address }])?;
        Ok("sent".to_owned())
    })())
}

fn resolve(arguments: &Value) -> Result<Answer, Error> {
    networked((|| {
        let addresses = resolve_addresses(&instance_network(), text(arguments, "name"))?;
        addresses.subscribe().block();
        Ok(format!("{:?}", addresses.resolve_next_address()?))
    })())
}
