//! Embeds the first-party plugins, whichever way this crate was fetched.
//!
//! They lie in `components/`: a package of a registry carries them there, and
//! in a clone of the repository `cargo xtask plugins` leaves them there. Where
//! cargo fetched the repository itself, as a git dependency, nobody can run
//! that, and this script builds them, once for each revision and profile.
//!
//! It writes below `OUT_DIR` alone. In a clone it builds nothing: a build of
//! the library would take minutes by surprise.

#[path = "build/component.rs"]
mod component;

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// As the engine packs code.
const LEVEL: i32 = 19;

fn main() -> io::Result<()> {
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let output = PathBuf::from(variable("OUT_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let plugins = match env::var_os("CARGO_FEATURE_BUNDLED_PLUGINS") {
        Some(_) => find(&package, &output)?,
        None => Vec::new(),
    };
    let mut entries = String::new();
    for (name, path) in plugins {
        // Hashed here once instead of at each start.
        let bytes = fs::read(&path)?;
        let digest = blake3::hash(&bytes);
        let packed = keep(&output, &format!("{name}.packed"), &zstd::bulk::compress(&bytes, LEVEL)?)?;
        let prepared = match prepared(&path, &digest.to_hex(), &output)? {
            Some(prepared) => format!("Some({prepared})"),
            None => "None".to_owned(),
        };
        entries.push_str(&format!(
            "    Bundled {{ name: {name:?}, digest: {:?}, component: include_bytes!({packed:?}), prepared: {prepared} }},\n",
            digest.as_bytes()
        ));
    }
    fs::write(output.join("bundled.rs"), format!("&[\n{entries}]\n"))?;
    console(&package, &output)
}

/// The files of the console, where `cargo xtask console` has left them.
fn console(package: &Path, output: &Path) -> io::Result<()> {
    let folder = package.join("console");
    let mut entries = String::new();
    if folder.is_dir() {
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files: Vec<_> = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                entries
                    .push_str(&format!("    ConsoleFile {{ name: {name:?}, content: include_bytes!({file:?}) }},\n"));
            }
        }
    }
    fs::write(output.join("console.rs"), format!("&[\n{entries}]\n"))
}

/// What lies beside a component and was made of it: an expression for the source. Where there is
/// none, the plugin is compiled at its first start.
fn prepared(component: &Path, digest: &str, output: &Path) -> io::Result<Option<String>> {
    let Ok(bytes) = fs::read(component.with_extension("prepared")) else { return Ok(None) };
    let malformed = || io::Error::other("a prepared component is malformed: `cargo xtask plugins` makes it again");
    let mut lines = bytes.splitn(5, |byte| *byte == b'\n');
    let mut line = || lines.next().and_then(|line| std::str::from_utf8(line).ok()).ok_or_else(malformed);
    let [of, code_name, metadata_name, metadata_bytes] = [line()?, line()?, line()?, line()?];
    if of.strip_prefix("blake3:") != Some(digest) {
        println!(
            "cargo::warning={} was compiled ahead from another component: `cargo xtask plugins` makes it again",
            component.display()
        );
        return Ok(None);
    }
    let rest = lines.next().ok_or_else(malformed)?;
    let metadata_bytes: usize = metadata_bytes.parse().map_err(|_| malformed())?;
    let (metadata, code) = rest.split_at_checked(metadata_bytes).ok_or_else(malformed)?;
    let (metadata, code) = (keep(output, metadata_name, metadata)?, keep(output, code_name, code)?);
    Ok(Some(format!(
        "PreparedComponent {{ code_name: {code_name:?}, code: include_bytes!({code:?}), metadata_name: \
         {metadata_name:?}, metadata: include_bytes!({metadata:?}) }}"
    )))
}

/// Keeps bytes for the source to include, and returns their path.
fn keep(output: &Path, name: &str, bytes: &[u8]) -> io::Result<String> {
    let path = output.join(name);
    fs::write(&path, bytes)?;
    Ok(path.to_str().expect("a path that Rust's source can say").to_owned())
}

/// The plugins by name, with the files of their components.
fn find(package: &Path, output: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let carried = package.join("components");
    // Cargo runs this again at every build where it watches a path that is missing.
    if carried.is_dir() {
        println!("cargo::rerun-if-changed={}", carried.display());
        let found = components(&carried)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let repository = package.join("../..");
    // Cargo marks so what it checked out.
    if repository.join(".cargo-ok").is_file() && repository.join("plugins").is_dir() {
        return build(&repository, output);
    }
    println!(
        "cargo::warning=no plugins are bundled: `cargo xtask plugins` in a clone of the repository builds them; without \
         the feature `bundled-plugins` none is missed"
    );
    Ok(Vec::new())
}

fn components(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wasm")
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            found.push((name.to_owned(), path));
        }
    }
    found.sort();
    Ok(found)
}

/// Builds every plugin of the repository and keeps the components.
fn build(repository: &Path, output: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let library = component::library_folder(&mut Command::new(variable("RUSTC")));
    if !library.as_deref().is_some_and(component::has_standard_library) {
        // The folder of all targets' libraries: it changes when one is added.
        if let Some(targets) = library.as_deref().and_then(|folder| folder.ancestors().nth(2)) {
            println!("cargo::rerun-if-changed={}", targets.display());
        }
        // Warnings of a dependency's build are not shown: an app would miss its plugins as it runs.
        println!(
            "cargo::error=the bundled plugins are built for {0}: run `rustup target add {0}`, or leave out the \
             feature `bundled-plugins`",
            component::TARGET
        );
        return Ok(Vec::new());
    }
    let kept = output.join("components");
    fs::create_dir_all(&kept)?;
    // Its own, since cargo holds the lock of the one that this build uses.
    let target = output.join("plugins");
    for entry in fs::read_dir(repository.join("plugins"))? {
        let folder = entry?.path();
        let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let package = package_name(&manifest).unwrap_or_else(|| panic!("{} names no package", folder.display()));
        let mut cargo = Command::new(variable("CARGO"));
        component::build(&mut cargo, package, repository, &target);
        cargo.arg("--locked").current_dir(repository).env("CARGO_BUILD_BUILD_DIR", &target);
        assert!(
            cargo.status()?.success(),
            "the plugin {name} does not build; without the feature `bundled-plugins` none is built"
        );
        fs::copy(component::built(&target, package), kept.join(format!("{name}.wasm")))?;
    }
    // Hundreds of megabytes that nobody needs again.
    fs::remove_dir_all(&target)?;
    components(&kept)
}

/// The name in a manifest of this repository, where it is the first thing.
fn package_name(manifest: &str) -> Option<&str> {
    let rest = manifest.split_once("name = \"")?.1;
    Some(rest.split_once('"')?.0)
}

fn variable(name: &str) -> std::ffi::OsString {
    env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"))
}
