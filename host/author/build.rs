//! Packs the kits of plugin authors, as they stand in the repository, for the program to carry:
//! a new plugin then builds without a registry that has them, with the kit that fits this host.
//!
//! A package of this crate finds no repository around it and carries no kit; new plugins name
//! the versions of the registry then.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// Nothing is packed as often as it is carried.
const LEVEL: i32 = 19;

/// The crates of the Rust kit, as folders of the repository.
const RUST: [&str; 3] = ["contract", "sdk/macros", "sdk/rust"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let repository = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let output = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let is_there = repository.join("sdk/rust/Cargo.toml").is_file();
    let none = || Ok(Vec::new());
    let kits = [
        ("RUST", if is_there { rust(&repository) } else { none() }?),
        ("PYTHON", if is_there { python(&repository) } else { none() }?),
        ("JAVASCRIPT", if is_there { javascript(&repository) } else { none() }?),
    ];
    let mut source = String::new();
    for (name, files) in kits {
        let kit = pack(&name.to_lowercase(), &files, &output)?;
        source.push_str(&format!("pub(crate) const {name}: Kit = {kit};\n"));
    }
    fs::write(output.join("kits.rs"), source)
}

/// The files of the Rust kit: a workspace of the crates that a plugin is built with.
fn rust(repository: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let manifest = repository.join("Cargo.toml");
    println!("cargo::rerun-if-changed={}", manifest.display());
    let mut files = vec![("Cargo.toml".to_owned(), kit_manifest(&fs::read_to_string(manifest)?).into_bytes())];
    for crate_folder in RUST {
        let folder = repository.join(crate_folder);
        for name in ["Cargo.toml", "build.rs"] {
            let path = folder.join(name);
            if path.is_file() {
                println!("cargo::rerun-if-changed={}", path.display());
                files.push((format!("{crate_folder}/{name}"), fs::read(path)?));
            }
        }
        gather(&folder.join("src"), &format!("{crate_folder}/src"), &mut files)?;
    }
    gather(&repository.join("wit"), "wit", &mut files)?;
    Ok(files)
}

/// The files of the Python kit: its package, with the text of the contract in it as in a wheel.
fn python(repository: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    gather(&repository.join("sdk/python/src/wharf_sdk"), "wharf_sdk", &mut files)?;
    files.retain(|(name, _)| !name.contains("/__pycache__/") && !name.starts_with("wharf_sdk/wit/"));
    contract(repository, "wharf_sdk/wit", &mut files)?;
    Ok(files)
}

/// The files of the kit of JavaScript and TypeScript: its sources, which `npm install` compiles.
fn javascript(repository: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let folder = repository.join("sdk/javascript");
    let mut files = Vec::new();
    for name in ["package.json", "tsconfig.json"] {
        let path = folder.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        files.push((name.to_owned(), fs::read(path)?));
    }
    for name in ["bin", "scripts", "src", "wasi"] {
        gather(&folder.join(name), name, &mut files)?;
    }
    files.retain(|(name, _)| !name.starts_with("src/generated/"));
    contract(repository, "wit", &mut files)?;
    Ok(files)
}

/// The text of the contract, without the documents beside it.
fn contract(repository: &Path, name: &str, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let mut all = Vec::new();
    gather(&repository.join("wit"), name, &mut all)?;
    files.extend(all.into_iter().filter(|(name, _)| name.ends_with(".wit")));
    Ok(())
}

/// The manifest of the kit's workspace: what its members inherit of the repository's.
fn kit_manifest(root: &str) -> String {
    let mut manifest =
        format!("# The crates that plugins are built with.\n[workspace]\nresolver = \"3\"\nmembers = {RUST:?}\n");
    let mut is_inherited = false;
    for line in root.lines() {
        if let Some(table) = line.strip_prefix('[') {
            is_inherited = ["workspace.package]", "workspace.dependencies]", "workspace.lints."]
                .into_iter()
                .any(|inherited| table.starts_with(inherited));
        }
        if is_inherited {
            manifest.push_str(line);
            manifest.push('\n');
        }
    }
    manifest
}

fn gather(folder: &Path, name: &str, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{name}/{}", entry.file_name().to_str().expect("a plain name"));
        if entry.file_type()?.is_dir() {
            gather(&entry.path(), &name, files)?;
        } else {
            files.push((name, fs::read(entry.path())?));
        }
    }
    Ok(())
}

/// Packs files, and returns an expression for the source.
fn pack(name: &str, files: &[(String, Vec<u8>)], output: &Path) -> io::Result<String> {
    let bytes: Vec<u8> = files.iter().flat_map(|(_, bytes)| bytes).copied().collect();
    let path = output.join(format!("{name}.packed"));
    fs::write(&path, zstd::bulk::compress(&bytes, LEVEL)?)?;
    let listed: String = files.iter().map(|(name, bytes)| format!("({name:?}, {}), ", bytes.len())).collect();
    Ok(format!("Kit {{ files: &[{listed}], packed: include_bytes!({:?}) }}", path.to_str().expect("a plain path")))
}
