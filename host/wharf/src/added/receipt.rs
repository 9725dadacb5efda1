//! What is written down when a plugin is added.

use chrono::{SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use wharf_core::{Digest, PluginName};
use wharf_engine::Inspection;
use wharf_trust::Evidence;

use crate::{
    configuration::{Configuration, granted_names},
    found_materials::FoundMaterials,
    vetting::{FoundSignatures, Vetted},
};

/// What a plugin was when it was added or replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Receipt {
    /// Its name.
    pub name: PluginName,
    /// Where it came from, as it was asked for: an absolute path, an address or a
    /// reference to a registry.
    pub source: String,
    /// The digest of the manifest that a reference came to: `sha256:…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// Whether the operator named the digest when adding it. Then no update takes
    /// another one without being told so.
    pub pinned: bool,
    /// Names its component.
    pub digest: Digest,
    /// Size of the component.
    pub bytes: u64,
    /// Every instance that it imports.
    pub imports: Vec<String>,
    /// The capabilities that it asks for.
    pub wanted_grants: Vec<String>,
    /// Those that the configuration granted it then.
    pub grants: Vec<String>,
    /// The names of its tools.
    pub tools: Vec<String>,
    /// Whether each function that it exports is a tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub functions: bool,
    /// When: RFC 3339, UTC.
    pub added: String,
    /// By which way: `command`.
    pub by: String,
    /// Who had signed it then, of those whom `[plugins] trust` named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The signatures that lay where it came from: hosts verify them whenever they load it.
    #[serde(default, skip_serializing_if = "FoundSignatures::is_empty")]
    pub signatures: FoundSignatures,
    /// What was said then of what it is made of, and how it was built.
    #[serde(default, skip_serializing_if = "FoundMaterials::is_empty")]
    pub materials: FoundMaterials,
    /// The component in whose place it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Digest>,
}

impl Receipt {
    /// Of a component that was vetted and inspected just now, and what the configuration grants to
    /// its name.
    #[must_use]
    pub fn new(
        name: PluginName,
        source: String,
        (inspection, vetted): (&Inspection, &Vetted),
        configuration: &Configuration,
    ) -> Self {
        let settings = configuration.settings_of(&name);
        let effective = configuration.effective_grants(&name, &settings, vetted.known(inspection.digest));
        Self {
            source,
            manifest: None,
            pinned: false,
            digest: inspection.digest,
            bytes: inspection.bytes,
            imports: inspection.imports.clone(),
            wanted_grants: inspection.wanted_grants().into_iter().map(str::to_owned).collect(),
            grants: effective.map(|effective| granted_names(&effective.grants)).unwrap_or_default(),
            tools: inspection.tools.iter().map(|tool| tool.name.clone()).collect(),
            functions: false,
            added: Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true),
            by: "command".to_owned(),
            evidence: vetted.evidence.first().cloned(),
            signatures: FoundSignatures::default(),
            materials: FoundMaterials::default(),
            replaced: None,
            name,
        }
    }
}
