//! `cargo xtask console`: the files of the console, which the host serves, from `console/`. They are
//! left in `host/wharf/console`, where the library's build script looks.
//!
//! Knows nothing of what the console shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{self, say};
use crate::node;
use crate::workspace::Workspace;

const HELP: &str = "\
Builds the operator's console from console/ (TypeScript, by esbuild) and leaves its
files in host/wharf/console, so that a `wharf` binary that is built afterwards serves
them at /console. Files that did not change are not touched. Checks the types, too.

Usage: cargo xtask console [--pictures] [--crowd]

Options:
  --pictures  Draw the pictures in the book again, with the command in target/debug
  --crowd     Say how a browser does before 200 terminals and thousands of calls a second,
              with the command in target/release

Needs npm, and installs it where that is possible.
";

/// What the files are made of, below `console/`.
const SOURCES: [&str; 5] = ["package.json", "package-lock.json", "tsconfig.json", "build.mjs", "src"];

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let (mut draws, mut crowds) = (false, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            lexopt::Arg::Short('h') | lexopt::Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            lexopt::Arg::Long("pictures") => draws = true,
            lexopt::Arg::Long("crowd") => crowds = true,
            other => return Err(other.unexpected().into()),
        }
    }
    let workspace = Workspace::find()?;
    build(&workspace)?;
    check(&workspace)?;
    if draws {
        say("Drawing the console (a minute)");
        let folder = workspace.root.join("docs/src/operating/console");
        drive(&workspace, "pictures.mjs", &[&folder], "debug")?;
    }
    if crowds {
        say("Looking at a crowd (two minutes)");
        drive(&workspace, "crowd.mjs", &[], "release")?;
    }
    Ok(())
}

/// Runs a script that drives the console in a browser, with the command of a profile.
fn drive(workspace: &Workspace, name: &str, arguments: &[&Path], profile: &str) -> Result<()> {
    let mut script = Command::new("node");
    script.arg(workspace.root.join("tests/console").join(name)).args(arguments);
    script.env("WHARF", workspace.binary(profile, "wharf"));
    command::run(script.current_dir(&workspace.root))
}

/// Builds the files, unless they were built from what is there.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let (source, folder) = (source(workspace), folder(workspace));
    let sources = text_of(&source)?;
    let built = folder.join("built.txt");
    let output = workspace.root.join("host/wharf/console");
    if output.join("index.html").is_file() && fs::read_to_string(&built).is_ok_and(|before| before == sources) {
        return Ok(());
    }
    install(workspace)?;
    say("Building the console (seconds)");
    let mut bundler = Command::new("node");
    bundler.arg("build.mjs").arg(&output).current_dir(&folder);
    command::capture(&mut bundler)?;
    // Last, so that a build that breaks off is made again.
    fs::write(built, sources)?;
    Ok(())
}

/// Checks the types, which the bundler leaves out.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    install(workspace)?;
    let folder = folder(workspace);
    let mut compiler = Command::new(folder.join("node_modules/.bin/tsc"));
    compiler.arg("--noEmit").current_dir(&folder);
    command::capture(&mut compiler).map(drop)
}

fn source(workspace: &Workspace) -> PathBuf {
    workspace.root.join("console")
}

/// Where it is built, with the packages that it uses.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target().join("console")
}

/// Puts the sources beside the packages that they use.
fn install(workspace: &Workspace) -> Result<()> {
    let (source, folder) = (source(workspace), folder(workspace));
    node::install_once(&source, &folder, "what builds the console")?;
    for name in SOURCES {
        copy(&source.join(name), &folder.join(name))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
        return Ok(());
    }
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// All sources as one text: whether they are others is seen by it.
fn text_of(source: &Path) -> Result<String> {
    let mut text = String::new();
    for name in SOURCES {
        add(&source.join(name), &mut text)?;
    }
    Ok(text)
}

fn add(path: &Path, text: &mut String) -> Result<()> {
    if path.is_dir() {
        let mut paths: Vec<_> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        paths.sort();
        return paths.iter().try_for_each(|path| add(path, text));
    }
    text.push_str(&format!("{}\n", path.display()));
    text.push_str(&fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?);
    Ok(())
}
