//! What is kept of a bill, in whatever form it came, and why one cannot be read.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::package::Package;

/// Which form a bill has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum BillFormat {
    /// CycloneDX, as JSON.
    CycloneDx,
    /// SPDX 2, as JSON.
    Spdx,
    /// The section `.dep-v0` that `cargo auditable` puts into a component.
    Auditable,
}

impl fmt::Display for BillFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::CycloneDx => "CycloneDX",
            Self::Spdx => "SPDX",
            Self::Auditable => "cargo auditable",
        })
    }
}

/// Why something is no bill that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BillError {
    /// It is longer than any that is read.
    #[error("it has more than {most} bytes")]
    TooLong {
        /// The most bytes.
        most: usize,
    },
    /// It lists more packages than are kept.
    #[error("it lists more than {most} packages")]
    TooMany {
        /// The most packages.
        most: usize,
    },
    /// It is no JSON of such a form.
    #[error("it is no JSON of its form: {0}")]
    Malformed(String),
    /// It is JSON, and no bill.
    #[error(
        "it is neither CycloneDX (`bomFormat`) nor SPDX 2 (`spdxVersion`) as JSON; convert it, as `syft convert` does"
    )]
    Unknown,
    /// It is a bill of a version that is not known here.
    #[error("it is {format} {version}, which is not read; write {read}")]
    Version {
        /// Its form.
        format: BillFormat,
        /// Its version.
        version: String,
        /// What is read.
        read: &'static str,
    },
    /// The list in a component is not what `cargo auditable` writes.
    #[error("the section `.dep-v0` is not what `cargo auditable` writes: {0}")]
    Libraries(String),
}

/// What somebody says that a component is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BillOfMaterials {
    /// Its form.
    pub format: BillFormat,
    /// Each package once, in order.
    pub packages: Vec<Package>,
    /// The SHA-256 digests, in lower hexadecimal digits, of what it says that it is about; empty where
    /// it does not say.
    pub subjects: Vec<String>,
}

impl BillOfMaterials {
    /// The most bytes of a bill: 4 MiB.
    pub const MAX_BYTES: usize = 4 << 20;
    /// The most things that one is about.
    pub(super) const MAX_SUBJECTS: usize = 64;
    /// The most packages that one lists.
    pub const MAX_PACKAGES: usize = 10_000;

    pub(super) fn new(
        format: BillFormat,
        mut packages: Vec<Package>,
        subjects: Vec<String>,
    ) -> Result<Self, BillError> {
        packages.sort();
        packages.dedup();
        match packages.len() > Self::MAX_PACKAGES {
            true => Err(BillError::TooMany { most: Self::MAX_PACKAGES }),
            false => Ok(Self { format, packages, subjects }),
        }
    }
}

pub(super) fn malformed(error: serde_json::Error) -> BillError {
    BillError::Malformed(error.to_string())
}

/// A digest as it is compared, where it is one.
pub(crate) fn sha256(written: &str) -> Option<String> {
    let is_digest = written.len() == 64 && written.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| written.to_ascii_lowercase())
}
