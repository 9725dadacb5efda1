//! One question to the kernel, of one connection: `sock_diag(7)`.

use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use rustix::{
    io::Errno,
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with},
};

/// `SOCK_DIAG_BY_FAMILY`, and that of an answer in its place that something failed.
const BY_FAMILY: u16 = 20;
const FAILED: u16 = 2;
/// `NLM_F_REQUEST`
const REQUEST: u16 = 1;
/// `TCP_ESTABLISHED`. A socket in any other state may have been let go of by its
/// program, and is said to be root's then.
const ESTABLISHED: u8 = 1;
/// `IPPROTO_TCP`
const TCP: u8 = 6;

/// Bytes of the head of a message, and where in an answer behind it are the state and
/// the user.
const HEAD: usize = 16;
const STATE: usize = HEAD + 1;
const USER: usize = HEAD + 64;

/// The user whose socket is connected from `peer` to `own`.
pub(super) fn owner(peer: SocketAddr, own: SocketAddr) -> io::Result<Option<u32>> {
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
    send(&socket, &question(peer, own), SendFlags::empty())?;
    let mut answer = [0; 1024];
    // It is there once the question is sent.
    let (length, _) = recv(&socket, &mut answer, RecvFlags::DONTWAIT)?;
    read(answer.get(..length).unwrap_or_default())
}

/// A head and an `inet_diag_req_v2`, in the order of this machine's bytes but for ports
/// and addresses.
fn question(peer: SocketAddr, own: SocketAddr) -> Vec<u8> {
    let family = match peer.ip().to_canonical() {
        IpAddr::V4(_) => AddressFamily::INET,
        IpAddr::V6(_) => AddressFamily::INET6,
    };
    let mut asked = Vec::with_capacity(HEAD + 56);
    asked.extend([0; HEAD]);
    asked.extend([u8::try_from(family.as_raw()).unwrap_or_default(), TCP, 0, 0]);
    asked.extend(u32::MAX.to_ne_bytes());
    asked.extend(peer.port().to_be_bytes());
    asked.extend(own.port().to_be_bytes());
    for address in [peer, own] {
        let mut bytes = [0; 16];
        match address.ip().to_canonical() {
            IpAddr::V4(address) => bytes[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => bytes = address.octets(),
        }
        asked.extend(bytes);
    }
    // No interface in particular, and no cookie.
    asked.extend(0_u32.to_ne_bytes());
    asked.extend([0xff; 8]);
    let length = u32::try_from(asked.len()).unwrap_or_default();
    asked[..4].copy_from_slice(&length.to_ne_bytes());
    asked[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    asked[6..8].copy_from_slice(&REQUEST.to_ne_bytes());
    asked
}

fn read(answer: &[u8]) -> io::Result<Option<u32>> {
    let word = |at: usize| answer.get(at..at + 4).and_then(|word| word.try_into().ok());
    let unclear = || io::Error::from(io::ErrorKind::InvalidData);
    let kind = answer.get(4..6).and_then(|kind| kind.try_into().ok()).map(u16::from_ne_bytes);
    match kind {
        Some(BY_FAMILY) => {
            let user = word(USER).map(u32::from_ne_bytes).ok_or_else(unclear)?;
            Ok((answer.get(STATE) == Some(&ESTABLISHED)).then_some(user))
        }
        Some(FAILED) => match word(HEAD).map(i32::from_ne_bytes).ok_or_else(unclear)? {
            error if error == -Errno::NOENT.raw_os_error() => Ok(None),
            error => Err(io::Error::from_raw_os_error(-error)),
        },
        _ => Err(unclear()),
    }
}
