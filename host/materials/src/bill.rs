//! Bills of materials, in the forms that builders write.

mod cyclonedx;
mod kept;
mod libraries;
mod spdx;

use serde_json::Value;

use self::kept::malformed;

pub(crate) use self::kept::sha256;
pub use self::kept::{BillError, BillFormat, BillOfMaterials};

impl BillOfMaterials {
    /// Reads a file, by its content.
    ///
    /// # Errors
    /// [`BillError`].
    pub fn read(bytes: &[u8]) -> Result<Self, BillError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(BillError::TooLong { most: Self::MAX_BYTES });
        }
        Self::of_json(serde_json::from_slice(bytes).map_err(malformed)?)
    }

    pub(crate) fn of_json(value: Value) -> Result<Self, BillError> {
        if value.get("bomFormat").is_some_and(|format| format == "CycloneDX") {
            cyclonedx::read(value)
        } else if value.get("spdxVersion").is_some() {
            spdx::read(value)
        } else {
            Err(BillError::Unknown)
        }
    }

    /// Reads the list of libraries in a component: the content of its section `.dep-v0`.
    ///
    /// # Errors
    /// [`BillError`].
    pub fn of_section(section: &[u8]) -> Result<Self, BillError> {
        libraries::read(section)
    }
}

#[cfg(test)]
mod tests;
