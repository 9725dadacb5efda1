//! The first-party plugins that are part of this binary: their components, and nothing of
//! what they may use.

use wharf_core::{Digest, PluginName};
use wharf_engine::{Component, PreparedComponent};

/// One of them.
pub(crate) struct Bundled {
    pub(crate) name: &'static str,
    digest: [u8; 32],
    /// Packed.
    component: &'static [u8],
    /// What was made of it when this binary was.
    prepared: Option<PreparedComponent>,
}

/// All of them, by name. No constant: each use of one would carry a copy of their bytes.
pub(crate) static PLUGINS: &[Bundled] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

impl Bundled {
    /// Its component, whose digest was made when this binary was.
    pub(crate) fn component(&self) -> Component {
        let component = Component::of_program(self.component, Digest::from_bytes(self.digest));
        match self.prepared {
            Some(prepared) => component.with_prepared(prepared),
            None => component,
        }
    }
}

/// The names of the plugins that are part of this binary.
pub fn names() -> impl Iterator<Item = PluginName> {
    PLUGINS.iter().filter_map(|bundled| bundled.name.parse().ok())
}

/// The bundled plugin of this name.
pub(crate) fn find(name: &str) -> Option<&'static Bundled> {
    PLUGINS.iter().find(|bundled| bundled.name == name)
}

/// The component of a plugin that is part of this program.
#[must_use]
pub fn component(name: &PluginName) -> Option<Component> {
    find(name.as_str()).map(Bundled::component)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wharf_engine::{Backends, Engine, EngineConfig};
    use wharf_state::MemoryStore;

    use super::*;

    #[test]
    fn what_was_prepared_for_another_runtime_is_made_anew() {
        // All of another plugin's, under names of no runtime.
        let of_another = find("browser").and_then(|other| other.prepared);
        let (Some(planning), Some(of_another)) = (find("planning"), of_another) else { return };
        let prepared = PreparedComponent { code_name: "another", metadata_name: "another", ..of_another };
        let engine = Engine::new(EngineConfig::default(), Backends::with_state(Arc::new(MemoryStore::default())));
        let name = planning.name.parse().expect("legal");
        let plugin = engine.load(name, planning.component().with_prepared(prepared)).expect("it is compiled");
        let tools: Vec<_> = plugin.tools().iter().map(|tool| tool.definition.name.as_str()).collect();
        assert!(tools.contains(&"create_goal"), "{tools:?}");
    }

    #[test]
    fn the_digest_of_each_is_that_of_its_bytes() {
        for bundled in PLUGINS {
            let component = bundled.component();
            assert_eq!(Digest::of(&component.bytes()), component.digest(), "{}", bundled.name);
            assert_eq!(component.size(), component.bytes().len() as u64, "{}", bundled.name);
        }
    }
}
