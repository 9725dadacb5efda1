//! An app outside this repository: `tests/outside`, built in a workspace of its
//! own with the library by git, as anybody's would be, and run.
//!
//! Knows what the app prints, and nothing of how the library finds its plugins.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::{self, say};
use crate::components;
use crate::workspace::Workspace;

/// Stands in the app's manifest for the address of the repository.
const ADDRESS: &str = "file:///REPOSITORY";

/// The app's call answers with these words of it.
const GOAL: &str = "Build from a git dependency";

/// Builds the app from what is committed, and runs it.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let git = |arguments: &[&str]| {
        command::capture(Command::new("git").args(arguments).current_dir(&workspace.root)).context("no git repository")
    };
    if !git(&["status", "--porcelain"])?.is_empty() {
        say("The app sees what is committed, and not your other changes.");
    }
    let revision = git(&["rev-parse", "HEAD"])?;
    let folder = workspace.target().join("outside");
    let (app, clone, data) = (folder.join("app"), folder.join("wharf.git"), folder.join("data"));
    for made in [&app, &clone, &data] {
        if made.exists() {
            fs::remove_dir_all(made)?;
        }
    }
    fs::create_dir_all(app.join("src"))?;
    fs::create_dir_all(&data)?;
    // A worktree's `.git` is a file, which cargo does not fetch from.
    git(&["clone", "--quiet", "--bare", ".", &clone.to_string_lossy()])?;
    let address = format!("file://{}", clone.display());
    write(&workspace.root.join("tests").join("outside"), &app, &address, revision.trim())?;
    // The versions that the library was tested with; cargo adds where the library is.
    fs::copy(workspace.root.join("Cargo.lock"), app.join("Cargo.lock"))?;

    say("Building an app that has the library by git (many minutes on a fresh clone: nothing is shared)");
    let target = folder.join("target");
    let mut build = command::cargo(&app);
    command::run(build.args(["build", "--quiet", "--target-dir"]).arg(&target))?;
    say("Running it");
    let program = target.join("debug").join(format!("outside{}", std::env::consts::EXE_SUFFIX));
    let printed = command::run_and_capture(Command::new(program).arg(&data))?;
    print!("{printed}");
    told(&printed, &components::names(workspace)?)?;
    println!("outside: an app that has the library by git called a bundled plugin");
    Ok(())
}

/// Writes the app's files, with the repository that it depends on.
fn write(source: &Path, app: &Path, address: &str, revision: &str) -> Result<()> {
    let manifest = fs::read_to_string(source.join("Cargo.toml"))?;
    let named = manifest.replace(&format!("\"{ADDRESS}\""), &format!("\"{address}\", rev = \"{revision}\""));
    ensure!(named != manifest, "{} does not name {ADDRESS}", source.display());
    fs::write(app.join("Cargo.toml"), named)?;
    fs::copy(source.join("src").join("main.rs"), app.join("src").join("main.rs"))?;
    Ok(())
}

/// Whether the app had every plugin, and the answer of the one that it called.
fn told(printed: &str, plugins: &[String]) -> Result<()> {
    for plugin in plugins {
        let line = format!("bundled: {plugin}");
        ensure!(printed.lines().any(|printed| printed == line), "the app does not carry the plugin {plugin}");
    }
    let answer = printed.split_once("answer: ").map_or("", |(_, answer)| answer);
    ensure!(answer.contains(GOAL), "the plugin did not answer with its goal");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_the_revision_that_is_tested() {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, app) = (folder.path().join("source"), folder.path().join("app"));
        for place in [&source, &app] {
            fs::create_dir_all(place.join("src")).expect("made");
        }
        fs::write(source.join("src/main.rs"), "").expect("written");
        fs::write(source.join("Cargo.toml"), "wharf = { git = \"file:///REPOSITORY\" }\n").expect("written");
        write(&source, &app, "file:///here/wharf.git", "0123").expect("written");
        let manifest = fs::read_to_string(app.join("Cargo.toml")).expect("written");
        assert_eq!(manifest, "wharf = { git = \"file:///here/wharf.git\", rev = \"0123\" }\n");
        fs::write(source.join("Cargo.toml"), "wharf = \"0.1\"\n").expect("written");
        assert!(write(&source, &app, "file:///here/wharf.git", "0123").is_err());
    }

    #[test]
    fn an_app_without_a_plugin_or_without_an_answer_is_found() {
        let plugins = ["planning".to_owned()];
        assert!(told(&format!("bundled: planning\nanswer: {GOAL}\n"), &plugins).is_ok());
        assert!(told(&format!("answer: {GOAL}\n"), &plugins).is_err());
        assert!(told("bundled: planning\nanswer: \n", &plugins).is_err());
    }
}
