//! Completion: words that complete what a person types for an argument.

use serde_json::{Map, Value};

use crate::{Call, ToolError};

/// What words are to be completed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionOf<'c> {
    /// An argument of this prompt.
    Prompt(&'c str),
    /// A variable of the template with this address.
    Template(&'c str),
}

/// A word that is to be completed.
#[derive(Debug, Clone, PartialEq)]
pub struct Typed<'c> {
    /// Of what.
    pub of: CompletionOf<'c>,
    /// The name of the argument or variable.
    pub argument: &'c str,
    /// What there is of it.
    pub text: &'c str,
    /// The arguments that are filled already, as texts.
    pub others: Map<String, Value>,
}

/// What may be meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completions {
    /// The best first; the host shows 100.
    pub values: Vec<String>,
    /// How many there are in all, where that is known.
    pub total: Option<u32>,
    /// Whether there are more.
    pub has_more: bool,
}

impl Completions {
    /// Those of `words` that start with what was typed, whatever their case.
    #[must_use]
    pub fn starting_with<'w>(typed: &str, words: impl IntoIterator<Item = &'w str>) -> Self {
        let typed = typed.to_lowercase();
        let fitting = words.into_iter().filter(|word| word.to_lowercase().starts_with(&typed));
        let values: Vec<String> = fitting.map(str::to_owned).collect();
        Self { total: u32::try_from(values.len()).ok(), values, has_more: false }
    }
}

/// What completes words; `plugin!(…; completion: Words)` exports it.
///
/// ```
/// use wharf_sdk::{Call, Completion, CompletionOf, Completions, Text, ToolError, Typed, prompt, testing::TestCall};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Translate {
///     /// Into which language.
///     language: String,
/// }
///
/// /// Asks for a translation.
/// #[prompt]
/// fn translate(input: Translate) -> Result<Text, ToolError> {
///     Ok(Text(format!("Translate into {}.", input.language)))
/// }
///
/// struct Words;
///
/// impl Completion for Words {
///     fn complete(_call: &Call, typed: &Typed<'_>) -> Result<Completions, ToolError> {
///         match (&typed.of, typed.argument) {
///             (CompletionOf::Prompt("translate"), "language") => {
///                 Ok(Completions::starting_with(typed.text, ["Danish", "Dutch", "Finnish"]))
///             }
///             _ => Ok(Completions::default()),
///         }
///     }
/// }
///
/// wharf_sdk::plugin!(; prompts: [translate]; completion: Words);
///
/// let host = TestCall::new();
/// let completions = host.complete::<WharfPlugin>(CompletionOf::Prompt("translate"), "language", "d")?;
/// assert_eq!(completions.values, ["Danish", "Dutch"]);
/// # Ok::<(), ToolError>(())
/// ```
pub trait Completion {
    /// Completes a word. Asked with each key that is typed: it should be quick.
    ///
    /// # Errors
    /// Whatever it fails with.
    fn complete(call: &Call, typed: &Typed<'_>) -> Result<Completions, ToolError>;
}
