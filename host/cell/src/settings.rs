//! What a host of a cell is told.

use std::{fmt, net::IpAddr, str::FromStr, sync::Arc, time::Duration};

use rustls::pki_types::ServerName;
use wharf_core::Digest;

use crate::{NoticeBus, ReadCertificates};

/// Where the other hosts reach a host: `10.0.0.7:7443` or `wharf-0.wharf:7443`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PeerAddress {
    name: String,
    port: u16,
}

/// A text that is no address of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write the address as NAME:PORT, such as `10.0.0.7:7443`, `[fd00::7]:7443` or `wharf-0.wharf:7443`")]
pub struct InvalidPeerAddress;

impl PeerAddress {
    /// The name or the IP address that the certificate of the host has to show.
    pub(crate) fn server_name(&self) -> Option<ServerName<'static>> {
        match self.name.parse::<IpAddr>() {
            Ok(address) => Some(ServerName::IpAddress(address.into())),
            Err(_) => ServerName::try_from(self.name.clone()).ok(),
        }
    }

    /// For the resolver.
    pub(crate) fn parts(&self) -> (&str, u16) {
        (&self.name, self.port)
    }
}

impl FromStr for PeerAddress {
    type Err = InvalidPeerAddress;

    fn from_str(text: &str) -> Result<Self, InvalidPeerAddress> {
        let (name, port) = text.rsplit_once(':').ok_or(InvalidPeerAddress)?;
        let port = port.parse().ok().filter(|port| *port != 0).ok_or(InvalidPeerAddress)?;
        let name = match name.strip_prefix('[').map(|name| name.strip_suffix(']')) {
            Some(Some(name)) if name.contains(':') => name,
            None if !name.contains(':') => name,
            _ => return Err(InvalidPeerAddress),
        };
        let address = Self { name: name.to_owned(), port };
        address.server_name().is_some().then_some(address).ok_or(InvalidPeerAddress)
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, port } = self;
        if name.contains(':') { write!(formatter, "[{name}]:{port}") } else { write!(formatter, "{name}:{port}") }
    }
}

/// What a host of a cell is told.
#[derive(Clone)]
pub struct CellSettings {
    /// The name of the cell.
    pub cell: String,
    /// The name of this host, for people.
    pub host: String,
    /// Where the other hosts reach it.
    pub address: PeerAddress,
    /// Where it listens for them; at `address` where absent.
    pub listen: Option<std::net::SocketAddr>,
    /// What shows the hosts to each other; asked again each minute, so that a certificate can be
    /// renewed while the host serves.
    pub certificates: ReadCertificates,
    /// Names the files that it has.
    pub files: String,
    /// The version of the program.
    pub version: String,
    /// Names what it started with of the settings that all hosts have.
    pub configured: Digest,
    /// Bytes of the longest message from another host.
    pub message_bytes: usize,
    /// The longest that a call may take, with all waiting.
    pub longest_call: Duration,
    /// A way for changes beside the connections between hosts, where there is one.
    pub bus: Option<Arc<dyn NoticeBus>>,
    /// When what happens.
    pub times: CellTimes,
}

/// When what happens in a cell. The defaults are those of the design, and the operator cannot
/// change them: hosts that disagree about them would not agree about death.
#[derive(Debug, Clone, Copy)]
pub struct CellTimes {
    /// From one beat to the next.
    pub beat: Duration,
    /// How long a beat may take.
    pub beat_patience: Duration,
    /// How long another host may be silent in the middle of a call before it counts as
    /// unavailable.
    pub silence: Duration,
    /// How long a connection to another host may take.
    pub connecting: Duration,
    /// After how long without a beat a host makes no call any more that needs a home.
    pub lost_contact: Duration,
    /// How long the beat of a host must stand still before the others declare it dead.
    pub dead: Duration,
    /// The same of a host whose address refuses connections, where no third host can bear that out.
    pub dead_without_witness: Duration,
    /// How long the mark of a dead home must have stood before another host takes its place.
    pub claim: Duration,
    /// After how long unused a session without anything that lives is let go.
    pub idle: Duration,
}

impl Default for CellTimes {
    fn default() -> Self {
        Self {
            beat: Duration::from_secs(1),
            beat_patience: Duration::from_secs(2),
            silence: Duration::from_millis(700),
            connecting: Duration::from_millis(700),
            lost_contact: Duration::from_secs(10),
            dead: Duration::from_secs(15),
            dead_without_witness: Duration::from_secs(3),
            claim: Duration::from_secs(2),
            idle: Duration::from_secs(300),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_as_it_was_written_and_nothing_else_reads_as_one() {
        for good in ["10.0.0.7:7443", "[fd00::7]:7443", "wharf-0.wharf:7443", "localhost:1"] {
            assert_eq!(good.parse::<PeerAddress>().expect(good).to_string(), good);
        }
        for bad in
            ["", "10.0.0.7", "10.0.0.7:0", "10.0.0.7:65536", "fd00::7:7443", "[x]:1", "[fd00::7]x:1", "a b:1", ":1"]
        {
            assert_eq!(bad.parse::<PeerAddress>(), Err(InvalidPeerAddress), "{bad}");
        }
    }

    #[test]
    fn a_host_stops_acting_before_the_others_take_its_place() {
        let times = CellTimes::default();
        assert!(times.lost_contact + times.beat_patience < times.dead, "a host that is cut off stops first");
        assert!(times.beat + times.beat_patience <= times.dead_without_witness, "one late beat is no death");
    }
}
