//! Where `--http` serves: at an address, or at the socket that systemd passes.

use std::str::FromStr;

use wharf::http::HttpAddress;
#[cfg(target_os = "linux")]
use wharf::http::PassedSocket;

use crate::exit::Unusable;

/// What `--http` says for the socket that systemd passes.
const SYSTEMD: &str = "systemd";

/// What `--http` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HttpPlace {
    Address(HttpAddress),
    Systemd,
}

/// Why a text names no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("say `ADDRESS:PORT`, such as `127.0.0.1:0`, `unix:` and a path, or `systemd` for the socket that it passes")]
pub(super) struct InvalidPlace;

/// What connections come from.
#[derive(Debug)]
pub(super) enum Listening {
    Address(HttpAddress),
    #[cfg(target_os = "linux")]
    Passed(PassedSocket),
}

impl FromStr for HttpPlace {
    type Err = InvalidPlace;

    fn from_str(text: &str) -> Result<Self, InvalidPlace> {
        match text {
            SYSTEMD => Ok(Self::Systemd),
            address => address.parse().map(Self::Address).map_err(|_| InvalidPlace),
        }
    }
}

/// What is served at, before this process has another thread or a child: no child inherits a socket
/// that systemd passes.
#[cfg(target_os = "linux")]
pub(super) fn listening(place: Option<HttpPlace>) -> Result<Option<Listening>, Unusable> {
    let passed = passed::sockets();
    match (place, passed) {
        // Standard input may be such a socket.
        (None, _) => Ok(None),
        (Some(_), Err(error)) => Err(Unusable(format!(
            "the sockets cannot be had that systemd passes, by its variables LISTEN_FDS and others: {error}"
        ))),
        (Some(HttpPlace::Address(address)), Ok(passed)) if passed.is_empty() => Ok(Some(Listening::Address(address))),
        (Some(HttpPlace::Address(address)), Ok(passed)) => Err(Unusable(format!(
            "systemd passes a socket ({}), whose connections nobody would answer at --http {address}: say --http \
             systemd, or stop the unit of the socket and take it out of the service",
            passed::names(&passed)
        ))),
        (Some(HttpPlace::Systemd), Ok(passed)) => passed::the_only(passed).map(Listening::Passed).map(Some),
    }
}

/// What is served at.
#[cfg(not(target_os = "linux"))]
pub(super) fn listening(place: Option<HttpPlace>) -> Result<Option<Listening>, Unusable> {
    match place {
        None => Ok(None),
        Some(HttpPlace::Address(address)) => Ok(Some(Listening::Address(address))),
        Some(HttpPlace::Systemd) => Err(Unusable("systemd is on Linux alone; name an address after --http".to_owned())),
    }
}

/// Sockets that systemd passes, as sd_listen_fds(3) says.
#[cfg(target_os = "linux")]
mod passed {
    use std::{
        io,
        os::fd::{FromRawFd as _, OwnedFd},
    };

    use wharf::{http::PassedSocket, with_causes};

    use crate::exit::Unusable;

    /// A descriptor by the name that its unit gives it.
    pub(super) type Named = (OwnedFd, String);

    /// Those that were passed to this very process. A program that this one starts has none of them.
    pub(super) fn sockets() -> io::Result<Vec<Named>> {
        // It has them closed in children.
        let passed = sd_notify::listen_fds_with_names()?;
        Ok(passed.map(|(number, name)| (owned(number), name)).collect())
    }

    #[expect(unsafe_code, reason = "who started this process left it the descriptor, and nothing here has it yet")]
    fn owned(number: i32) -> OwnedFd {
        // SAFETY: it is open, since its flags could be set, and a command serves once.
        unsafe { OwnedFd::from_raw_fd(number) }
    }

    pub(super) fn names(passed: &[Named]) -> String {
        let names: Vec<_> = passed.iter().map(|(_, name)| name.escape_debug().to_string()).collect();
        names.join(", ")
    }

    /// One socket that takes connections.
    pub(super) fn the_only(mut passed: Vec<Named>) -> Result<PassedSocket, Unusable> {
        match (passed.pop(), passed.is_empty()) {
            (None, _) => Err(Unusable(
                "--http systemd: systemd passes no socket to this process; start it as the service of a unit such as \
                 wharf.socket, or name an address after --http"
                    .to_owned(),
            )),
            (Some((socket, name)), true) => PassedSocket::new(socket).map_err(|error| {
                Unusable(format!(
                    "--http systemd: the socket `{}` of systemd takes no connections: {}",
                    name.escape_debug(),
                    with_causes(&error)
                ))
            }),
            (Some(last), false) => {
                passed.push(last);
                Err(Unusable(format!(
                    "--http systemd: systemd passes {} sockets ({}), and a host serves at one: leave one ListenStream= in \
                     the units of sockets of this service",
                    passed.len(),
                    names(&passed)
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_an_address_or_systemd() {
        assert_eq!("systemd".parse(), Ok(HttpPlace::Systemd));
        let address = "127.0.0.1:0".parse().expect("an address");
        assert_eq!("127.0.0.1:0".parse(), Ok(HttpPlace::Address(address)));
        for text in ["", "Systemd", "systemd:", "8080"] {
            assert_eq!(text.parse::<HttpPlace>(), Err(InvalidPlace), "{text}");
        }
    }
}
