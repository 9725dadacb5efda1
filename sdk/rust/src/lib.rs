//! What a plugin for the Wharf host imports.

mod answer;
#[cfg(all(target_family = "wasm", feature = "arena-allocator"))]
mod arena;
pub mod bindings;
mod call;
mod error;
#[cfg(target_family = "wasm")]
mod guest;
mod host;
mod schema;
mod state;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod tool;
mod update;
#[cfg(target_family = "wasm")]
mod wit_host;

pub use answer::{Answer, Content, Reply, Text, ToolOutput};
pub use call::{Call, Level};
pub use error::{ErrorCode, ToolError};
pub use state::{Bucket, Change, Entry, Page, Scope, Usage};
#[doc(hidden)]
pub use tool::macro_support;
pub use tool::{NoInput, Plugin, Tool, ToolDefinition, ToolDetails};
pub use wharf_sdk_macros::tool;
