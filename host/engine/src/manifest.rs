//! A component's reasons for the grants that it asks for. They are the plugin's own words:
//! the operator sees them, and the host does not rely on them.

use std::collections::BTreeMap;

use serde::Deserialize;
use wharf_core::{grant::Capability, text};

/// The custom section: JSON, `{"reasons": {"CAPABILITY": "why"}}`.
pub(crate) const SECTION: &str = "wharf-plugin";
/// Longest section that is read.
const MAX_SECTION_BYTES: usize = 16 << 10;
/// Longest reason; the rest is cut.
const MAX_REASON_BYTES: usize = 300;

#[derive(Deserialize)]
struct PluginManifest {
    #[serde(default)]
    reasons: BTreeMap<String, String>,
}

/// The reasons of a section: each one line for a person, for capabilities that there are.
pub(crate) fn reasons(section: &[u8]) -> BTreeMap<Capability, String> {
    if section.len() > MAX_SECTION_BYTES {
        return BTreeMap::new();
    }
    let Ok(manifest) = serde_json::from_slice::<PluginManifest>(section) else { return BTreeMap::new() };
    let known = |(word, reason): (String, String)| {
        Some((Capability::from_word(&word)?, text::line(reason.trim(), MAX_REASON_BYTES)))
    };
    manifest.reasons.into_iter().filter_map(known).filter(|(_, reason)| !reason.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::ComponentReading;

    fn reasons(component: &[u8]) -> BTreeMap<Capability, String> {
        ComponentReading::of(component).reasons
    }

    /// The least component, with a custom section.
    fn component(name: &str, data: &[u8]) -> Vec<u8> {
        let mut component = wasm_encoder::Component::new();
        component.section(&wasm_encoder::CustomSection { name: name.into(), data: data.into() });
        component.finish()
    }

    #[test]
    fn reasons_are_one_clean_line_for_each_capability_that_there_is() {
        let data = br#"{"reasons": {"state": "counts\u001b[2J visits\nnow", "everything": "trust me", "events": " "}}"#;
        let found = reasons(&component("wharf-plugin", data));
        assert_eq!(found, BTreeMap::from([(Capability::State, "counts[2J visitsnow".to_owned())]));
        let long = format!(r#"{{"reasons": {{"state": "{}"}}}}"#, "x".repeat(5_000));
        assert_eq!(reasons(&component("wharf-plugin", long.as_bytes()))[&Capability::State].len(), MAX_REASON_BYTES);
    }

    #[test]
    fn what_is_no_manifest_says_nothing() {
        let huge = vec![b' '; MAX_SECTION_BYTES + 1];
        for bytes in [
            Vec::new(),
            b"\0asm".to_vec(),
            component("other", br#"{"reasons": {"state": "r"}}"#),
            component("wharf-plugin", b"no JSON"),
            component("wharf-plugin", br#"{"reasons": ["state"]}"#),
            component("wharf-plugin", &huge),
        ] {
            assert!(reasons(&bytes).is_empty());
        }
    }
}
