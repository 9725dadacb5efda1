//! What a tool and a plugin are, and the macro that makes one of the other.

use std::time::Duration;

use wharf_contract::tools;

use crate::answer::{Answer, ToolOutput};
use crate::{Call, ToolError, schema};

/// A tool as the host lists it. `#[tool]` writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinition {
    /// Unique within the plugin.
    pub name: &'static str,
    /// For the model that chooses.
    pub description: &'static str,
    /// JSON Schema of the arguments.
    pub input_schema: String,
    /// JSON Schema of the structured answer.
    pub output_schema: Option<String>,
    /// What else `#[tool]` was told.
    pub details: ToolDetails,
}

/// The options of `#[tool]` besides name and description.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolDetails {
    /// A name for people.
    pub title: Option<&'static str>,
    /// Changes nothing.
    pub read_only: bool,
    /// Destroys or overwrites something.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// Reaches things outside, such as the web.
    pub open_world: bool,
    /// How much wall-clock time a call may need.
    pub timeout: Option<Duration>,
}

impl ToolDetails {
    /// The tool's `meta` in the contract: JSON text of an object.
    #[must_use]
    pub fn to_meta(self) -> String {
        let mut meta = serde_json::json!({
            (tools::ANNOTATIONS): {
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.idempotent,
                "openWorldHint": self.open_world,
            },
        });
        if let Some(title) = self.title {
            meta[tools::TITLE] = title.into();
        }
        if let Some(timeout) = self.timeout {
            meta[tools::TIMEOUT_MILLISECONDS] = crate::process::milliseconds(timeout).into();
        }
        meta.to_string()
    }
}

/// One tool. `#[tool]` implements it for a type of the function's name.
pub trait Tool {
    /// Its name.
    const NAME: &'static str;

    /// How the host lists it.
    fn definition() -> ToolDefinition;

    /// Runs it on the JSON text of its arguments.
    ///
    /// # Errors
    /// Whatever the tool fails with; `invalid` for arguments of another shape.
    fn run(call: &Call, arguments: &str) -> Result<Answer, ToolError>;
}

/// All tools of a component. [`plugin!`](crate::plugin) implements it.
pub trait Plugin {
    /// Every tool, in the order in which they were given.
    fn definitions() -> Vec<ToolDefinition>;

    /// Runs the tool `name`; none where there is no such tool.
    fn run(call: &Call, name: &str, arguments: &str) -> Option<Result<Answer, ToolError>>;
}

/// The input of a tool that takes none.
#[derive(Debug, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct NoInput {}

/// What the macros write calls to. No part of the SDK's promise.
#[doc(hidden)]
pub mod macro_support {
    use super::*;
    pub use crate::prompt::PromptResult;
    use crate::prompt::{self, PromptDefinition, PromptReply};

    /// What a tool function returns: a `Result` of something to answer.
    pub trait ToolResult {
        /// What it answers.
        type Output: ToolOutput;

        /// The same with the error of all tools.
        fn into_result(self) -> Result<Self::Output, ToolError>;
    }

    impl<T: ToolOutput, E: Into<ToolError>> ToolResult for Result<T, E> {
        type Output = T;

        fn into_result(self) -> Result<T, ToolError> {
            self.map_err(Into::into)
        }
    }

    /// The definition of a tool by the types of its function.
    #[must_use]
    pub fn definition<I: schemars::JsonSchema, R: ToolResult>(
        name: &'static str,
        description: &'static str,
        details: ToolDetails,
        _function: impl Fn(&Call, I) -> R,
    ) -> ToolDefinition {
        ToolDefinition {
            name,
            description,
            input_schema: schema::input::<I>(),
            output_schema: R::Output::output_schema(),
            details,
        }
    }

    /// What is wrong with arguments. Where in the text that was tells a model nothing.
    fn without_place(error: &serde_json::Error) -> String {
        let told = error.to_string();
        match told.rsplit_once(" at line ") {
            Some((told, place)) if place.starts_with(|digit: char| digit.is_ascii_digit()) => told.to_owned(),
            _ => told,
        }
    }

    /// Reads the arguments, runs the function, makes the answer.
    ///
    /// # Errors
    /// `invalid` where the arguments have another shape; else the function's.
    pub fn run<I: serde::de::DeserializeOwned, R: ToolResult>(
        call: &Call,
        arguments: &str,
        function: impl Fn(&Call, I) -> R,
    ) -> Result<Answer, ToolError> {
        let input = serde_json::from_str(arguments)
            .or_else(|error| crate::numbers::read_with_whole_numbers(arguments).ok_or(error))
            .map_err(|error| {
                ToolError::invalid(format!("the arguments do not fit this tool: {}", without_place(&error)))
            })?;
        function(call, input).into_result()?.into_answer()
    }

    /// The definition of a prompt by the types of its function.
    #[must_use]
    pub fn prompt_definition<I: schemars::JsonSchema, R: PromptResult>(
        name: &'static str,
        description: &'static str,
        title: Option<&'static str>,
        function: impl Fn(&Call, I) -> R,
    ) -> PromptDefinition {
        prompt::definition(name, description, title, function)
    }

    /// Reads the arguments of a prompt, runs its function, makes the reply.
    ///
    /// # Errors
    /// `invalid` where the arguments have another shape; else the function's.
    pub fn run_prompt<I: serde::de::DeserializeOwned, R: PromptResult>(
        call: &Call,
        arguments: &str,
        function: impl Fn(&Call, I) -> R,
    ) -> Result<PromptReply, ToolError> {
        prompt::run(call, arguments, function)
    }

    /// Whether every name is there once; the macro makes it a compile error.
    #[must_use]
    pub const fn distinct(names: &[&str]) -> bool {
        let mut first = 0;
        while first < names.len() {
            let mut second = first + 1;
            while second < names.len() {
                if equal(names[first].as_bytes(), names[second].as_bytes()) {
                    return false;
                }
                second += 1;
            }
            first += 1;
        }
        true
    }

    const fn equal(left: &[u8], right: &[u8]) -> bool {
        if left.len() != right.len() {
            return false;
        }
        let mut index = 0;
        while index < left.len() {
            if left[index] != right[index] {
                return false;
            }
            index += 1;
        }
        true
    }
}

/// Makes a plugin of tools: `wharf_sdk::plugin!(echo, other);`, once a crate.
///
/// What else it offers follows, each behind a semicolon and in this order, where
/// it is there:
///
/// ```text
/// wharf_sdk::plugin!(echo, other; prompts: [review, explain]; resources: Manual; completion: Words);
/// ```
///
/// It defines the type `WharfPlugin`, which [`crate::testing`] runs natively,
/// and on Wasm exports it to the host: only what is named here.
#[macro_export]
macro_rules! plugin {
    (
        $($tool:ty),* $(,)?
        $(; prompts: [$($prompt:ty),+ $(,)?])?
        $(; resources: $resources:ty)?
        $(; completion: $completion:ty)?
        $(;)?
    ) => {
        /// The tools of this plugin, and what else it offers.
        #[derive(Debug, Clone, Copy)]
        pub struct WharfPlugin;

        const _: () = assert!(
            $crate::macro_support::distinct(&[$(<$tool as $crate::Tool>::NAME),*]),
            "two tools of this plugin have the same name"
        );

        impl $crate::Plugin for WharfPlugin {
            fn definitions() -> ::std::vec::Vec<$crate::ToolDefinition> {
                ::std::vec![$(<$tool as $crate::Tool>::definition()),*]
            }

            #[allow(unused_variables, reason = "a plugin may have no tools")]
            fn run(
                call: &$crate::Call,
                name: &str,
                arguments: &str,
            ) -> ::std::option::Option<::std::result::Result<$crate::Answer, $crate::ToolError>> {
                $(if name == <$tool as $crate::Tool>::NAME {
                    return ::std::option::Option::Some(<$tool as $crate::Tool>::run(call, arguments));
                })*
                ::std::option::Option::None
            }
        }

        #[cfg(target_family = "wasm")]
        $crate::bindings::export!(WharfPlugin with_types_in $crate::bindings);

        $(
            const _: () = assert!(
                $crate::macro_support::distinct(&[$(<$prompt as $crate::Prompt>::NAME),+]),
                "two prompts of this plugin have the same name"
            );

            impl $crate::Prompts for WharfPlugin {
                fn prompts() -> ::std::vec::Vec<$crate::PromptDefinition> {
                    ::std::vec![$(<$prompt as $crate::Prompt>::definition()),+]
                }

                fn make(
                    call: &$crate::Call,
                    name: &str,
                    arguments: &str,
                ) -> ::std::option::Option<::std::result::Result<$crate::PromptReply, $crate::ToolError>> {
                    $(if name == <$prompt as $crate::Prompt>::NAME {
                        return ::std::option::Option::Some(<$prompt as $crate::Prompt>::run(call, arguments));
                    })+
                    ::std::option::Option::None
                }
            }

            #[cfg(target_family = "wasm")]
            $crate::bindings::prompts::export!(WharfPlugin with_types_in $crate::bindings::prompts);
        )?

        $(
            impl $crate::Resources for WharfPlugin {
                const CLAIMS: &'static [&'static str] = <$resources as $crate::Resources>::CLAIMS;

                fn templates() -> ::std::vec::Vec<$crate::ResourceTemplate> {
                    <$resources as $crate::Resources>::templates()
                }

                fn list(
                    call: &$crate::Call,
                ) -> ::std::result::Result<::std::vec::Vec<$crate::Resource>, $crate::ToolError> {
                    <$resources as $crate::Resources>::list(call)
                }

                fn read(
                    call: &$crate::Call,
                    uri: &str,
                ) -> ::std::result::Result<::std::vec::Vec<$crate::ResourcePart>, $crate::ToolError> {
                    <$resources as $crate::Resources>::read(call, uri)
                }
            }

            #[cfg(target_family = "wasm")]
            $crate::bindings::resources::export!(WharfPlugin with_types_in $crate::bindings::resources);
        )?

        $(
            impl $crate::Completion for WharfPlugin {
                fn complete(
                    call: &$crate::Call,
                    typed: &$crate::Typed<'_>,
                ) -> ::std::result::Result<$crate::Completions, $crate::ToolError> {
                    <$completion as $crate::Completion>::complete(call, typed)
                }
            }

            #[cfg(target_family = "wasm")]
            $crate::bindings::completion::export!(WharfPlugin with_types_in $crate::bindings::completion);
        )?
    };
}
