//! What a plugin for the Wharf host imports.
//!
//! A plugin is a library that is compiled to a Wasm component. It offers tools;
//! the host runs each call in a fresh instance that sees nothing but what it is
//! handed. A whole plugin:
//!
//! ```
//! use wharf_sdk::{Call, Reply, Scope, ToolError, tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Visit {
//!     /// Whom to greet.
//!     name: String,
//! }
//!
//! #[derive(serde::Serialize, schemars::JsonSchema)]
//! struct Visits {
//!     count: u64,
//! }
//!
//! /// Greets somebody and counts how often they came in this session.
//! #[tool(title = "Greet")]
//! fn greet(call: &Call, input: Visit) -> Result<Reply<Visits>, ToolError> {
//!     let visits = call.state(Scope::Session, "visits")?;
//!     let count = visits.update(&input.name, |count: &mut u64| {
//!         *count += 1;
//!         Ok(*count)
//!     })?;
//!     Ok(Reply::new(format!("Welcome, {}. Visit {count}.", input.name), Visits { count }))
//! }
//!
//! wharf_sdk::plugin!(greet);
//!
//! // Its test needs no Wasm:
//! let host = wharf_sdk::testing::TestCall::new().session("a");
//! let visit = serde_json::json!({ "name": "Ada" });
//! assert_eq!(host.run::<WharfPlugin>("greet", &visit).as_text(), "Welcome, Ada. Visit 1.");
//! assert_eq!(host.run::<WharfPlugin>("greet", &visit).as_text(), "Welcome, Ada. Visit 2.");
//! assert_eq!(host.clone().session("b").run::<WharfPlugin>("greet", &visit).as_text(), "Welcome, Ada. Visit 1.");
//! ```
//!
//! `Cargo.toml` names `wharf-sdk`, `serde` (with `derive`) and `schemars`, and
//! makes a component of the library:
//!
//! ```toml
//! [lib]
//! crate-type = ["cdylib", "rlib"]
//! ```
//!
//! ```text
//! cargo build --release --target wasm32-wasip2
//! ```
//!
//! # What is where
//!
//! - [`tool`] makes a tool of a function; its types become the schemas.
//!   [`plugin!`] lists the tools of a crate.
//! - [`Call`] is the call that is answered: on whose behalf it runs, its state,
//!   how much time is left, progress and log.
//! - [`Bucket`] holds what must outlive the call; [`Bucket::update`] changes it
//!   safely though other calls change it too.
//! - [`Call::processes`] starts and follows child processes of the host
//!   ([`process`]), [`Call::terminals`] interactive ones ([`terminal`]),
//!   [`Call::web_pages`] drives web pages ([`webview`]), and
//!   [`Call::workspace`] finds the files of the session ([`workspace`]).
//! - [`Call::http`] sends HTTP requests ([`http`]); the operator's secrets are added to
//!   them by the host.
//! - [`prompt`](macro@prompt) makes a prompt of a function, [`Resources`] is what
//!   there is to read, [`Completion`] completes words.
//! - [`InputRequired`] asks a person, or the client's model, in the middle of a
//!   call; [`Call::input`] has what was given.
//! - [`Call::open_stream`] tells clients that follow over HTTP how lengthy work goes.
//! - [`ToolError`] is why a tool could not do it. The model reads it.
//! - [`excerpt`] and [`text`] cut long output to what a model can take, [`check`] refuses input
//!   that a schema lets through.
//! - [`testing`] is the host in memory, for `cargo test`.
//!
//! # What a component asks for
//!
//! Only what its code uses: a tool that never opens state does not import the
//! state interface, and the operator is not asked to grant it.
//!
//! # Memory
//!
//! On Wasm the SDK installs an allocator that serves small calls from a static
//! region, which makes a fresh instance about half as expensive. Without the
//! feature `arena-allocator`, which is on by default, it does not.

mod answer;
#[cfg(any(all(target_family = "wasm", feature = "arena-allocator"), test))]
mod arena;
pub mod bindings;
mod call;
pub mod check;
pub mod clock;
pub mod completion;
mod error;
pub mod excerpt;
#[cfg(target_family = "wasm")]
mod guest;
mod host;
pub mod http;
mod input;
mod numbers;
pub mod process;
pub mod prompt;
pub mod resource;
mod schema;
mod state;
mod stream;
pub mod terminal;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
pub mod text;
mod tool;
mod update;
pub mod webview;
#[cfg(target_family = "wasm")]
mod wit_host;
pub mod workspace;

pub use answer::{Answer, Content, Reply, Text, ToolOutput};
pub use call::{Call, Level};
pub use completion::{Completion, CompletionOf, Completions, Typed};
pub use error::{ErrorCode, ToolError};
pub use input::{Input, InputRequired, Round};
pub use prompt::{Prompt, PromptArgument, PromptDefinition, PromptReply, Prompts, Role};
pub use resource::{Changed, Resource, ResourcePart, ResourceTemplate, Resources};
pub use schema::second_name;
pub use state::{Bucket, Change, Entry, ScanPage, Scope, Usage};
pub use stream::{EventStream, StreamStatus};
#[doc(hidden)]
pub use tool::macro_support;
pub use tool::{NoInput, Plugin, Tool, ToolDefinition, ToolDetails};
/// The words and shapes of the contract, each as a closed list too.
pub use wharf_contract as contract;
pub use wharf_sdk_macros::{prompt, reasons, tool};

/// The chapters of the book on writing plugins: their code is compiled and run.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/src/writing/index.md")]
    struct Index;
    #[doc = include_str!("../../../docs/src/writing/tools.md")]
    struct Tools;
    #[doc = include_str!("../../../docs/src/writing/state.md")]
    struct State;
    #[doc = include_str!("../../../docs/src/writing/offers.md")]
    struct Offers;
    #[doc = include_str!("../../../docs/src/writing/capabilities.md")]
    struct Capabilities;
    #[doc = include_str!("../../../docs/src/writing/http.md")]
    struct Http;
    #[doc = include_str!("../../../docs/src/writing/testing.md")]
    struct Testing;
}
