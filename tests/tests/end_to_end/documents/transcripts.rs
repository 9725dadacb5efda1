//! Every `console` block: its commands are run, and answer what stands below them.

use std::{path::Path, process::Command};

use wharf_tests::Data;

use super::{
    matching::matches,
    pages::{Page, pages},
};

/// A command and what it is shown to answer.
struct Step {
    line: usize,
    command: String,
    shown: String,
}

/// Blocks that begin with cargo build a plugin: `cargo xtask test` follows those.
fn steps(page: &Page) -> Vec<Step> {
    let mut steps = Vec::<Step>::new();
    let blocks = page.blocks();
    let run = blocks.iter().filter(|block| block.language == "console" && !block.text.starts_with("$ cargo"));
    for block in run {
        for (index, line) in block.text.lines().enumerate() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    let line = block.line + 1 + index;
                    steps.push(Step { line, command: command.to_owned(), shown: String::new() });
                }
                (None, Some(step)) => step.shown.push_str(&format!("{line}\n")),
                (None, None) => panic!("{}:{}: an answer without a command", page.path, block.line),
            }
        }
    }
    steps
}

/// What a command prints, run by a shell in a directory whose `wharf` is the built one.
fn run(directory: &Path, data: &Path, command: &str) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(directory);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("WHARF_") {
            shell.env_remove(&name);
        }
    }
    let path = std::env::join_paths(
        std::iter::once(directory.join("bin"))
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    shell.env("PATH", path.expect("a search path")).env("WHARF_DATA", data);
    shell.env("HOME", directory).env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
    let output = shell.output().expect("there is a shell");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_transcript_in_the_documents_is_what_happens() {
    let mut followed = 0;
    for page in pages() {
        let steps = steps(&page);
        if steps.is_empty() {
            continue;
        }
        let (home, data) = (Data::alone(), Data::new());
        std::fs::create_dir(home.path().join("bin")).expect("made");
        std::os::unix::fs::symlink(wharf_tests::program(), home.path().join("bin/wharf")).expect("a link");
        for Step { line, command, shown } in steps {
            let came = run(home.path(), data.path(), &command);
            assert!(matches(&shown, &came), "{}:{line}: `{command}` answers:\n{came}", page.path);
            followed += 1;
        }
    }
    assert!(followed >= 5, "{followed} commands were run");
}
