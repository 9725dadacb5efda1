//! What hosts tell each other of changes that plugins have told: hints, which may be lost, and a
//! count that says that one was.
//!
//! Changes gather for a moment and go out as one numbered batch. A batch that follows its
//! predecessor is heard; any other one means that something was missed, and then everything
//! counts as changed. So does a count in the database that this host has not come to, since the
//! last batch may be the one that was lost.

mod gathered;
mod heard;
mod wire;

pub(crate) use gathered::Gathered;
pub(crate) use heard::{Heard, Told};
pub use wire::installed_notice;
pub(crate) use wire::{Batch, LARGEST_BATCH, Published, WireNotice};

use async_trait::async_trait;
use bytes::Bytes;

/// A way for batches from each host to all others, beside the connections between hosts. What is
/// published may be lost, doubled or late.
#[async_trait]
pub trait NoticeBus: Send + Sync + 'static {
    /// Publishes a batch. Whether it is on its way: if not, it goes from host to host.
    async fn publish(&self, batch: Bytes) -> bool;

    /// The next batch that somebody has published, this host included; nothing once there is none
    /// any more.
    async fn next(&self) -> Option<Bytes>;

    /// Waits until what was published is on its way, for a program that ends next.
    async fn flush(&self) {}
}
