//! Files on their way out of pages and into them, with names that cannot be trusted, in
//! directories in which others write.
//!
//! Owns how they are opened and copied. Nothing here follows a link below the
//! workspace, and what is written appears whole. Knows nothing of pages.
//! On systems other than Linux every file is refused (see `elsewhere`).

#[cfg(not(target_os = "linux"))]
mod elsewhere;

#[cfg(target_os = "linux")]
mod beneath;
#[cfg(target_os = "linux")]
mod download;
#[cfg(target_os = "linux")]
mod name;
#[cfg(target_os = "linux")]
mod upload;

use std::path::{Path, PathBuf};

use wharf_core::{Digest, TenantId};

#[cfg(target_os = "linux")]
pub(crate) use download::{discard, keep};
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{discard, keep, open, stage};
#[cfg(target_os = "linux")]
pub(crate) use upload::{open, stage};

/// Where files come for the pages of a tenant, below the place for those of all: a directory that its browser can
/// read where no other tenant's can.
#[must_use]
pub fn staging_of(staging: &Path, tenant: &TenantId) -> PathBuf {
    staging.join(Digest::of(tenant.as_str().as_bytes()).to_hex())
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
