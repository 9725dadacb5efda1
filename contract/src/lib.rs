//! What Wharf and its plugins say to each other where the types of WIT end: in
//! words, and in texts of JSON.
//!
//! The functions and records of the contract stand in `wit/`, which this crate
//! carries and [`bindings!`] hands to a generator of bindings. Lists that may grow
//! are strings there: an error's code, a signal's name, a state, an operation and
//! its parameters. This crate has each of these once, for the host, which says or
//! checks it, and for the SDK, which reads or sends it. The modules are named as
//! the interfaces are, but for [`turn`], whose words `terminal` and `events` share.
//!
//! # Words
//! A *closed* list, such as [`process::Signal`], has every word that this
//! version of the contract knows. The side that sends a word uses it, and a new
//! word makes every `match` on it fail to compile.
//!
//! An *open* list, such as [`process::AnyStatus`], is the same list with a place
//! for words of later versions. The side that reads a word uses it: a plugin that
//! was built today reads what a host says in years. The type's documentation says
//! what an unknown word is to be taken for.
//!
//! A word is written the same everywhere: in WIT's strings, in JSON, in
//! configurations. It is never translated, and its case matters.
//!
//! # Shapes
//! Structures that WIT carries as "the text of a JSON object" are types with
//! `serde`'s traits. Members that the contract calls optional are left out, not
//! `null`, unless the type's documentation says otherwise. A reader of what the host writes
//! takes defaults for missing members and ignores unknown ones. The host refuses what a
//! plugin writes where a member is unknown: a misspelt option must not pass silently.
//!
//! # What this crate must never know
//! It performs no I/O, checks no limits and decides nothing. It knows neither
//! the host's crates nor Wasm, and depends on `serde` alone; the feature `schema`
//! adds `schemars::JsonSchema` for plugins that describe their own inputs with these words.

mod words;

pub mod caller;
pub mod completion;
pub mod events;
pub mod log;
pub mod process;
pub mod prompts;
pub mod state;
pub mod terminal;
pub mod tools;
pub mod turn;
pub mod types;
pub mod webview;

pub use words::UnknownWord;

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));

/// Reads a member that may be absent, and may not be `null`.
fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Whether a member says nothing that its absence does not say.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}
