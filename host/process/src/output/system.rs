//! What output asks of the system: files that are read and written at an offset, holes
//! in them, and the pipes that fill them.
//!
//! Knows nothing of streams and quotas.

// Tests on Linux compile it too.
#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{CopierSlots, copy, evict, first_kept, read_at, write_all_at};
#[cfg(target_os = "linux")]
pub(crate) use linux::{CopierSlots, copy, evict, first_kept, read_at, write_all_at};
