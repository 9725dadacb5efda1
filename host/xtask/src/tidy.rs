//! `cargo xtask tidy`: the rules of the project that a compiler does not check.
//!
//! Owns the walk over the repository and the report; each rule is a module
//! that turns text into violations and touches no file itself.

mod book;
mod circles;
mod doors;
mod edges;
mod errors;
mod features;
mod imports;
mod links;
mod named;
mod names;
mod prose;
mod sizes;
mod sleeps;
mod source;
mod text;
mod vetted;
mod violation;
mod wit;
mod words;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use lexopt::Arg;

use self::source::SourceFile;
use self::violation::Violation;
use crate::workspace::Workspace;

const HELP: &str = "\
Checks the rules of the project, in seconds:
  - who may depend on whom (the table is in host/xtask/src/tidy/edges.rs), by a version beside the path
  - an app without a feature of the library does not compile the crates of that feature
  - no circle of more than three files in a crate
  - no name shared by types of more than three crates
  - no public function or field with an error that is a text
  - only wharf-spawn starts programs, and only few files of the engine link what is not counted by `watch`
  - every crate inherits the workspace's lints
  - each package of Cargo.lock was read or is exempt, at that very version (supply-chain/)
  - Rust files are at most 500 lines (more than 400 is a warning), and none is a `mod.rs`
  - every item of the WIT contract is documented, and its words are listed in contract/ alone
  - no test sleeps: tests wait for conditions, with the crate of their support
  - no leftovers, no switched-off tests, no paths of somebody's machine, comments that say who is meant
  - the documents are there, and their local links and anchors lead somewhere
  - paragraphs of the documents have at most 100 words, and blocks of JSON are JSON
  - README.md has at most 150 lines and ARCHITECTURE.md 200
  - the book's summary names every page of it
  - the tests that the documents name as proof are there

Each violation is one line: where, what, and how to mend it.

Usage: cargo xtask tidy
";

/// Documents that a reader expects.
const DOCUMENTS: [&str; 10] = [
    "README.md",
    "README.ko.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE",
    "wit/README.md",
    "wit/CHANGELOG.md",
    "docs/src/SUMMARY.md",
];

/// Folders that hold nothing of ours.
const NOT_OURS: [&str; 5] = ["target", ".git", "__pycache__", "node_modules", ".venv"];

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<()> {
    match arguments.next()? {
        None => check(&Workspace::find()?),
        Some(Arg::Short('h') | Arg::Long("help")) => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => Err(other.unexpected().into()),
    }
}

/// Checks everything, prints the violations, and fails where there is one.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut sources = Vec::new();
    collect(&workspace.root, Path::new(""), &mut sources)?;
    let mut violations = edges::check(workspace)?;
    violations.extend(features::check(workspace)?);
    violations.extend(vetted::check(workspace)?);
    violations.extend(circles::check(&sources));
    violations.extend(words::check(&sources));
    violations.extend(names::check(&sources));
    let targets = links::Targets::new(&sources, |target: &Path| workspace.root.join(target).exists());
    violations.extend(book::check(&sources));
    for source in &sources {
        violations.extend(text::check(source));
        if source.is("rs") {
            violations.extend(sizes::check(source));
            violations.extend(errors::check(source));
            violations.extend(doors::check(source));
            violations.extend(sleeps::check(source));
        }
        if source.is("wit") && source.path.starts_with("wit") {
            violations.extend(wit::check(source));
        }
        if source.is("md") {
            violations.extend(targets.check(source));
            violations.extend(prose::check(source));
            violations.extend(book::json(source));
            violations.extend(named::check(source, &sources));
        }
    }
    for document in DOCUMENTS {
        if !workspace.root.join(document).is_file() {
            violations.push(Violation::new(Path::new(document), 0, "is missing - write it"));
        }
    }
    violations
        .sort_by(|left, right| (left.warning, &left.path, left.line).cmp(&(right.warning, &right.path, right.line)));
    for violation in &violations {
        println!("{violation}");
    }
    let broken = violations.iter().filter(|violation| !violation.warning).count();
    if broken > 0 {
        bail!("tidy found {broken} violation(s)");
    }
    println!("tidy: {} files keep the rules of the project", sources.len());
    Ok(())
}

/// Reads all text files below `folder`, in a fixed order.
fn collect(root: &Path, folder: &Path, sources: &mut Vec<SourceFile>) -> Result<()> {
    let mut entries = fs::read_dir(root.join(folder))?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let path = folder.join(&name);
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !NOT_OURS.iter().any(|foreign| name == *foreign) {
                collect(root, &path, sources)?;
            }
        } else if kind.is_file() && name != "Cargo.lock" && name != ".git" {
            let bytes = fs::read(root.join(&path)).with_context(|| format!("cannot read {}", path.display()))?;
            // What is not UTF-8 is a component or a picture: no rule is about it.
            if let Ok(text) = String::from_utf8(bytes) {
                sources.push(SourceFile { path, text });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_or_downloaded_is_not_checked() {
        let root = tempfile::tempdir().expect("a folder");
        for path in ["target/a.rs", "host/src/b.rs", "tests/__pycache__/c.py"] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, "text").expect("written");
        }
        let mut sources = Vec::new();
        collect(root.path(), Path::new(""), &mut sources).expect("collected");
        let paths: Vec<_> = sources.iter().map(|source| source.path.to_string_lossy().into_owned()).collect();
        assert_eq!(paths, ["host/src/b.rs"]);
    }
}
