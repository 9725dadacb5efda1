//! The plugin of the first page: its files are taken from there, it is built, and the
//! commands below it answer what they are shown to answer.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{self, say};
use crate::components;
use crate::toolchain::Choice;
use crate::workspace::Workspace;

/// The page.
const PAGE: &str = "README.md";

/// Where the page says that the SDK is.
const SDK: &str = "../wharf/sdk/rust";

/// What the page shows.
struct ShownWalk {
    manifest: String,
    source: String,
    /// The commands behind the one that builds, with their answers.
    steps: Vec<(String, String)>,
}

/// Builds the plugin of the first page and calls it.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let page = fs::read_to_string(workspace.root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let shown = shown(&page)?;
    let folder = workspace.target().join("first-plugin");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("src"))?;
    let sdk = workspace.root.join("sdk").join("rust");
    ensure!(shown.manifest.contains(SDK), "the manifest of {PAGE} does not say where the SDK is: {SDK}");
    // Below the target directory, it is part of no workspace.
    let manifest = shown.manifest.replace(SDK, &sdk.to_string_lossy());
    fs::write(folder.join("Cargo.toml"), format!("{manifest}\n[workspace]\n"))?;
    fs::write(folder.join("src").join("lib.rs"), shown.source)?;
    // The versions that the plugins are built with, so that nothing is fetched or built anew.
    fs::copy(workspace.root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    say(&format!("Building the plugin of {PAGE}"));
    let component = components::build_alone(workspace, &folder, "greeter", Choice::from_environment()?)?;
    let place = folder.join("target/wasm32-wasip2/release");
    fs::create_dir_all(&place)?;
    fs::copy(component, place.join("greeter.wasm"))?;
    for (line, answer) in shown.steps {
        let came = typed(workspace, &folder, &line)?;
        if !answer.is_empty() && came != answer {
            bail!("{PAGE} shows that `{line}` answers\n{answer}but it answers\n{came}");
        }
    }
    println!("first plugin: {PAGE} builds it, and it answers what is shown");
    Ok(())
}

/// What a command prints that is typed in the folder of the plugin.
fn typed(workspace: &Workspace, folder: &Path, line: &str) -> Result<String> {
    let binary = workspace.binary("debug", "wharf");
    let beside = binary.parent().context("a binary lies in a folder")?;
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).env("PATH", command::search_path(beside, None)?);
    shell.env("WHARF_DATA", folder.join("data")).env("WHARF_CONFIG", folder.join("wharf.toml"));
    command::run_and_capture(&mut shell)
}

fn shown(page: &str) -> Result<ShownWalk> {
    let block = |first: &str| {
        let rest = page.split_once(&format!("\n```{first}")).map(|(_, rest)| rest);
        let block = rest.and_then(|rest| rest.split_once("\n```")).map(|(block, _)| block);
        block.with_context(|| format!("{PAGE} has no block that begins with ```{first}"))
    };
    let commands = block("console\n$ cargo build")?;
    let mut steps = Vec::<(String, String)>::new();
    for line in commands.lines().skip(1) {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push((command.to_owned(), String::new())),
            (None, Some((_, answer))) => answer.push_str(&format!("{line}\n")),
            (None, None) => bail!("{PAGE} shows what the build prints, which is different each time"),
        }
    }
    let (manifest, source) = (block("toml Cargo.toml\n")?.to_owned(), block("rust src/lib.rs\n")?.to_owned());
    Ok(ShownWalk { manifest, source, steps })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_commands_and_answers_are_read_from_the_page() {
        let page = "# A\n```toml Cargo.toml\n[package]\n```\n```rust src/lib.rs\nfn a() {}\n```\n\
                    ```console\n$ other\n```\n```console\n$ cargo build\n$ wharf grant x\n$ wharf call y\nyes\n```\n";
        let shown = shown(page).expect("all of it is there");
        assert_eq!((shown.manifest.as_str(), shown.source.as_str()), ("[package]", "fn a() {}"));
        let steps = [("wharf grant x".to_owned(), String::new()), ("wharf call y".to_owned(), "yes\n".to_owned())];
        assert_eq!(shown.steps, steps);
    }
}
