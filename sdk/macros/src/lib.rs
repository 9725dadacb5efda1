//! The macros of `wharf-sdk`: `#[tool]` makes a tool of a function, `#[prompt]` a
//! prompt, and `reasons!` says why the plugin asks for what it asks.
//!
//! They read a signature and write an implementation of a trait of `wharf_sdk`. It
//! knows nothing of schemas or JSON; the types in the signature do that.

mod arguments;
mod function;
mod prompt;
mod reasons;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a tool of a function.
///
/// The function is called as it stands, with one of these signatures; `Input`
/// derives `serde::Deserialize` and `schemars::JsonSchema`, and `Output` is
/// anything that implements `wharf_sdk::ToolOutput`:
///
/// ```text
/// fn name(call: &Call, input: Input) -> Result<Output, ToolError>
/// fn name(call: &Call) -> Result<Output, ToolError>
/// fn name(input: Input) -> Result<Output, ToolError>
/// fn name() -> Result<Output, ToolError>
/// ```
///
/// Options, all of them optional:
///
/// - `description = "…"`: for the model that chooses the tool. The function's
///   documentation comment where it is left out; one of the two must be there.
/// - `title = "…"`: a name for people.
/// - `name = "…"`: another name than the function's.
/// - `read_only`, `destructive`, `idempotent`, `open_world`: hints for clients.
/// - `timeout_milliseconds = 60_000`: how much wall-clock time a call may need.
///
/// List the tools of a crate in `wharf_sdk::plugin!(first, second);`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as arguments::Options);
    let function = parse_macro_input!(item as syn::ItemFn);
    beside(&function, function::expand(&options, &function))
}

/// Makes a prompt of a function: a text that a person chooses in the client.
///
/// The signatures are those of `#[tool]`. `Input` derives `serde::Deserialize` and
/// `schemars::JsonSchema`; its fields are the arguments, each a `String`, or an
/// `Option<String>` where the prompt goes without it, and their documentation is
/// what a person reads. Those that are needed are asked for first. `Output` is
/// anything that implements `wharf_sdk::prompt::PromptOutput`.
///
/// Options, all of them optional: `description = "…"`, where the function has no
/// documentation comment; `title = "…"`; `name = "…"`.
///
/// List the prompts of a crate in `wharf_sdk::plugin!(a_tool; prompts: [first, second]);`.
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as prompt::PromptOptions);
    let function = parse_macro_input!(item as syn::ItemFn);
    beside(&function, function::expand_prompt(&options, &function))
}

/// What a macro wrote. A function that it refuses stays, so that the refusal is the only error.
fn beside(function: &syn::ItemFn, written: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    let refused = |error: syn::Error| {
        let error = error.into_compile_error();
        quote::quote!(#function #error)
    };
    written.unwrap_or_else(refused).into()
}

/// Says why the plugin asks for what it asks, in its own words: `wharf grant` shows them to
/// the operator who decides.
///
/// Capabilities are `events`, `http`, `process`, `state`, `terminal`, `webview` and
/// `workspace`; a reason has at most 300 bytes. They stand in the component's custom
/// section `wharf-plugin`; once in a plugin.
///
/// ```
/// wharf_sdk_macros::reasons!(state = "counts visits", http = "asks the tracker for issues");
/// ```
#[proc_macro]
pub fn reasons(reasons: TokenStream) -> TokenStream {
    let reasons = parse_macro_input!(reasons as reasons::Reasons);
    reasons::expand(&reasons).into()
}
