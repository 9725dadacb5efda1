//! Hosts that reach each other over links, one for each direction: each host has its own names of the
//! others, as on a machine of its own.

use std::{
    fmt::Write as _,
    net::{Ipv4Addr, SocketAddr},
};

use wharf_test_support::{free_address, machine};

use super::{Cluster, ClusterHost};
use crate::{
    Data, Holds,
    link::{Destination, Link, Passage},
};

/// The links between hosts.
#[derive(Debug)]
pub struct Network {
    places: Vec<Place>,
    links: Vec<Between>,
    _files: Data,
}

/// Where a host is.
#[derive(Debug)]
struct Place {
    name: &'static str,
    /// The port by which the others know it.
    port: u16,
    listen: SocketAddr,
    /// A script that runs its arguments on a machine with its names of the others.
    machine: String,
}

#[derive(Debug)]
struct Between {
    from: &'static str,
    to: &'static str,
    link: Link,
}

impl Network {
    /// Links between hosts of these names; nothing where this machine cannot play others, which
    /// says so.
    ///
    /// # Panics
    /// Where an address is taken.
    #[must_use]
    #[expect(clippy::print_stderr, reason = "a test that cannot test says so")]
    pub fn of<const N: usize>(names: [&'static str; N]) -> Option<Self> {
        let files = Data::alone();
        let ports = names.map(|_| free_address().port());
        let listens = names.map(|_| free_address());
        let (mut places, mut links) = (Vec::new(), Vec::new());
        for (caller, name) in (1..).zip(names) {
            let mut known = "127.0.0.1 localhost\n".to_owned();
            for ((called, to), (port, listen)) in (1..).zip(names).zip(ports.into_iter().zip(listens)) {
                // Each of them is this machine's own.
                let address = Ipv4Addr::new(127, 77, caller, called);
                writeln!(known, "{address} {}", domain(to)).expect("into a text");
                if to != name {
                    let link = Link::at((address, port).into(), Destination::Tcp(listen));
                    links.push(Between { from: name, to, link });
                }
            }
            let known = files.write(&format!("hosts-of-{name}"), known);
            let Some(machine) = machine::after(&format!("mount --bind {} /etc/hosts", known.display())) else {
                eprintln!("not tested: this machine gives no host its own names of the others");
                return None;
            };
            let place = usize::from(caller) - 1;
            places.push(Place { name, port: ports[place], listen: listens[place], machine });
        }
        Some(Self { places, links, _files: files })
    }

    /// Starts one of the hosts, and waits until it serves.
    ///
    /// # Panics
    /// Where there is none of this name.
    #[must_use]
    pub fn host(&self, cluster: &Cluster, name: &str) -> ClusterHost {
        let place = self.places.iter().find(|place| place.name == name).expect("it has a place");
        let address = format!("{}:{}", domain(name), place.port);
        let data = cluster.prepare_at(&address, Some(place.listen), name, &cluster.authority, Holds::Now);
        cluster.host_by(name, data, |command| command.through(&place.machine))
    }

    /// The link over which one host calls another one.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn link(&self, from: &str, to: &str) -> &Link {
        let between = self.links.iter().find(|between| between.from == from && between.to == to);
        &between.expect("there is one").link
    }

    /// What becomes of what two hosts send each other.
    ///
    /// # Panics
    /// Where there is no link between them.
    pub fn set_between(&self, one: &str, other: &str, passage: Passage) {
        self.link(one, other).set(passage);
        self.link(other, one).set(passage);
    }
}

fn domain(name: &str) -> String {
    format!("{name}.wharf.test")
}
