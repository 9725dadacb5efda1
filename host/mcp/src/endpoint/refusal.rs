//! Why an endpoint takes a request up not at all.

use wharf_core::{Code, Error, quota::QuotaFull};

/// Why a request is answered outside of the protocol. The server of the endpoint says
/// it in words of its own.
#[derive(Debug, thiserror::Error)]
pub enum EndpointRefusal {
    /// The host has no place for any client, and may have one later.
    #[error("{0}")]
    Busy(String),
    /// It is not to be had.
    #[error(transparent)]
    Refused(#[from] Error),
}

impl EndpointRefusal {
    pub(super) fn invalid(message: &str) -> Self {
        Self::Refused(Error::new(Code::Invalid, message))
    }
}

impl From<QuotaFull> for EndpointRefusal {
    fn from(full: QuotaFull) -> Self {
        Self::Refused(full.into())
    }
}
