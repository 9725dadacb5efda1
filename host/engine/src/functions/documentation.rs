//! What a component says of its functions: the section `package-docs`, as WIT tools write it.
//!
//! Format: a byte with the version (0 or 1), then JSON; see `metadata.rs` of the crate wit-parser.

use std::collections::HashMap;

use serde::Deserialize;
use wasmparser::{Parser, Payload};
use wharf_core::{text, tool::MAX_DESCRIPTION_BYTES};

const SECTION: &str = "package-docs";
const VERSIONS: [u8; 2] = [0, 1];
/// Longest section that is read.
const MAX_SECTION_BYTES: usize = 1 << 20;

/// The documentation of a component's functions.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Documentation {
    #[serde(default)]
    worlds: HashMap<String, WorldDocumentation>,
    #[serde(default)]
    interfaces: HashMap<String, InterfaceDocumentation>,
}

/// What is exported may stand under the older names, which once held imports as well.
#[derive(Debug, Deserialize)]
struct WorldDocumentation {
    #[serde(default)]
    interface_exports: HashMap<String, InterfaceDocumentation>,
    #[serde(default)]
    interfaces: HashMap<String, InterfaceDocumentation>,
    #[serde(default)]
    func_exports: HashMap<String, FunctionDocumentation>,
    #[serde(default)]
    funcs: HashMap<String, FunctionDocumentation>,
}

#[derive(Debug, Deserialize)]
struct InterfaceDocumentation {
    #[serde(default)]
    funcs: HashMap<String, FunctionDocumentation>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum FunctionDocumentation {
    Text(String),
    Record {
        #[serde(default)]
        docs: Option<String>,
    },
}

impl Documentation {
    /// What the component carries; nothing where that is damaged or too long.
    pub(super) fn read(component: &[u8]) -> Self {
        let sections = Parser::new(0).parse_all(component).map_while(Result::ok);
        let mut sections = sections.filter_map(|payload| match payload {
            Payload::CustomSection(section) if section.name() == SECTION => Some(section.data()),
            _ => None,
        });
        let section = sections.next().filter(|section| section.len() <= MAX_SECTION_BYTES);
        let json = section.and_then(|section| match section {
            [version, json @ ..] if VERSIONS.contains(version) => Some(json),
            _ => None,
        });
        json.and_then(|json| serde_json::from_slice(json).ok()).unwrap_or_default()
    }

    /// What is said of a function, as a description of a tool may be long.
    pub(super) fn of(&self, interface: Option<&str>, function: &str) -> Option<String> {
        let said = match interface {
            None => self
                .worlds
                .values()
                .find_map(|world| world.func_exports.get(function).or_else(|| world.funcs.get(function))),
            Some(interface) => self.interface(interface).and_then(|interface| interface.funcs.get(function)),
        };
        let text = match said? {
            FunctionDocumentation::Text(text) => text,
            FunctionDocumentation::Record { docs } => docs.as_ref()?,
        };
        let text = text::cut(text.trim(), MAX_DESCRIPTION_BYTES);
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn interface(&self, exported: &str) -> Option<&InterfaceDocumentation> {
        let unversioned = exported.split_once('@').map_or(exported, |(path, _)| path);
        match unversioned.split_once('/') {
            Some((_, name)) => self.interfaces.get(name),
            // It is written within the world.
            None => self.worlds.values().find_map(|world| {
                world.interface_exports.get(unversioned).or_else(|| world.interfaces.get(unversioned))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(section: &[u8]) -> Vec<u8> {
        let mut component = wasm_encoder::Component::new();
        component.section(&wasm_encoder::CustomSection { name: SECTION.into(), data: section.into() });
        component.finish()
    }

    #[test]
    fn functions_are_described_by_the_section_of_either_version() {
        let old = component(b"\0{\"interfaces\": {\"math\": {\"funcs\": {\"add\": \"Adds.\", \"empty\": \" \"}}}}");
        let old = Documentation::read(&old);
        assert_eq!(old.of(Some("docs:calc/math@1.0.0"), "add").as_deref(), Some("Adds."));
        assert_eq!((old.of(Some("docs:calc/math"), "empty"), old.of(Some("docs:calc/other"), "add")), (None, None));
        let new = b"\x01{\"worlds\": {\"w\": {\"docs\": \"A world.\", \"funcs\": {\"run\": {\"docs\": \"Runs.\", \
            \"stability\": {\"stable\": {\"since\": \"1.0.0\"}}}}, \"interface_exports\": {\"own\": {\"funcs\": \
            {\"go\": {\"docs\": \"Goes.\"}}}}}}}";
        let new = Documentation::read(&component(new));
        assert_eq!(
            (new.of(None, "run").as_deref(), new.of(Some("own"), "go").as_deref()),
            (Some("Runs."), Some("Goes."))
        );
    }

    #[test]
    fn a_section_that_cannot_be_read_says_nothing() {
        let long = [b"\x01".as_slice(), &vec![b' '; MAX_SECTION_BYTES], b"{}"].concat();
        for section in [&b""[..], b"\x02{}", b"\x01{\"interfaces\": 3}", b"\x01[", &long] {
            assert_eq!(Documentation::read(&component(section)).of(None, "run"), None);
        }
    }
}
