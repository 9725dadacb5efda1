//! `cargo xtask plugins`: every plugin to a component in
//! `target/plugins/components`, and those that the library carries in
//! `host/wharf/components` too, where its build script looks.
//!
//! Owns where components lie and how they are built. Knows no plugin by name:
//! a member below `plugins/` (or `tests/guests/`) with a `cdylib` is one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};
use lexopt::Arg;
use lexopt::ValueExt as _;

use crate::command::{self, say};
use crate::component;
use crate::console;
use crate::toolchain::{Choice, Toolchain};
use crate::workspace::{Package, Workspace};

const HELP: &str = "\
Builds every plugin below plugins/ to a Wasm component (wasm32-wasip2, release)
and leaves it as target/plugins/components/NAME.wasm, and in host/wharf/components,
so that a `wharf` binary that is built afterwards carries it, compiled for this
machine. Files that did not change are not touched.

Usage: cargo xtask plugins [OPTIONS]

Options:
  --guests            Also build the test guests below tests/guests/, as guest-NAME.wasm
  --toolchain WHICH   auto (default): the target if it is there, else `rustup target add`,
                      else a private toolchain of Debian's packages under target/;
                      rustup or debian: that one or nothing
  -h, --help          This text

Environment:
  WHARF_WASM_TOOLCHAIN   What --toolchain is when it is not given

Example: build one plugin's component and look at what it can reach
  cargo xtask plugins && cargo run -p wharf-cli -- inspect target/plugins/components/planning.wasm
";

/// The program that compiles components ahead.
const PREPARE: &str = "wharf-prepare";

/// What a component starts with. A core module, which has another fifth byte,
/// is a toolchain gone wrong.
const COMPONENT_PREAMBLE: [u8; 8] = *b"\0asm\x0d\0\x01\0";

/// A plugin to build.
struct PluginCrate {
    package: String,
    library: String,
    /// The file we leave, less `.wasm`.
    name: String,
    /// Whether the library carries it.
    is_bundled: bool,
}

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let mut guests = false;
    let mut choice = None;
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("guests") => guests = true,
            Arg::Long("toolchain") => choice = Some(arguments.value()?.string()?.parse()?),
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let choice = choice.map_or_else(Choice::from_environment, Ok)?;
    let built = build(&Workspace::find()?, guests, choice)?;
    for component in built {
        println!("{}", component.display());
    }
    Ok(())
}

/// Builds the plugins, with the guests of the tests where `guests` says so;
/// returns the components, relative to the workspace.
pub(crate) fn build(workspace: &Workspace, guests: bool, choice: Choice) -> Result<Vec<PathBuf>> {
    build_after(workspace, guests, choice, || Ok(()))
}

/// The same, after `first`, which keeps one processor busy as components do.
pub(crate) fn build_after(
    workspace: &Workspace,
    guests: bool,
    choice: Choice,
    first: impl FnOnce() -> Result<()>,
) -> Result<Vec<PathBuf>> {
    let plugins = discover(workspace, guests)?;
    let toolchain = Toolchain::prepare(workspace, choice)?;
    let bundled = plugins.iter().filter(|plugin| plugin.is_bundled).map(|plugin| plugin.name.as_str());
    let bundled: Vec<_> = bundled.collect();
    // A component is linked by one processor alone, so another one works for them meanwhile.
    let built = thread::scope(|scope| {
        let preparing = scope.spawn(|| build_preparer(workspace));
        let built = first().and_then(|()| build_components(workspace, &toolchain, &plugins));
        // Its output stands before the error of either.
        let prepared = preparing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        prepared.and(built)
    })?;
    remove_others(&workspace.bundled(), &bundled)?;
    prepare(workspace, &bundled)?;
    // A host serves without it, and says so where somebody asks for it.
    if let Err(error) = console::build(workspace) {
        say(&format!("The console is left out: {error:#}"));
    }
    Ok(built)
}

/// Builds the plugins that the library carries, and puts none of them in its place: names, and where cargo left them.
pub(crate) fn bundled(workspace: &Workspace, toolchain: &Toolchain) -> Result<Vec<(String, PathBuf)>> {
    let plugins = discover(workspace, false)?.into_iter().filter(|plugin| plugin.is_bundled);
    let build = |plugin: PluginCrate| {
        say(&format!("Building {} in {}", plugin.name, workspace.root.display()));
        Ok((plugin.name.clone(), compile(&builds(workspace), &workspace.root, toolchain, &plugin, &[])?))
    };
    plugins.map(build).collect()
}

fn build_components(workspace: &Workspace, toolchain: &Toolchain, plugins: &[PluginCrate]) -> Result<Vec<PathBuf>> {
    let mut built = Vec::new();
    for plugin in plugins {
        say(&format!("Building the component {}.wasm", plugin.name));
        let artifact = compile(&builds(workspace), &workspace.root, toolchain, plugin, &[])?;
        let component = workspace.components().join(format!("{}.wasm", plugin.name));
        publish(&artifact, &component)?;
        if plugin.is_bundled {
            publish(&artifact, &workspace.bundled().join(format!("{}.wasm", plugin.name)))?;
        }
        built.push(component.strip_prefix(&workspace.root).unwrap_or(&component).to_path_buf());
    }
    Ok(built)
}

/// Builds what compiles components ahead.
fn build_preparer(workspace: &Workspace) -> Result<()> {
    say("Building what compiles the bundled plugins ahead (minutes on a fresh clone: wasmtime is large)");
    // With the features that the binary has, so that nothing is compiled twice.
    command::run(&mut command::building_programs(&workspace.root, &["--bin", PREPARE])?)
}

/// Compiles the bundled plugins for the binary that is built afterwards, which then compiles
/// none at its first start.
fn prepare(workspace: &Workspace, bundled: &[&str]) -> Result<()> {
    let tool = workspace.binary("debug", PREPARE);
    for name in bundled {
        let component = workspace.bundled().join(format!("{name}.wasm"));
        let prepared = component.with_extension("prepared");
        if is_newer(&prepared, &[&component, &tool]) {
            continue;
        }
        command::run(Command::new(&tool).arg(name).args([&component, &prepared]))?;
    }
    Ok(())
}

/// Whether a file was written after all of these.
fn is_newer(file: &Path, others: &[&Path]) -> bool {
    let written = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    written(file).is_some_and(|file| others.iter().all(|other| written(other).is_some_and(|other| other < file)))
}

/// Builds the plugin `name`, which is no member of the workspace, in its own folder; returns
/// the component, where cargo left it.
pub(crate) fn build_alone(workspace: &Workspace, folder: &Path, name: &str, choice: Choice) -> Result<PathBuf> {
    let toolchain = Toolchain::prepare(workspace, choice)?;
    let plugin =
        PluginCrate { package: name.to_owned(), library: name.to_owned(), name: name.to_owned(), is_bundled: false };
    compile(&builds(workspace), folder, &toolchain, &plugin, &[])
}

/// Builds these plugins of an earlier version for its library to carry, which compiles them at the first
/// start. Their components come to lie below `folder`; `further` are arguments for cargo.
pub(crate) fn build_earlier(
    version: &Workspace,
    names: &[&str],
    toolchain: &Toolchain,
    folder: &Path,
    further: &[String],
) -> Result<()> {
    let plugins = discover(version, false)?;
    for name in names {
        let plugin = plugins.iter().find(|plugin| plugin.name == *name);
        let plugin = plugin.with_context(|| format!("the earlier version has no plugin {name}"))?;
        let artifact = compile(folder, &version.root, toolchain, plugin, further)?;
        publish(&artifact, &version.bundled().join(format!("{name}.wasm")))?;
    }
    Ok(())
}

/// The names of the plugins that the library carries.
pub(crate) fn names(workspace: &Workspace) -> Result<Vec<String>> {
    Ok(discover(workspace, false)?.into_iter().map(|plugin| plugin.name).collect())
}

fn discover(workspace: &Workspace, guests: bool) -> Result<Vec<PluginCrate>> {
    let mut plugins = Vec::new();
    for package in workspace.packages()? {
        if let Some(plugin) = plugin_of(&workspace.root, package, guests) {
            plugins.push(plugin);
        }
    }
    if plugins.is_empty() {
        bail!("no member below plugins/ has a cdylib target");
    }
    plugins.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(plugins)
}

fn plugin_of(root: &Path, package: Package, guests: bool) -> Option<PluginCrate> {
    let folder = package.folder.strip_prefix(root).ok()?;
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let (name, is_bundled) = match folder.parent()?.to_string_lossy().as_ref() {
        "plugins" => (name, true),
        "tests/guests" if guests => (format!("guest-{name}"), false),
        _ => return None,
    };
    Some(PluginCrate { library: package.component?, package: package.name, name, is_bundled })
}

/// Where plugins are compiled.
pub(crate) fn builds(workspace: &Workspace) -> PathBuf {
    workspace.target().join("plugins")
}

/// Compiles a plugin of the workspace `root` below the folder.
fn compile(
    folder: &Path,
    root: &Path,
    toolchain: &Toolchain,
    plugin: &PluginCrate,
    further: &[String],
) -> Result<PathBuf> {
    let mut cargo = command::cargo(root);
    component::build(&mut cargo, &plugin.package, root, folder);
    toolchain.apply(&mut cargo);
    cargo.args(further);
    command::run(&mut cargo).with_context(|| toolchain.limits())?;
    Ok(component::built(folder, &plugin.library))
}

/// Copies a component to its place: whole or not at all, and only where it
/// changed, so that nothing which embeds it is built again for nothing.
fn publish(artifact: &Path, component: &Path) -> Result<()> {
    let bytes = fs::read(artifact).with_context(|| format!("cargo left no {}", artifact.display()))?;
    if !bytes.starts_with(&COMPONENT_PREAMBLE) {
        bail!("{} is not a component: the toolchain made something else", artifact.display());
    }
    if fs::read(component).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    let folder = component.parent().context("a component lies in a folder")?;
    fs::create_dir_all(folder)?;
    let unfinished = component.with_extension(format!("{}.partial", std::process::id()));
    fs::write(&unfinished, bytes)?;
    fs::rename(&unfinished, component).with_context(|| format!("cannot write {}", component.display()))
}

/// Removes the components of plugins that are no more: the library carries all that it finds.
fn remove_others(folder: &Path, names: &[&str]) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let is_ours = path.extension().is_some_and(|extension| extension == "wasm" || extension == "prepared");
        if is_ours && !path.file_stem().and_then(|name| name.to_str()).is_some_and(|name| names.contains(&name)) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &str, component: Option<&str>) -> Package {
        Package {
            name: "wharf-some".into(),
            folder: Path::new("/project").join(folder),
            dependencies: Vec::new(),
            component: component.map(str::to_owned),
            is_published: false,
        }
    }

    fn name(folder: &str, component: Option<&str>, guests: bool) -> Option<String> {
        plugin_of(Path::new("/project"), package(folder, component), guests).map(|plugin| plugin.name)
    }

    #[test]
    fn a_plugin_is_named_after_its_folder_and_guests_are_built_on_request() {
        assert_eq!(name("plugins/planning", Some("wharf_planning"), false).as_deref(), Some("planning"));
        assert_eq!(name("plugins/planning", None, false), None);
        assert_eq!(name("tests/guests/echo", Some("echo"), false), None);
        assert_eq!(name("tests/guests/echo", Some("echo"), true).as_deref(), Some("guest-echo"));
        assert_eq!(name("sdk/rust", Some("wharf_sdk"), true), None);
    }

    #[test]
    fn a_component_that_did_not_change_is_not_written_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let (artifact, component) = (folder.path().join("a.wasm"), folder.path().join("out/b.wasm"));
        fs::write(&artifact, COMPONENT_PREAMBLE).expect("written");
        publish(&artifact, &component).expect("published");
        let mut permissions = fs::metadata(&component).expect("there").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&component, permissions).expect("changed");
        publish(&artifact, &component).expect("published");
        assert!(fs::metadata(&component).expect("there").permissions().readonly(), "it was replaced");
    }

    #[test]
    fn only_components_of_plugins_that_are_no_more_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["planning.wasm", "planning.prepared", "renamed.wasm", "renamed.prepared", ".gitignore"] {
            fs::write(folder.path().join(name), "").expect("written");
        }
        remove_others(folder.path(), &["planning"]).expect("removed");
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).expect("there").map(|entry| entry.expect("there").file_name()).collect();
        left.sort();
        assert_eq!(left, [".gitignore", "planning.prepared", "planning.wasm"]);
    }

    #[test]
    fn a_core_module_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let artifact = folder.path().join("a.wasm");
        fs::write(&artifact, b"\0asm\x01\0\0\0").expect("written");
        let error = publish(&artifact, &folder.path().join("b.wasm")).expect_err("refused");
        assert!(error.to_string().contains("not a component"), "{error}");
    }
}
