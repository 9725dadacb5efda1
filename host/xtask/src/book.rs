//! `cargo xtask book`: the manual below `docs/` as a site, by mdBook. The plugin of the first page and
//! the chapters for authors of plugins, done as they say: a part of `cargo xtask test`.
//!
//! Knows where the book lies and which mdBook makes it; what is in it, `tidy` and the
//! end-to-end tests check without mdBook.

mod chapters;
mod first_plugin;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use lexopt::Arg;

use crate::command::{self, say};
use crate::workspace::Workspace;

/// Does what the first page and the chapters for authors say.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    first_plugin::check(workspace)?;
    chapters::check(workspace)
}

const HELP: &str = "\
Builds the manual (docs/) as a site in target/book, with mdBook. mdBook is installed
below target/tools where this version of it is missing: about two and a half minutes
of computing, once.

Usage: cargo xtask book [OPTIONS]

Options:
  --open      Show it in a browser afterwards
  -h, --help  This text

The pages are Markdown and read well without this: begin at docs/src/SUMMARY.md.
";

/// The version that the book is written for.
const VERSION: &str = "0.5.4";

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    let mut open = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("open") => open = true,
            Arg::Short('h') | Arg::Long("help") => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    build(&Workspace::find()?, open)
}

/// Builds the site, and opens it where that is asked for.
pub(crate) fn build(workspace: &Workspace, open: bool) -> Result<()> {
    let site = workspace.target().join("book");
    let mut build = Command::new(find(workspace)?);
    build.arg("build").arg(workspace.root.join("docs")).arg("--dest-dir").arg(&site);
    if open {
        build.arg("--open");
    }
    command::run(&mut build)?;
    println!("{}", site.join("index.html").display());
    Ok(())
}

/// The mdBook of this version: on the search path, or installed by this.
fn find(workspace: &Workspace) -> Result<PathBuf> {
    let is_right = |tool: &PathBuf| {
        let version = command::capture(Command::new(tool).arg("--version"));
        version.is_ok_and(|version| version.trim().trim_start_matches("mdbook v") == VERSION)
    };
    let common = PathBuf::from("mdbook");
    if is_right(&common) {
        return Ok(common);
    }
    let folder = workspace.target().join("tools");
    let tool = folder.join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    if !is_right(&tool) {
        say(&format!("Installing mdBook {VERSION} below target/tools (once; some minutes to compile)."));
        let mut cargo = command::cargo(&workspace.root);
        cargo.args(["install", "--locked", "--quiet", "--force", "mdbook", "--version", VERSION]);
        // Without its server; with the search of the site, which costs seconds.
        cargo.args(["--no-default-features", "--features", "search", "--root"]).arg(&folder);
        command::run(&mut cargo)?;
    }
    if !is_right(&tool) {
        bail!("{} is not mdBook {VERSION}: remove it and try again", tool.display());
    }
    Ok(tool)
}
