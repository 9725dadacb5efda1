//! The list that `cargo auditable` puts into a component: JSON, compressed by zlib.
//!
//! Its own library sorts the packages by what they depend on, which takes a hostile list hours.
//! Nothing here needs that order.

use std::io::Read as _;

use flate2::read::ZlibDecoder;
use serde::Deserialize;
use wharf_core::text::line;

use super::kept::{BillError, BillFormat, BillOfMaterials};
use crate::package::Package;

#[derive(Deserialize)]
struct Libraries {
    packages: Vec<Library>,
}

#[derive(Deserialize)]
struct Library {
    name: String,
    version: String,
    /// `crates.io`, or another place.
    #[serde(default)]
    source: String,
    /// `build` where it is not in the component.
    #[serde(default)]
    kind: String,
    /// Whether it is the component itself.
    #[serde(default)]
    root: bool,
}

pub(super) fn read(section: &[u8]) -> Result<BillOfMaterials, BillError> {
    let broken = |error: &dyn std::fmt::Display| BillError::Libraries(line(&error.to_string(), 200));
    let mut json = Vec::new();
    let most = BillOfMaterials::MAX_BYTES;
    let mut decoder = ZlibDecoder::new(section).take(most as u64 + 1);
    decoder.read_to_end(&mut json).map_err(|error| broken(&error))?;
    if json.len() > most {
        return Err(BillError::TooLong { most });
    }
    let listed: Libraries = serde_json::from_slice(&json).map_err(|error| broken(&error))?;
    let within = listed.packages.iter().filter(|library| !library.root && library.kind != "build");
    let packages = within.filter_map(|library| {
        let named = Package::named(&library.name, Some(&library.version))?;
        Some(if library.source == "crates.io" { named.of_ecosystem("crates.io") } else { named })
    });
    BillOfMaterials::new(BillFormat::Auditable, packages.collect(), Vec::new())
}
