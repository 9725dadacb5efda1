//! Attempts to get out by sockets.

use std::os::{
    linux::net::SocketAddrExt as _,
    unix::net::{SocketAddr, UnixListener},
};

use crate::support::workspace::{ContainedWorkspace, attempt, proven};
use wharf_spawn::SandboxMechanism;

#[tokio::test]
async fn no_socket_leads_out() {
    for place in ContainedWorkspace::all().await {
        let path = place.path("socket");
        let _by_path = UnixListener::bind(&path).expect("a socket");
        let name = format!("wharf-test-{}-{}", std::process::id(), place.name().replace(' ', ""));
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let _by_name = UnixListener::bind_addr(&address).expect("a socket");
        let network = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
        let port = network.local_addr().expect("an address").port();
        let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        datagrams.set_nonblocking(true).expect("a socket");
        let datagram_port = datagrams.local_addr().expect("an address").port();
        let connect = |family: &str, to: String| {
            format!(
                "perl -MSocket -e 'print socket(S, {family}, SOCK_STREAM, 0) && connect(S, {to}) ? \"ESCAPED\" : \"no\"'"
            )
        };
        place
            .withstands(&[
                proven("a UNIX socket by path", connect("AF_UNIX", format!("pack_sockaddr_un(\"{path}\")"))),
                proven("an abstract UNIX socket", connect("AF_UNIX", format!("pack_sockaddr_un(\"\\0{name}\")"))),
                proven("TCP", connect("AF_INET", format!("sockaddr_in({port}, INADDR_LOOPBACK)"))),
                attempt("UDP", format!("perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0) && send(S, \"x\", 0, sockaddr_in({datagram_port}, INADDR_LOOPBACK))'")),
                attempt("raw", "perl -MSocket -e 'print socket(S, AF_INET, SOCK_RAW, 1) ? \"ESCAPED\" : \"no\"'"),
                attempt("packets", "perl -MSocket -e 'print socket(S, 17, SOCK_RAW, 768) ? \"ESCAPED\" : \"no\"'"),
                attempt("the host by netlink", "perl -MSocket -e 'if (socket(S, 16, SOCK_RAW, 0)) { opendir(D, \"/sys/class/net\"); print \"no\" }'"),
            ])
            .await;
        assert!(datagrams.recv(&mut [0; 8]).is_err(), "{}", place.name());
    }
}

#[tokio::test]
async fn a_test_server_works_on_a_loopback_of_its_own() {
    for place in ContainedWorkspace::all_in_namespaces().await {
        let script = "perl -MSocket -e '
            socket(S, AF_INET, SOCK_STREAM, 0); bind(S, sockaddr_in(4000, INADDR_LOOPBACK)) or die $!; listen(S, 1);
            socket(C, AF_INET, SOCK_STREAM, 0); print connect(C, sockaddr_in(4000, INADDR_LOOPBACK)) ? \"reached\" : \"no\";'";
        assert_eq!(place.run(script).await, "reached");
    }
}

#[tokio::test]
async fn with_the_network_only_the_internet_is_there() {
    for mut place in ContainedWorkspace::all().await {
        place.network = true;
        let network = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
        let port = network.local_addr().expect("an address").port();
        let script = format!(
            "perl -MSocket -e 'print socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, sockaddr_in({port}, INADDR_LOOPBACK)) ? \"reached\" : \"no\"'"
        );
        assert_eq!(place.run(&script).await, "reached", "{}", place.name());
        if place.contained == SandboxMechanism::Landlock {
            let families = "perl -MSocket -e 'print socket(S, $_, SOCK_STREAM, 0) ? 1 : 0 for 1, 16, 17, 40; print socket(S, AF_INET, SOCK_RAW, 1) ? 1 : 0'";
            assert_eq!(place.run(families).await, "00000", "{}", place.name());
        }
    }
}
