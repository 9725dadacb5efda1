//! Where the build leaves components and the binary.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use wasm_encoder::{ComponentSection as _, CustomSection};

use crate::attack_run;

/// The target directory that this test was built into.
pub(crate) fn target() -> PathBuf {
    let executable = std::env::current_exe().expect("a running test has an executable");
    // TARGET/PROFILE/deps/TEST
    executable.ancestors().nth(3).expect("cargo puts tests three levels deep").to_owned()
}

/// A built component by its name, such as `guest-hostile`.
///
/// # Panics
/// Where it was not built.
#[must_use]
pub fn component(name: &str) -> PathBuf {
    let path = target().join("plugins/components").join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is missing: run `cargo xtask plugins --guests`", path.display());
    path
}

/// The same, read.
///
/// # Panics
/// Where it was not built.
#[must_use]
pub fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(component(name)).expect("a built component can be read")
}

/// A component with a further custom section at its end: the same code under another
/// digest.
#[must_use]
pub fn with_section(mut component: Vec<u8>, name: &str, data: &[u8]) -> Vec<u8> {
    CustomSection { name: name.into(), data: data.into() }.append_to_component(&mut component);
    component
}

/// The `wharf` binary: the one that `WHARF` names, else the one beside this
/// test. Testing an older binary than the sources would prove nothing.
///
/// # Panics
/// Where it was not built, or is older than its sources.
#[must_use]
pub fn program() -> PathBuf {
    if let Some(named) = std::env::var_os("WHARF") {
        attack_run::started();
        return named.into();
    }
    let executable = std::env::current_exe().expect("a running test has an executable");
    let profile = executable.ancestors().nth(2).expect("cargo puts tests into a profile's directory");
    let path = profile.join(format!("wharf{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is missing: run `cargo build -p wharf-cli`", path.display());
    if let Some(newer) = source_newer_than(&path) {
        panic!("{} is older than {newer}: run `cargo build -p wharf-cli`", path.display());
    }
    path
}

/// The first source of the binary, by cargo's own list, that changed after it
/// was built.
fn source_newer_than(binary: &Path) -> Option<String> {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let built: SystemTime = changed(binary)?;
    let list = std::fs::read_to_string(binary.with_extension("d")).ok()?;
    let (_, sources) = list.split_once(": ")?;
    sources
        .split_whitespace()
        .find(|source| changed(Path::new(source)).is_some_and(|when| when > built))
        .map(Into::into)
}
