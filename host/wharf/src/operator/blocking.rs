//! Work that may wait for the disk, on a thread of its own.

use tokio::task::spawn_blocking;
use wharf_core::{Code, Error};

pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    spawn_blocking(work).await.map_err(|_| Error::retryable(Code::Unavailable, "the host ends"))
}
