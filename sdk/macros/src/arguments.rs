//! What stands between the brackets of `#[tool(…)]`.

use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitInt, LitStr, Token};

use crate::prompt::PromptOptions;

/// The options, as written.
#[derive(Default)]
pub(crate) struct Options {
    /// Those that `#[prompt]` has, too.
    pub(crate) texts: PromptOptions,
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
    pub(crate) timeout_milliseconds: Option<u64>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Self::default();
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let word = key.to_string();
            if seen.contains(&word) {
                return Err(Error::new(key.span(), format!("`{word}` is given twice")));
            }
            match word.as_str() {
                "name" => options.texts.name = Some(value(input)?),
                "description" => options.texts.description = Some(value(input)?),
                "title" => options.texts.title = Some(value(input)?),
                "read_only" => options.read_only = true,
                "destructive" => options.destructive = true,
                "idempotent" => options.idempotent = true,
                "open_world" => options.open_world = true,
                "timeout_milliseconds" => options.timeout_milliseconds = Some(milliseconds(input)?),
                _ => {
                    return Err(Error::new(
                        key.span(),
                        "unknown option; there are name, description, title, read_only, destructive, idempotent, \
                         open_world, timeout_milliseconds",
                    ));
                }
            }
            seen.push(word);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if options.read_only && options.destructive {
            return Err(input.error("a tool that is read_only is not destructive"));
        }
        Ok(options)
    }
}

fn value(input: ParseStream<'_>) -> syn::Result<LitStr> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn milliseconds(input: ParseStream<'_>) -> syn::Result<u64> {
    input.parse::<Token![=]>()?;
    let literal: LitInt = input.parse()?;
    match literal.base10_parse::<u64>()? {
        0 => Err(Error::new(literal.span(), "a timeout of 0 would end every call")),
        milliseconds => Ok(milliseconds),
    }
}
