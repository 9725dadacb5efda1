//! Embeds the first-party plugins that `cargo xtask plugins` left. Builds
//! nothing: a build script that runs cargo waits for itself. Where there are
//! none, the binary has none and says which command makes them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() -> std::io::Result<()> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let components = manifest.join("../../target/plugins/components");
    // Watching a path that does not exist would run this script at every build.
    fs::create_dir_all(&components)?;
    println!("cargo::rerun-if-changed={}", components.display());
    println!("cargo::rerun-if-changed=build.rs");

    let mut plugins: Vec<(String, PathBuf)> = fs::read_dir(&components)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter_map(|path| Some((first_party(&path)?, path)))
        .collect();
    plugins.sort();
    let mut entries = String::new();
    for (name, path) in &plugins {
        // Hashed here once instead of at each start.
        let digest = blake3::hash(&fs::read(path)?);
        let path = path.display().to_string();
        entries.push_str(&format!(
            "    Bundled {{ name: {name:?}, digest: {:?}, component: include_bytes!({path:?}) }},\n",
            digest.as_bytes()
        ));
    }
    let output = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("bundled.rs");
    fs::write(output, format!("&[\n{entries}]\n"))
}

/// The name of a first-party plugin; guests are parts of tests.
fn first_party(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".wasm")?;
    (!name.starts_with("guest-")).then(|| name.to_owned())
}
