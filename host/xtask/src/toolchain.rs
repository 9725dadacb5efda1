//! The toolchain that builds plugins for `wasm32-wasip2`: found, added by
//! rustup, or made of Debian's packages under `target/`.
//!
//! Owns the choice and the set-up; knows nothing of plugins. What it returns is
//! for plugin builds only, never for native ones.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::command::{self, say};
use crate::component::{self, TARGET};
use crate::debian;
use crate::workspace::Workspace;

/// Marks a complete folder; it is written before the folder gets its name.
const STAMP: &str = "complete";

/// A machine that only reaches package mirrors may leave a download hanging.
const RUSTUP_LIMIT: Duration = Duration::from_secs(120);

/// Where to take a toolchain from, or tools that belong to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// One that is installed, else rustup, else Debian.
    Auto,
    /// The ordinary toolchain, with the target added by rustup.
    Rustup,
    /// Debian's compiler and library sources.
    Debian,
}

/// What a plugin build adds to its cargo command.
#[derive(Default)]
pub(crate) struct Toolchain {
    environment: Vec<(&'static str, OsString)>,
    arguments: Vec<&'static str>,
}

impl std::str::FromStr for Choice {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "auto" => Ok(Self::Auto),
            "rustup" => Ok(Self::Rustup),
            "debian" => Ok(Self::Debian),
            other => bail!("no toolchain is called `{other}`: choose auto, rustup or debian"),
        }
    }
}

impl Choice {
    /// What the environment asks for.
    pub(crate) fn from_environment() -> Result<Self> {
        match env::var("WHARF_WASM_TOOLCHAIN") {
            Ok(name) => name.parse().context("WHARF_WASM_TOOLCHAIN"),
            Err(_) => Ok(Self::Auto),
        }
    }
}

impl Toolchain {
    /// Finds the toolchain, or sets it up.
    pub(crate) fn prepare(workspace: &Workspace, choice: Choice) -> Result<Self> {
        match choice {
            Choice::Auto if has_standard_library() || rustup_adds_target() => Ok(Self::default()),
            Choice::Auto if debian::available() => {
                say(&format!("rustup cannot add {TARGET} here: using Debian's packages instead."));
                Self::of_debian(workspace)
            }
            Choice::Auto => bail!(
                "this toolchain has no standard library for {TARGET}, rustup cannot add it, and this is no Debian: \
                 run `rustup target add {TARGET}` where it can be downloaded"
            ),
            Choice::Rustup if has_standard_library() || rustup_adds_target() => Ok(Self::default()),
            Choice::Rustup => bail!("`rustup target add {TARGET}` did not succeed; try it by hand to see why"),
            Choice::Debian => Self::of_debian(workspace),
        }
    }

    /// Puts what this toolchain needs on a cargo command that builds plugins.
    pub(crate) fn apply(&self, cargo: &mut Command) {
        cargo.args(&self.arguments);
        cargo.envs(self.environment.iter().map(|(name, value)| (name, value)));
    }

    /// The same for a program that runs cargo itself, and is handed no arguments for it.
    pub(crate) fn environment(&self, program: &mut Command) {
        program.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let flags = self.arguments.iter().filter_map(|argument| argument.strip_prefix("-Zbuild-std="));
        program.envs(flags.map(|crates| ("CARGO_UNSTABLE_BUILD_STD", crates)));
    }

    /// What to know when a build with this toolchain fails.
    pub(crate) fn limits(&self) -> &'static str {
        if self.arguments.is_empty() {
            "a plugin does not build"
        } else {
            "a plugin does not build (Debian's C library for Wasm has no sockets: std::net does not link, and such a \
             plugin needs rustup's standard library or the bindings of the wasip2 crate)"
        }
    }

    fn of_debian(workspace: &Workspace) -> Result<Self> {
        let root = debian_root(workspace)?;
        let tools = tools()?;
        let linker = tools.join("wasm-component-ld");
        if !linker.is_file() {
            bail!("{} is missing: the linker for components comes with rustup's toolchains", linker.display());
        }
        let mut path = env::var_os("PATH").unwrap_or_default();
        path.push(":");
        path.push(tools.join("gcc-ld"));
        Ok(Self {
            environment: vec![
                ("LD_LIBRARY_PATH", library_path(&root)?),
                ("RUSTC", root.join("usr/bin/rustc").into_os_string()),
                ("RUSTC_BOOTSTRAP", "1".into()),
                ("PATH", path),
                ("CARGO_TARGET_WASM32_WASIP2_LINKER", linker.into_os_string()),
            ],
            arguments: vec!["-Zbuild-std=std,panic_abort"],
        })
    }
}

fn has_standard_library() -> bool {
    component::library_folder(&mut command::rustc()).is_some_and(|folder| component::has_standard_library(&folder))
}

fn rustup_adds_target() -> bool {
    say(&format!("Adding {TARGET} with rustup (seconds, where it can be downloaded)."));
    let mut rustup = Command::new("rustup");
    command::succeeds_within(rustup.args(["target", "add", TARGET]), RUSTUP_LIMIT) && has_standard_library()
}

/// Where the ordinary compiler has the tools that came with it.
pub(crate) fn tools() -> Result<PathBuf> {
    let sysroot = PathBuf::from(command::capture(command::rustc().args(["--print", "sysroot"]))?.trim());
    Ok(sysroot.join("lib").join("rustlib").join(host_triple()?).join("bin"))
}

/// The triple that the ordinary compiler builds for.
pub(crate) fn host_triple() -> Result<String> {
    let verbose = command::capture(command::rustc().arg("-vV"))?;
    let host = verbose.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}

/// The shared libraries below an unpacked root, as `LD_LIBRARY_PATH` wants them.
/// Debian names the folders after the architecture.
pub(crate) fn library_path(root: &Path) -> Result<OsString> {
    let mut folders = Vec::new();
    for parent in ["usr/lib", "lib"] {
        let Ok(entries) = fs::read_dir(root.join(parent)) else { continue };
        let below = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        folders.extend(below.filter(|folder| folder.is_dir() && folder.to_string_lossy().ends_with("-linux-gnu")));
    }
    if folders.is_empty() {
        bail!("{} holds no shared libraries", root.display());
    }
    Ok(env::join_paths(folders)?)
}

/// Debian's compiler, unpacked. Done once; an interrupted run starts again with
/// what it had downloaded.
fn debian_root(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target().join("wasm-toolchain");
    let root = folder.join("root");
    if root.join(STAMP).is_file() {
        return Ok(root);
    }
    if !debian::available() {
        bail!("the Debian toolchain needs apt-get and dpkg");
    }
    fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.lock().context("cannot lock target/wasm-toolchain")?;
    // Another xtask may have done it while this one waited.
    if root.join(STAMP).is_file() {
        return Ok(root);
    }
    say("Preparing a Wasm toolchain of Debian's packages under target/ (once; about 150 MB to download, a minute).");
    debian::refresh_lists()?;
    let standard_library = debian::dependency("libstd-rust-web-dev", "libstd-rust-web-")?;
    let llvm = debian::dependency(&standard_library, "libllvm")?;
    let mut packages = debian::with_libraries(&llvm)?;
    packages.extend(["rustc-web", "rust-web-src", "libstd-rust-web-dev", "wasi-libc"].map(str::to_owned));
    packages.insert(standard_library);

    let stage = folder.join("stage");
    remove(&stage)?;
    remove(&root)?;
    say("Downloading and unpacking the compiler and the library sources.");
    debian::unpack(&packages, &folder.join("downloads"), &stage)?;
    drop_unneeded_sources(&stage)?;
    place_c_library(&stage)?;

    let compiler = stage.join("usr/bin/rustc");
    command::capture(Command::new(&compiler).arg("-vV").env("LD_LIBRARY_PATH", library_path(&stage)?))
        .context("Debian's compiler does not start")?;
    fs::write(stage.join(STAMP), format!("{packages:#?}\n"))?;
    fs::rename(&stage, &root)?;
    remove(&folder.join("downloads"))?;
    say("The toolchain is ready. The first plugin build also builds the standard library (about a minute).");
    Ok(root)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Of the sources only the library is built; the rest is 400 MB.
fn drop_unneeded_sources(root: &Path) -> Result<()> {
    for sources in fs::read_dir(root.join("usr/src"))? {
        let sources = sources?.path();
        if sources.is_dir() && !sources.is_symlink() {
            remove(&sources.join("src"))?;
            remove(&sources.join("compiler"))?;
        }
    }
    Ok(())
}

/// Puts Debian's C library where rustc looks for the target's own objects.
fn place_c_library(root: &Path) -> Result<()> {
    let place = root.join("usr/lib/rustlib").join(TARGET).join("lib/self-contained");
    fs::create_dir_all(&place)?;
    for file in fs::read_dir(root.join("usr/lib/wasm32-wasi"))? {
        let file = file?;
        let name = file.file_name();
        let text = name.to_string_lossy();
        if text == "libc.a" || (text.starts_with("crt1") && text.ends_with(".o")) {
            fs::copy(file.path(), place.join(&name))?;
        }
    }
    Ok(())
}
