//! The first-party plugins that are part of this binary.

use wharf_core::{Digest, Grants, StateGrant};
use wharf_engine::Component;

/// One of them.
pub(crate) struct Bundled {
    pub(crate) name: &'static str,
    digest: [u8; 32],
    component: &'static [u8],
}

/// All of them, by name.
pub(crate) const PLUGINS: &[Bundled] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

impl Bundled {
    /// Its component, whose digest was made when this binary was.
    pub(crate) fn component(&self) -> Component {
        Component::with_digest(self.component, Digest::from_bytes(self.digest))
    }
}

/// The bundled plugin of this name.
pub(crate) fn find(name: &str) -> Option<&'static Bundled> {
    PLUGINS.iter().find(|bundled| bundled.name == name)
}

/// What a bundled plugin may use where the configuration says nothing: state,
/// and no other capability.
pub(crate) fn grants() -> Grants {
    Grants { state: Some(StateGrant::with_reason("first-party plugins keep their state")), events: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_each_is_that_of_its_bytes() {
        for bundled in PLUGINS {
            assert_eq!(Digest::of(bundled.component), Digest::from_bytes(bundled.digest), "{}", bundled.name);
        }
    }
}
