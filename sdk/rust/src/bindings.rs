//! Generated from the contract in `wit/`: the raw types and imports.
//!
//! A plugin needs none of it; [`crate::plugin!`] and [`crate::Call`] stand in
//! front. It is public for guests that must say what the SDK would never say.

#![allow(missing_docs, unsafe_code, clippy::all, reason = "generated; the contract documents it")]
#![allow(unreachable_pub, clippy::unwrap_used, reason = "generated")]

wharf_contract::bindings!(wit_bindgen::generate, {
    world: "everything",
    pub_export_macro: true,
    default_bindings_module: "wharf_sdk::bindings",
});

/// What a plugin exports that has prompts.
pub mod prompts {
    wharf_contract::bindings!(wit_bindgen::generate, {
        world: "with-prompts",
        with: { "wharf:plugin/types@0.1.5": crate::bindings::wharf::plugin::types },
        pub_export_macro: true,
        default_bindings_module: "wharf_sdk::bindings::prompts",
    });
}

/// What a plugin exports that has resources.
pub mod resources {
    wharf_contract::bindings!(wit_bindgen::generate, {
        world: "with-resources",
        with: { "wharf:plugin/types@0.1.5": crate::bindings::wharf::plugin::types },
        pub_export_macro: true,
        default_bindings_module: "wharf_sdk::bindings::resources",
    });
}

/// What a plugin exports that completes words.
pub mod completion {
    wharf_contract::bindings!(wit_bindgen::generate, {
        world: "with-completion",
        with: { "wharf:plugin/types@0.1.5": crate::bindings::wharf::plugin::types },
        pub_export_macro: true,
        default_bindings_module: "wharf_sdk::bindings::completion",
    });
}
