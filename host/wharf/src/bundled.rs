//! The first-party plugins that are part of this binary.

use wharf_core::{Grants, StateGrant};

/// Name and component of each.
pub(crate) const PLUGINS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// The component of a bundled plugin.
pub(crate) fn component(name: &str) -> Option<&'static [u8]> {
    PLUGINS.iter().find(|(bundled, _)| *bundled == name).map(|(_, component)| *component)
}

/// What a bundled plugin may use where the configuration says nothing: state,
/// and no other capability.
pub(crate) fn grants() -> Grants {
    Grants { state: Some(StateGrant::with_reason("first-party plugins keep their state")), events: None }
}
