//! How a script may be meant: an expression, statements that end in one, or a body
//! that returns. Forms that can mean only one thing are tried first.
//!
//! Nothing here parses JavaScript. Each guess is written so that a wrong one cannot
//! be parsed: the text that a guess adds has a parenthesis that opens right where
//! the script is split and one that closes on a line of its own behind it. Where the
//! split is inside of a string, template, comment, regular expression, block or
//! parenthesis, that swallows the first or does not match the second.
//!
//! What wraps a script is one line before it, so that engines count its lines from 2.

use std::sync::LazyLock;

/// The wrapper, as one line.
static PACK: LazyLock<String> = LazyLock::new(|| one_line(include_str!("pack.js")));

/// JavaScript of ours, whose statements all have their semicolons, as one line.
fn one_line(source: &str) -> String {
    source.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

/// A tail that begins so could go on with what is before the line break.
const GOES_ON: [char; 9] = ['(', '[', '`', '/', '+', '-', '*', '.', ','];

/// How many semicolons are tried, from the last one on.
const SPLITS: usize = 3;

/// The bodies of a function that a script may be, the first that can be parsed.
pub(crate) fn bodies(script: &str) -> Vec<String> {
    let bare = bare(script);
    let mut bodies = Vec::new();
    if !bare.trim_start().is_empty() {
        bodies.push(format!("return (\n{bare}\n)"));
    }
    // The last one may be in a comment or a text.
    for (at, _) in bare.rmatch_indices(';').take(SPLITS) {
        bodies.push(format!("\n{};return ({}\n)", &bare[..at], &bare[at + 1..]));
    }
    if let Some((head, tail)) = after_block(bare) {
        bodies.push(format!("\n{head}}};return ({tail}\n)"));
    }
    bodies.push(format!("\n{script}"));
    bodies
}

/// A script without the blanks, semicolons and comments of whole lines at its end.
/// What is cut off inside of something leaves that without its end, so that nothing
/// made of it can be parsed.
fn bare(script: &str) -> &str {
    let mut bare = script;
    loop {
        bare = bare.trim_end_matches(|character: char| character.is_whitespace() || character == ';');
        let line = bare.rfind('\n').map_or(0, |end| end + 1);
        if !bare[line..].trim_start().starts_with("//") {
            return bare;
        }
        bare = &bare[..line];
    }
}

/// Splits behind the last block that ends its line, without its brace.
fn after_block(script: &str) -> Option<(&str, &str)> {
    let mut end = script.len();
    while let Some(brace) = script[..end].rfind('}') {
        let tail = &script[brace + 1..];
        let rest = tail.trim_start_matches([' ', '\t', '\r']);
        if rest.starts_with('\n') {
            let begins = rest.trim_start().chars().next()?;
            return (!GOES_ON.contains(&begins)).then_some((&script[..brace], tail));
        }
        end = brace;
    }
    None
}

/// The wrapper alone: an expression that evaluates to a function. Each source of a
/// script begins with it, and the rest are the arguments of a call: a backend may
/// evaluate the wrapper once for a document and keep the function, which saves the
/// engine from parsing it for every script.
#[must_use]
pub fn script_wrapper() -> &'static str {
    &PACK
}

/// What stands before a body, and behind it before the parameters.
const AROUND: [&str; 2] = ["(async () => {", "\n}, "];

/// The expression that runs a body and evaluates to the promise of an envelope.
pub(crate) fn wrapped(body: &str, ask: &str) -> String {
    let [before, behind] = AROUND;
    format!("{}{before}{body}{behind}{ask})", *PACK)
}

/// A script as it was asked for, taken out of its wrapper, for backends that run none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrappedScript<'s> {
    /// The script.
    pub script: &'s str,
    /// Most bytes of JSON that its result may have.
    pub most: usize,
}

impl<'s> WrappedScript<'s> {
    /// The script in the sources of an [`Injection`](crate::Injection); none for those that read on
    /// in a result that was cut, or drop it.
    #[must_use]
    pub fn find(sources: &'s [String]) -> Option<Self> {
        #[derive(serde::Deserialize)]
        struct Asked {
            most: usize,
        }
        // The last guess is the script as it stands.
        let [before, behind] = AROUND;
        let call = sources.last()?.strip_prefix(PACK.as_str())?.strip_prefix(before)?;
        let (body, asked) = call.rsplit_once(behind)?;
        let Asked { most } = serde_json::from_str(asked.strip_suffix(')')?).ok()?;
        Some(Self { script: body.strip_prefix('\n')?, most })
    }
}
