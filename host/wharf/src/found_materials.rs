//! What is said of what a plugin's component is made of and how it was built: where that is found,
//! whether it is about this component, and who says it.

mod reading;

use std::path::Path;

use serde::{Deserialize, Serialize};
use wharf_core::text::with_causes;
use wharf_engine::{Component, library_lists};
use wharf_materials::{BillFormat, BuildProvenance, Package};
use wharf_sources::{PluginSource, RegistryLogins, materials_beside};
use wharf_trust::{Evidence, TrustPolicy};

use self::reading::MaterialsReader;

/// What is said of a component. Nobody vouches for it but where [`Voucher::Trusted`] says so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FoundMaterials {
    /// What it is made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bills: Vec<FoundBill>,
    /// How it was built.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provenance: Vec<FoundProvenance>,
    /// What was found and does not count, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A bill of materials of a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FoundBill {
    /// Its form.
    pub format: BillFormat,
    /// Where it was found, in words for a person.
    pub from: String,
    /// By what it is known to be about this component.
    pub bound: Binding,
    /// Who says so.
    pub voucher: Voucher,
    /// What it lists.
    pub packages: Vec<Package>,
}

/// Provenance of a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FoundProvenance {
    /// Where it was found, in words for a person.
    pub from: String,
    /// By what it is known to be about this component.
    pub bound: Binding,
    /// Who says so.
    pub voucher: Voucher,
    /// What it says.
    pub build: BuildProvenance,
}

/// By what something is known to be about a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Binding {
    /// It is part of the component.
    Within,
    /// It names the component's digest.
    Digest,
    /// It names the manifest by which a registry names the component, or refers to it there.
    Manifest,
    /// It lies beside the component, and names no digest.
    Place,
}

/// Who says something about a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Voucher {
    /// Nobody signed it. What is part of the component is signed with that.
    Nobody,
    /// Somebody whom `[plugins] trust` named when it was found.
    Trusted(Box<Evidence>),
    /// It is signed, and why that does not count.
    Untrusted(String),
}

impl FoundMaterials {
    /// Whether nothing was found, not even a problem.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What a component says of itself.
    #[must_use]
    pub fn within(component: &Component) -> Self {
        let mut reader = MaterialsReader::default();
        for list in library_lists(&component.bytes()) {
            reader.take_list(list);
        }
        reader.found
    }

    /// What is said of a component where it was fetched from; `manifest` is the digest that named it there.
    /// What cannot be had is a problem that is told, and no error. Blocks, a minute at most.
    #[must_use]
    pub fn fetched(
        source: &PluginSource,
        manifest: Option<&str>,
        logins: &RegistryLogins,
        (component, policy): (&Component, &TrustPolicy),
    ) -> Self {
        let bytes = component.bytes();
        match source.materials(manifest, logins) {
            Ok(fetched) => {
                let mut reader = MaterialsReader::new(&bytes, fetched.manifest.as_deref(), policy);
                for file in &fetched.files {
                    reader.take(&file.from, &file.bytes);
                }
                reader.found
            }
            Err(error) => Self { problems: vec![with_causes(&error)], ..Self::default() },
        }
    }

    /// What is said beside the file of a component.
    #[must_use]
    pub fn beside(file: &Path, component: &Component, policy: &TrustPolicy) -> Self {
        let bytes = component.bytes();
        let mut reader = MaterialsReader::new(&bytes, None, policy);
        for material in materials_beside(file) {
            match material {
                Ok(material) => reader.take(&material.from, &material.bytes),
                Err(error) => reader.found.problems.push(with_causes(&error)),
            }
        }
        reader.found
    }

    /// Both.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.bills.extend(other.bills);
        self.provenance.extend(other.provenance);
        self.problems.extend(other.problems);
        self
    }

    /// All packages of all bills, each once.
    #[must_use]
    pub fn packages(&self) -> Vec<&Package> {
        let mut packages: Vec<_> = self.bills.iter().flat_map(|bill| &bill.packages).collect();
        packages.sort();
        packages.dedup();
        packages
    }
}

#[cfg(test)]
mod tests;
