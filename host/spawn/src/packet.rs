//! Packets on UNIX sockets that keep their boundaries, with descriptors beside them.
//!
//! Knows nothing of their content.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair, sockopt,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::wire::MAX_PACKET_BYTES;

/// Most descriptors that travel with one packet.
const MAX_DESCRIPTORS: usize = 4 + crate::MAX_DESCRIPTORS;

/// A received packet.
#[derive(Debug)]
pub struct Packet<T> {
    /// What was sent.
    pub message: T,
    /// The descriptors beside it.
    pub descriptors: Vec<OwnedFd>,
    /// The process that sent it, as the receiver's namespace numbers it; only
    /// on the host's end of a pair.
    pub(crate) sender: Option<u32>,
}

/// The host's end, which learns the sender of each packet, and the other one.
///
/// # Errors
/// Where the system gives no sockets.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (host, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_passcred(&host, true)?;
    Ok((host, other))
}

/// Sends one packet, of at most 32 KiB and with at most twelve descriptors.
///
/// # Errors
/// Where it is larger, or the other side is gone.
pub fn send(socket: impl AsFd, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
    if bytes.len() > MAX_PACKET_BYTES {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // The other side may be gone, which is an error and must not raise SIGPIPE.
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut beside, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives one packet; none when the other side is gone.
///
/// # Errors
/// Where what comes is no such packet.
pub fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<Packet<T>>> {
    let mut bytes = vec![0; MAX_PACKET_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS), ScmCredentials(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut receive = || recvmsg(&socket, &mut [IoSliceMut::new(&mut bytes)], &mut beside, RecvFlags::CMSG_CLOEXEC);
    let received = match receive() {
        // The other side went with packets unread. The system says so once, before it
        // hands out the packets of that side.
        Err(rustix::io::Errno::CONNRESET) => receive(),
        other => other,
    }?;
    let (mut descriptors, mut sender) = (Vec::new(), None);
    for message in beside.drain() {
        match message {
            RecvAncillaryMessage::ScmRights(received) => descriptors.extend(received),
            RecvAncillaryMessage::ScmCredentials(credentials) => {
                sender = u32::try_from(credentials.pid.as_raw_nonzero().get()).ok();
            }
            _ => {}
        }
    }
    if received.bytes == 0 {
        return Ok(None);
    }
    if received.flags.contains(ReturnFlags::TRUNC) {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    let message = postcard::from_bytes(&bytes[..received.bytes]).map_err(io::Error::other)?;
    Ok(Some(Packet { message, descriptors, sender }))
}
