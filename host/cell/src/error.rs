//! What goes wrong between hosts and their stores.

use std::{io, net::SocketAddr};

use crate::{JoinRefused, PeerTlsError};

/// The database of a cell does not answer.
#[derive(Debug, thiserror::Error)]
#[error("the database of the cell does not answer")]
pub struct StoreUnavailable(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Why a host cannot join its cell.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// The system has no randomness to give.
    #[error("the system has no randomness to give")]
    Randomness(#[source] io::Error),
    /// The address for the other hosts cannot be had.
    #[error("cannot listen for the other hosts at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The address for the other hosts names nothing on this machine.
    #[error("the address {address} of this host cannot be resolved: {source}")]
    Resolve {
        /// The address.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// A certificate, its key or the authority cannot be used.
    #[error(transparent)]
    Tls(#[from] PeerTlsError),
    /// The database refuses this host.
    #[error(transparent)]
    Refused(#[from] JoinRefused),
    /// The database does not answer.
    #[error(transparent)]
    Unavailable(#[from] StoreUnavailable),
}
