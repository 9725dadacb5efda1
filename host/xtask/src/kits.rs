//! The kits for authors in Python and in JavaScript: their own tests, their types, their style, and
//! plugins that are made with them in a real host. A part of `cargo xtask test`.
//!
//! Knows how each kit's tests are run. Says so where a language's tools cannot be had; a kit whose
//! tests fail fails the part.

mod javascript;
mod python;

use std::fs;
use std::panic;
use std::path::Path;
use std::thread;

use anyhow::Result;

use crate::command::{self, say};
use crate::test::closes_a_run;
use crate::workspace::Workspace;

pub(crate) use javascript::JavaScriptKit;

/// The tests of guests in every language, as cargo-nextest is told.
const LANGUAGES: &str = "package(wharf-tests) and test(/^languages::/)";

/// What became of a kit's tests, and the lines that say it.
type KitOutcome = (Result<()>, Vec<String>);

/// Tries both kits, beside each other, since what makes a component computes on one processor. Then
/// the tests that guests of every language pass.
pub(crate) fn check(workspace: &Workspace) -> Result<KitOutcome> {
    let guests = workspace.target().join("kit-guests");
    if guests.exists() {
        fs::remove_dir_all(&guests)?;
    }
    fs::create_dir_all(&guests)?;
    let (python, javascript) = thread::scope(|scope| {
        let python = scope.spawn(|| python::check(workspace, &guests));
        let javascript = javascript::check(workspace, &guests);
        (python.join().unwrap_or_else(|panic| panic::resume_unwind(panic)), javascript)
    });
    let (python, mut said) = python?;
    let (javascript, further) = javascript?;
    said.extend(further);
    let (languages, further) = languages(workspace, &guests)?;
    said.extend(further);
    Ok((python.and(javascript).and(languages), said))
}

/// The tests of `tests/tests/end_to_end/languages` with each guest that was made.
fn languages(workspace: &Workspace, guests: &Path) -> Result<KitOutcome> {
    let mut named = Vec::new();
    for entry in fs::read_dir(guests)? {
        let path = entry?.path();
        let language = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        named.push(format!("{language}={}", path.display()));
    }
    named.sort();
    say("Testing guests of every language by the same tests");
    let with_nextest = ["nextest", "run", "--workspace", "--no-fail-fast", "-E", LANGUAGES];
    let without = ["test", "--workspace", "--test", "end_to_end", "languages::"];
    let mut tests = command::testing(&workspace.root, &with_nextest, &without)?;
    tests.env("WHARF", workspace.binary("debug", "wharf")).env("WHARF_KIT_GUESTS", named.join(";"));
    command::run_and_keep(&mut tests, closes_a_run)
}

/// What is said of a kit whose tools are missing here.
fn not_tested(kit: &str, error: &anyhow::Error) -> KitOutcome {
    let line = format!("kits: NOT TESTED in {kit}: its tools cannot be had here: {error:#}");
    println!("{line}");
    (Ok(()), vec![line])
}
