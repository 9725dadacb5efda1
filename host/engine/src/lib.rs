//! The wall: runs plugins as Wasm components, each call in an instance of its own, under
//! limits, with its grants and nothing else.
//!
//! A [`Call`] takes one path. [`Plugin`] hands it to `execution`, which makes an `ActiveCall`
//! of it, instantiates the component and calls the function. Each function that the guest
//! calls in turn passes `watch`, which counts it and tells the audit, and reaches the adapter
//! of its interface, which checks the grant, asks the backend and converts. `answer` checks what
//! comes back.
//!
//! This is the only crate that names wasmtime. It knows no protocol, reads no configuration,
//! and holds no logic of a capability.

mod about;
mod adapter;
mod answer;
mod backends;
mod bindings;
mod bucket;
mod budget;
mod cache;
mod call;
mod clock;
mod coarse;
#[cfg(target_os = "linux")]
mod code;
mod compile;
mod compiled;
mod component;
mod epoch;
mod error;
mod execution;
mod exports;
mod failure;
mod files;
mod forwarded;
mod function;
mod functions;
mod guest;
mod inspection;
mod isolation;
mod kept;
mod languages;
mod limiter;
mod load;
mod manifest;
mod metadata;
mod offering;
mod packed;
mod plugin;
mod prepared;
mod runtime;
mod schedule;
mod shared;
mod source;
mod start;
mod stdio;
mod ticker;
mod watch;

pub use about::{ComponentAbout, library_lists};
pub use backends::{Backends, NoWebViews};
pub use call::{Call, PluginPolicy};
pub use coarse::{ClockResolution, InvalidResolution};
pub use compiled::CompiledProbe;
pub use component::Component;
pub use error::{EngineError, LoadError};
pub use function::Completing;
pub use inspection::Inspection;
pub use isolation::{IsolationConfig, WorkersBy};
pub use languages::LanguageRuntime;
pub use load::Engine;
pub use packed::pack;
pub use plugin::Plugin;
pub use prepared::{NewlyPrepared, PreparedComponent};
pub use shared::EngineConfig;
pub use start::StartReport;
pub use wharf_core::Tool;
