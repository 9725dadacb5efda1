//! Generated from the contract in `wit/`: the raw types and imports.
//!
//! A plugin needs none of it; [`crate::plugin!`] and [`crate::Call`] stand in
//! front. It is public for guests that must say what the SDK would never say.

#![allow(missing_docs, unsafe_code, clippy::all, reason = "generated; the contract documents it")]
#![allow(unreachable_pub, clippy::unwrap_used, reason = "generated")]

wit_bindgen::generate!({
    path: "../../wit",
    world: "everything",
    pub_export_macro: true,
    default_bindings_module: "wharf_sdk::bindings",
});
