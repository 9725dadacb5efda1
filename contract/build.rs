//! Finds the text of the contract, so that both sides generate their bindings
//! from the same files wherever this crate came from.
//!
//! A package of a registry carries the files as `wit/`. In the repository that
//! is a link to the folder at its root, and where links are not made, as in
//! most checkouts on Windows, the folder itself is taken.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() -> std::io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let texts = [package.join("wit"), package.join("../wit")]
        .into_iter()
        .find(|folder| folder.is_dir())
        .expect("the package carries wit/, and so does the repository");
    println!("cargo::rerun-if-changed=build.rs");
    let output = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(output.join("bindings.rs"), bindings(&texts))
}

/// A macro for the two generators of bindings. They take the path as a literal
/// alone, and it is known only now.
fn bindings(texts: &Path) -> String {
    let path = texts.to_str().expect("a path that Rust's source can say");
    format!(
        "/// Expands to `GENERATOR!({{ path: \"…/wit\", OPTIONS }})`: the bindings of the contract's text, by the
/// generator of the host or of guests, which both are handed the folder of this crate's WIT files.
#[macro_export]
macro_rules! bindings {{
    ($($generator:ident)::+, {{ $($options:tt)* }}) => {{
        $($generator)::+! {{{{
            path: {path:?},
            $($options)*
        }}}}
    }};
}}
"
    )
}
