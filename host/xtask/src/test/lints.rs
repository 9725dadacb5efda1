//! The lints of the workspace, warnings being errors.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::command;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    if !command::builds_lint() {
        let mut clippy = command::cargo(&workspace.root);
        return command::run(clippy.args([
            "clippy",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]));
    }
    // What was compiled before says again what it said then. All targets but the components,
    // which have no form for this system: their code is linted with its tests.
    let build = "build --quiet --workspace --bins --tests --examples --benches --message-format json";
    let build: Vec<_> = build.split(' ').collect();
    let told = told(command::building(&workspace.root, &build)?)?;
    for text in &told {
        eprintln!("{text}");
    }
    if !told.is_empty() {
        bail!("{} warnings of the compiler and of clippy", told.len());
    }
    Ok(())
}

/// What the compiler said.
fn told(mut build: Command) -> Result<Vec<String>> {
    eprintln!("  $ {}", command::shown(&build));
    let output = build.stderr(Stdio::inherit()).output()?;
    let told: Vec<_> = String::from_utf8_lossy(&output.stdout).lines().filter_map(diagnostic).collect();
    if told.is_empty() && !output.status.success() {
        bail!("the build ended with {}", output.status);
    }
    Ok(told)
}

/// The text of a line of cargo's JSON that is a warning or an error of the compiler.
fn diagnostic(line: &str) -> Option<String> {
    let said: Value = serde_json::from_str(line).ok()?;
    if said["reason"] != "compiler-message" {
        return None;
    }
    let rendered = said["message"]["rendered"].as_str()?;
    Some(rendered.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_compiler_says_is_told_and_nothing_else() {
        let warning = r#"{"reason":"compiler-message","message":{"level":"warning","rendered":"warning: unused\n"}}"#;
        assert_eq!(diagnostic(warning).as_deref(), Some("warning: unused"));
        for other in [r#"{"reason":"compiler-artifact","message":{"rendered":"x"}}"#, "", "text"] {
            assert_eq!(diagnostic(other), None);
        }
    }
}
