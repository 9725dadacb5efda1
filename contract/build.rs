//! Finds the text of the contract, so that both sides generate their bindings
//! from the same files wherever this crate came from.
//!
//! In the repository that is the folder at its root. A package carries the
//! files as `wit/`: `cargo package` follows the link of that name, which
//! nothing else reads, since most checkouts on Windows make no links.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() -> std::io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let texts = [package.with_file_name("wit"), package.join("wit")]
        .into_iter()
        .find(|folder| folder.join("worlds.wit").is_file())
        .expect("the repository has wit/, and so has a package");
    // A repository that moved has the folder elsewhere: cargo runs this again where a path is missing.
    println!("cargo::rerun-if-changed={}", texts.join("worlds.wit").display());
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
