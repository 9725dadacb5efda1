//! The function under `#[tool]` or `#[prompt]`: what it must look like, and what is written
//! beside it.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Error, Expr, ExprLit, FnArg, ItemFn, Lit, LitStr, Meta, ReturnType, Type};

use crate::{arguments::Options, prompt::PromptOptions};

/// The contract's bounds.
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 8_192;

pub(crate) fn expand(options: &Options, function: &ItemFn) -> syn::Result<TokenStream> {
    let Options { texts, read_only, destructive, idempotent, open_world, timeout_milliseconds } = options;
    let timeout = timeout_milliseconds.map(|most| quote!(::core::time::Duration::from_millis(#most)));
    let (title, timeout) = (option(texts.title.as_ref()), option(timeout.as_ref()));
    let details = quote! {
        ::wharf_sdk::ToolDetails {
            title: #title,
            read_only: #read_only,
            destructive: #destructive,
            idempotent: #idempotent,
            open_world: #open_world,
            timeout: #timeout,
        }
    };
    let parts = KindParts {
        kind: "tool",
        implemented: quote!(Tool),
        definition: quote!(ToolDefinition),
        define: quote!(definition),
        reply: quote!(Answer),
        run: quote!(run),
    };
    parts.write(texts, &details, function)
}

/// The same for `#[prompt]`.
pub(crate) fn expand_prompt(texts: &PromptOptions, function: &ItemFn) -> syn::Result<TokenStream> {
    let parts = KindParts {
        kind: "prompt",
        implemented: quote!(Prompt),
        definition: quote!(PromptDefinition),
        define: quote!(prompt_definition),
        reply: quote!(PromptReply),
        run: quote!(run_prompt),
    };
    parts.write(texts, &option(texts.title.as_ref()), function)
}

/// Where what is written of a tool and of a prompt differs.
struct KindParts {
    /// What the function becomes.
    kind: &'static str,
    implemented: TokenStream,
    definition: TokenStream,
    define: TokenStream,
    reply: TokenStream,
    run: TokenStream,
}

impl KindParts {
    /// The function as it is, and a type of its name that implements the trait.
    fn write(&self, texts: &PromptOptions, details: &TokenStream, function: &ItemFn) -> syn::Result<TokenStream> {
        let Self { kind, implemented, definition, define, reply, run } = self;
        let signature = Signature::read(function, kind)?;
        let name = name(texts.name.as_ref(), function, kind)?;
        let description = description(texts.description.as_ref(), function, kind)?;
        let (visibility, identifier) = (&function.vis, &function.sig.ident);
        let adapted = signature.adapt(function);
        let documentation = format!("The {kind} `{name}`, for `wharf_sdk::plugin!`.");
        Ok(quote! {
            #function

            #[doc = #documentation]
            #[allow(non_camel_case_types)]
            #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
            #visibility enum #identifier {}

            impl ::wharf_sdk::#implemented for #identifier {
                const NAME: &'static str = #name;

                fn definition() -> ::wharf_sdk::#definition {
                    ::wharf_sdk::macro_support::#define(#name, #description, #details, #adapted)
                }

                fn run(
                    call: &::wharf_sdk::Call,
                    arguments: &str,
                ) -> ::core::result::Result<::wharf_sdk::#reply, ::wharf_sdk::ToolError> {
                    ::wharf_sdk::macro_support::#run(call, arguments, #adapted)
                }
            }
        })
    }
}

fn option(value: Option<&impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// Which of the two parameters the function has.
struct Signature {
    call: bool,
    input: Option<Type>,
}

impl Signature {
    /// `kind` is what the function becomes.
    fn read(function: &ItemFn, kind: &str) -> syn::Result<Self> {
        let signature = &function.sig;
        let shape = format!(
            "a {kind} looks like `fn name(call: &Call, input: Input) -> Result<Output, ToolError>`, with either \
             parameter left out where it is not needed"
        );
        if let Some(keyword) = &signature.asyncness {
            return Err(Error::new_spanned(
                keyword,
                format!("a {kind} is not async: its instance serves this one call"),
            ));
        }
        if !signature.generics.params.is_empty() {
            return Err(Error::new_spanned(
                &signature.generics,
                format!("a {kind} is not generic: what it takes is fixed"),
            ));
        }
        if matches!(signature.output, ReturnType::Default) {
            return Err(Error::new_spanned(&signature.ident, shape));
        }
        let mut types = Vec::new();
        for parameter in &signature.inputs {
            match parameter {
                FnArg::Typed(typed) => types.push(&*typed.ty),
                FnArg::Receiver(receiver) => return Err(Error::new_spanned(receiver, shape)),
            }
        }
        match types.as_slice() {
            [] => Ok(Self { call: false, input: None }),
            [Type::Reference(_)] => Ok(Self { call: true, input: None }),
            [input] => Ok(Self { call: false, input: Some((*input).clone()) }),
            [Type::Reference(_), input] if !matches!(input, Type::Reference(_)) => {
                Ok(Self { call: true, input: Some((*input).clone()) })
            }
            _ => Err(Error::new_spanned(&signature.inputs, shape)),
        }
    }

    /// The function as a closure with both parameters.
    fn adapt(&self, function: &ItemFn) -> TokenStream {
        let identifier = &function.sig.ident;
        match (self.call, &self.input) {
            (true, Some(input)) => quote!(|call: &::wharf_sdk::Call, input: #input| #identifier(call, input)),
            (false, Some(input)) => quote!(|_: &::wharf_sdk::Call, input: #input| #identifier(input)),
            (true, None) => quote!(|call: &::wharf_sdk::Call, _: ::wharf_sdk::NoInput| #identifier(call)),
            (false, None) => quote!(|_: &::wharf_sdk::Call, _: ::wharf_sdk::NoInput| #identifier()),
        }
    }
}

fn name(given: Option<&LitStr>, function: &ItemFn, kind: &str) -> syn::Result<String> {
    let (name, span) = match given {
        Some(literal) => (literal.value(), literal.span()),
        None => (function.sig.ident.to_string(), function.sig.ident.span()),
    };
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(legal) || name.contains("__") {
        return Err(Error::new(
            span,
            format!(
                "`{name}` cannot be the name of a {kind}: it needs 1 to {LONGEST_NAME} characters of [A-Za-z0-9_-], \
                 without two underscores in a row"
            ),
        ));
    }
    Ok(name)
}

fn description(given: Option<&LitStr>, function: &ItemFn, kind: &str) -> syn::Result<String> {
    let description = match given {
        Some(literal) => literal.value(),
        None => documentation(function),
    };
    if description.is_empty() || description.len() > LONGEST_DESCRIPTION {
        return Err(Error::new(
            function.sig.ident.span(),
            format!(
                "a {kind} needs a description of 1 to {LONGEST_DESCRIPTION} bytes for the model or person that chooses \
                 it: write a documentation comment, or `#[{kind}(description = \"…\")]`"
            ),
        ));
    }
    Ok(description)
}

/// The documentation comment, its lines joined as Markdown would.
fn documentation(function: &ItemFn) -> String {
    let mut text = String::new();
    for attribute in function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = &pair.value else { continue };
        let line = line.value();
        let line = line.trim();
        let separator = match line {
            "" => "\n\n",
            _ if line.starts_with("- ") => "\n",
            _ => " ",
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str(separator);
        }
        text.push_str(line);
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the author of this function is told.
    fn refusal(options: &str, function: &str) -> String {
        let parsed = syn::parse_str::<Options>(options)
            .and_then(|options| expand(&options, &syn::parse_str::<ItemFn>(function)?));
        match parsed {
            Ok(written) => panic!("`{function}` was taken: {written}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_signature_that_is_no_tools_is_refused_with_the_right_one() {
        for function in [
            "fn f(self) -> Result<(), E> {}",
            "fn f(call: &Call, one: A, two: B) -> Result<(), E> {}",
            "fn f(input: A, call: &Call) -> Result<(), E> {}",
            "fn f(call: &Call, input: &A) -> Result<(), E> {}",
            "fn f(call: &Call) {}",
        ] {
            let refusal = refusal("description = \"d\"", function);
            assert!(refusal.contains("fn name(call: &Call, input: Input)"), "{function}: {refusal}");
        }
        assert!(refusal("", "async fn f() -> Result<(), E> {}").contains("not async"));
        assert!(refusal("", "fn f<T>(input: T) -> Result<(), E> {}").contains("not generic"));
    }

    #[test]
    fn a_name_that_the_contract_forbids_is_refused() {
        let long = format!("fn {}() -> Result<(), E> {{}}", "f".repeat(65));
        for function in [long.as_str(), "fn a__b() -> Result<(), E> {}", "fn größe() -> Result<(), E> {}"] {
            assert!(refusal("description = \"d\"", function).contains("cannot be the name of a tool"), "{function}");
        }
        assert!(refusal("name = \"a b\", description = \"d\"", "fn f() -> R {}").contains("cannot be the name"));
    }

    #[test]
    fn a_tool_without_a_description_is_refused() {
        assert!(refusal("", "fn f() -> R {}").contains("needs a description"));
        let long = format!("description = \"{}\"", "d".repeat(8_193));
        assert!(refusal(&long, "fn f() -> R {}").contains("needs a description"));
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        for (options, reason) in [
            ("readonly", "unknown option"),
            ("read_only, read_only", "given twice"),
            ("read_only, destructive", "not destructive"),
            ("timeout_milliseconds = 0", "would end every call"),
            ("title", "expected `=`"),
        ] {
            let refusal = refusal(options, "fn f() -> R {}");
            assert!(refusal.contains(reason), "{options}: {refusal}");
        }
    }

    #[test]
    fn a_function_stays_as_it_is_beside_its_tool() {
        let function: ItemFn = syn::parse_str("/// Does it.\nfn f() -> R { g() }").expect("a function");
        let written = expand(&Options::default(), &function).expect("a tool").to_string();
        assert!(written.starts_with(&quote!(#function).to_string()), "{written}");
    }
}
