//! What stands between the brackets of `#[prompt(…)]`.

use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, LitStr, Token};

/// The options, as written.
#[derive(Default)]
pub(crate) struct PromptOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
}

impl Parse for PromptOptions {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Self::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let option = match key.to_string().as_str() {
                "name" => &mut options.name,
                "description" => &mut options.description,
                "title" => &mut options.title,
                _ => return Err(Error::new(key.span(), "unknown option; there are name, description, title")),
            };
            input.parse::<Token![=]>()?;
            if option.replace(input.parse()?).is_some() {
                return Err(Error::new(key.span(), format!("`{key}` is given twice")));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}
