//! The pipes that fill output, by system.

// Tests on Linux compile it too.
#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;

#[cfg(target_os = "linux")]
pub(crate) use super::copy::{CopierSlots, copy};
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{CopierSlots, copy};
