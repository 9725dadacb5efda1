//! What a component exports, read from its bytes before anything is compiled: one that is no
//! plugin is then refused at once, however large it is.
//!
//! Says nothing of the types of what is exported. That is checked where it is linked.

use wasmparser::{ComponentExport, ComponentExternalKind, Parser, Payload};
use wharf_core::text;

use crate::{component::Component, error::LoadError};

/// The interface that makes a component a plugin, without the last number of its version:
/// those that differ in it alone link.
const TOOLS: &str = "wharf:plugin/tools@0.1";
/// What it is called in every version.
const ANY_TOOLS: &str = "wharf:plugin/tools@";
/// Exports that an error names.
const MAX_NAMED: usize = 8;
/// Bytes that it shows of a version.
const MAX_VERSION_BYTES: usize = 16;
/// Bytes that it shows of each.
const MAX_NAME_BYTES: usize = 96;

/// Refuses a component that does not export its tools.
pub(crate) fn check(component: &Component) -> Result<(), LoadError> {
    let bytes = component.bytes();
    let exports = Exports::read(&bytes);
    let exports = exports.map_err(|error| LoadError::Malformed(text::visible(error.to_string())))?;
    match (component.exports_functions(), exports.has_tools) {
        (false, true) => Ok(()),
        (false, false) if exports.may_have_functions => Err(LoadError::Functions(exports.described())),
        (false, false) => Err(LoadError::World(exports.described())),
        (true, true) => Err(LoadError::HasTools),
        (true, false) if exports.may_have_functions => Ok(()),
        (true, false) => Err(LoadError::NoFunctions(exports.described())),
    }
}

/// What a component itself exports, and not those within it.
#[derive(Default)]
struct Exports<'c> {
    has_tools: bool,
    /// The version of another contract that it is made for.
    other_contract: Option<&'c str>,
    /// Whether it exports a function, or an interface that is not one of WASI.
    may_have_functions: bool,
    /// The first of them: a component may have millions.
    names: Vec<&'c str>,
    count: u64,
}

impl<'c> Exports<'c> {
    fn read(component: &'c [u8]) -> wasmparser::Result<Self> {
        let mut exports = Self::default();
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(component) {
            match payload? {
                // Each of them ends by itself, as the component does.
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth = depth.saturating_add(1),
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        exports.note(&export?);
                    }
                }
                _ => {}
            }
        }
        Ok(exports)
    }

    fn note(&mut self, export: &ComponentExport<'c>) {
        let name = export.name.name;
        let rest = name.strip_prefix(TOOLS).filter(|_| export.kind == ComponentExternalKind::Instance);
        let has_tools = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.has_tools |= has_tools;
        self.other_contract = self.other_contract.or(name.strip_prefix(ANY_TOOLS).filter(|_| !has_tools));
        self.may_have_functions |= match export.kind {
            ComponentExternalKind::Func => true,
            ComponentExternalKind::Instance => !name.starts_with("wasi:") && !name.starts_with("wharf:plugin/"),
            _ => false,
        };
        self.count += 1;
        if self.names.len() < MAX_NAMED {
            self.names.push(name);
        }
    }

    fn described(&self) -> String {
        if self.names.is_empty() {
            return "it exports nothing".to_owned();
        }
        let names = self.names.iter().map(|name| format!("`{}`", text::line(name, MAX_NAME_BYTES)));
        let more = self.count.saturating_sub(self.names.len() as u64);
        let more = (more > 0).then(|| format!("{more} more"));
        let made_for = self.other_contract.map(|version| {
            let version = text::line(version, MAX_VERSION_BYTES);
            format!(" (it is made for the contract {version}, and this host has 0.1)")
        });
        let names = names.chain(more).collect::<Vec<_>>().join(", ");
        format!("it exports {names}{}", made_for.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wasm_encoder::{ComponentExportKind, ComponentExportSection, NestedComponentSection};
    use wharf_core::HostLimits;
    use wharf_state::MemoryStore;

    use super::*;
    use crate::{Backends, Engine, EngineConfig};

    /// A component that exports an empty instance of each of these names.
    fn exporting(names: &[&str]) -> wasm_encoder::Component {
        let mut component = wasm_encoder::Component::new();
        let mut instances = wasm_encoder::ComponentInstanceSection::new();
        instances.export_items(std::iter::empty::<(&str, ComponentExportKind, u32)>());
        component.section(&instances);
        let mut exports = ComponentExportSection::new();
        for name in names {
            exports.export(*name, ComponentExportKind::Instance, 0, None);
        }
        component.section(&exports);
        component
    }

    /// What an engine makes of it that has no time to compile anything.
    fn loaded(component: Vec<u8>) -> LoadError {
        let limits = HostLimits { compile_milliseconds: 0, ..HostLimits::default() };
        let config = EngineConfig { limits, ..EngineConfig::default() };
        let engine = Engine::new(config, Backends::with_state(Arc::new(MemoryStore::default())));
        let name = "plain".parse().expect("legal");
        engine.load(name, Component::new(component)).expect_err("it is no plugin")
    }

    #[test]
    fn a_component_that_exports_no_tools_is_refused_and_nothing_is_compiled() {
        let told = loaded(exporting(&["wasi:cli/run@0.2.3", "wharf:plugin/tools@0.2.0"]).finish()).to_string();
        assert!(told.contains("does not export wharf:plugin/tools@0.1"), "{told}");
        assert!(told.contains("it exports `wasi:cli/run@0.2.3`, `wharf:plugin/tools@0.2.0`"), "{told}");
        assert!(told.contains("build it for the world wharf:plugin/plugin"), "{told}");
        for version in ["0.2.0", "0.0.9", "1.0.0", "0.10.0"] {
            let told = loaded(exporting(&[&format!("wharf:plugin/tools@{version}")]).finish()).to_string();
            assert!(told.contains(&format!("made for the contract {version}, and this host has 0.1")), "{told}");
        }
        let nothing = loaded(wasm_encoder::Component::new().finish());
        assert!(matches!(&nothing, LoadError::World(why) if why == "it exports nothing"), "{nothing}");
        for version in ["0.1.0", "0.1.5", "0.1.17"] {
            let component = exporting(&[&format!("wharf:plugin/tools@{version}")]).finish();
            assert!(check(&Component::new(component)).is_ok(), "{version}");
        }
    }

    #[test]
    fn what_a_component_within_exports_does_not_count() {
        let mut outer = wasm_encoder::Component::new();
        outer.section(&NestedComponentSection(&exporting(&["wharf:plugin/tools@0.1.5"])));
        let told = loaded(outer.finish());
        assert!(matches!(&told, LoadError::World(why) if why == "it exports nothing"), "{told}");
    }

    #[test]
    fn many_and_long_names_are_cut() {
        let long = format!("a{}", "b".repeat(5_000));
        let names: Vec<_> = (0..40).map(|number| format!("{long}{number}")).collect();
        let told = loaded(exporting(&names.iter().map(String::as_str).collect::<Vec<_>>()).finish()).to_string();
        assert!(told.len() < 1_500 && told.contains("32 more"), "{told}");
    }

    #[test]
    fn what_ends_too_early_is_damaged() {
        let whole = exporting(&["wharf:plugin/tools@0.1.5"]).finish();
        for cut in [9, 10, whole.len() - 1] {
            let told = loaded(whole[..cut].to_vec());
            assert!(matches!(told, LoadError::Malformed(_)), "{cut}: {told}");
        }
    }
}
