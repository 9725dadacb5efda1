//! `reasons!`: why a plugin asks for what it asks, in a custom section of its component.

use std::collections::BTreeMap;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use serde_json::json;
use syn::{
    Error, Ident, LitStr, Token,
    parse::{Parse, ParseStream},
};

/// What a plugin can be granted; the host's list.
const CAPABILITIES: [&str; 7] = ["events", "http", "process", "state", "terminal", "webview", "workspace"];
/// What the host shows of one.
const MOST_BYTES: usize = 300;

/// `capability = "why"`, several of them.
pub(crate) struct Reasons(BTreeMap<String, String>);

impl Parse for Reasons {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut reasons = BTreeMap::new();
        for (name, reason) in input.parse_terminated(one, Token![,])? {
            let word = name.to_string();
            if !CAPABILITIES.contains(&word.as_str()) {
                let problem = format!("there is no capability `{word}`; there are {}", CAPABILITIES.join(", "));
                return Err(Error::new(name.span(), problem));
            }
            let text = reason.value();
            if text.trim().is_empty() || text.len() > MOST_BYTES {
                return Err(Error::new(reason.span(), format!("a reason has 1 to {MOST_BYTES} bytes")));
            }
            if reasons.insert(word, text).is_some() {
                return Err(Error::new(name.span(), "its reason stands above already"));
            }
        }
        Ok(Self(reasons))
    }
}

fn one(input: ParseStream<'_>) -> syn::Result<(Ident, LitStr)> {
    let name = input.parse()?;
    input.parse::<Token![=]>()?;
    Ok((name, input.parse()?))
}

/// The section; nothing where the plugin is compiled for its tests.
pub(crate) fn expand(Reasons(reasons): &Reasons) -> TokenStream {
    let text = json!({ "reasons": reasons }).to_string();
    let (length, bytes) = (text.len(), Literal::byte_string(text.as_bytes()));
    quote! {
        #[cfg(target_family = "wasm")]
        const _: () = {
            #[used]
            #[unsafe(link_section = "wharf-plugin")]
            static REASONS: [u8; #length] = *#bytes;
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_json_for_capabilities_that_there_are() {
        let reasons: Reasons = syn::parse_str(r#"state = "counts \"visits\"", http = "asks",  "#).expect("right");
        let written = expand(&reasons).to_string();
        let json = r#"{\"reasons\":{\"http\":\"asks\",\"state\":\"counts \\\"visits\\\"\"}}"#;
        assert!(written.contains(json), "{written}");
        for (wrong, word) in [
            ("everything = \"trust me\"", "no capability"),
            ("state = \" \"", "1 to 300"),
            ("state = \"a\", state = \"b\"", "already"),
            ("state = 1", "string"),
        ] {
            let error = syn::parse_str::<Reasons>(wrong).err().expect(wrong).to_string();
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }
}
