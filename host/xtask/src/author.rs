//! What an author of plugins does, in a folder outside the workspace: `wharf new`, the tests of the
//! new plugin, `wharf build`, a call of each tool, `wharf dev` with a client that sees an edit, and
//! what an operator does then.

mod client;
mod delivery;
mod plugin;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use self::plugin::{AuthoredPlugin, JAVASCRIPT, PYTHON, RUST, TYPESCRIPT};
use crate::command::{self, say};
use crate::coverage::LlvmTools;
use crate::foreign;
use crate::kits::JavaScriptKit;
use crate::python;
use crate::toolchain::{Choice, Toolchain};
use crate::workspace::Workspace;

/// Calls of the tools that need no network, and what their answers contain.
const CALLS: [(&str, &str, &str); 6] = [
    ("greet", r#"{"name": "Ada"}"#, "Welcome, Ada."),
    ("count_visit", r#"{"visitor": "Ada"}"#, "Visit 1 of Ada."),
    ("count_visit", r#"{"visitor": "Ada"}"#, "Visit 2 of Ada."),
    ("compiler_version", "{}", "Free Software Foundation|Debian|clang|cc "),
    ("compute", r#"{"expression": "6 * 7"}"#, "42"),
    ("write_note", r#"{"text": "remember"}"#, "Wrote note.txt."),
];
/// What a plugin may be made with.
const ALL: &str = "state,process,terminal,webview,http,workspace";

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let toolchain = Toolchain::prepare(workspace, Choice::from_environment()?)?;
    // Below the target directory, it is part of no workspace.
    let here = workspace.target().join("author");
    if here.exists() {
        fs::remove_dir_all(&here)?;
    }
    let folder = |name: &str| -> Result<PathBuf> {
        let folder = here.join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    };
    let author = Author { wharf: workspace.binary("debug", "wharf"), here: folder("plugins")? };
    let mut plugins = vec![author.in_rust(workspace, &toolchain)?];
    plugins.extend(author.in_python(workspace)?);
    plugins.extend(author.in_javascript(workspace)?);
    for plugin in &plugins {
        plugin.edit().with_context(|| format!("`wharf dev` of the plugin in {}", plugin.language.name))?;
        println!("author: a new plugin in {} is swapped at an edit", plugin.language.name);
    }
    let components = foreign::check(workspace, &folder("foreign")?)?;
    delivery::check(workspace, &folder("delivery")?, &plugins, &components)
}

struct Author {
    wharf: PathBuf,
    here: PathBuf,
}

impl Author {
    /// The command, and the folder in which plugins are made.
    fn places(&self) -> (&Path, &Path) {
        (&self.wharf, &self.here)
    }

    fn in_rust(&self, workspace: &Workspace, toolchain: &Toolchain) -> Result<AuthoredPlugin> {
        say("Making a plugin with `wharf new`, and running its tests");
        // Where cargo leaves what it builds, kept from run to run.
        let built = workspace.target().join("author-built");
        let plugin = AuthoredPlugin::make(("greeter", &RUST, ALL), self.places(), |tools| {
            tools.env("CARGO_TARGET_DIR", &built);
            toolchain.environment(tools);
        })?;
        // The versions that the workspace is built with, so that little is fetched.
        fs::copy(workspace.root.join("Cargo.lock"), plugin.folder.join("Cargo.lock"))?;
        command::run(command::cargo(&plugin.folder).args(["test", "--quiet"]).env("CARGO_TARGET_DIR", &built))?;
        say("Building its component with `wharf build`");
        command::run(&mut plugin.wharf(["build"])).with_context(|| toolchain.limits())?;
        let component = fs::read(plugin.folder.join("dist/greeter.wasm"))?;
        for said in ["greeter", "0.1.0", "Apache-2.0", "A plugin for Wharf.", ".dep-v0"] {
            let has = component.windows(said.len()).any(|part| part == said.as_bytes());
            ensure!(has, "the component does not say `{said}`");
        }
        for folder in [&self.here, &built] {
            let path = folder.to_string_lossy();
            let has_path = component.windows(path.len()).any(|part| part == path.as_bytes());
            ensure!(!has_path, "the component has a path of this machine in it: {path}");
        }
        say("Running its cases with `wharf test`");
        plugin.test(11)?;
        tell_failure(&plugin)?;
        count_lines(workspace, &plugin)?;
        call_each(&plugin)?;
        println!("author: a new plugin in Rust builds, passes its tests, and answers");
        Ok(plugin)
    }

    /// The same plugin in Python: its tests, its component, its cases.
    fn in_python(&self, workspace: &Workspace) -> Result<Option<AuthoredPlugin>> {
        say("Making the same plugin in Python");
        let folder = workspace.root.join("tests/guests/languages/python");
        let python = match python::interpreter(workspace, "componentize-py", &folder.join("requirements.txt")) {
            Ok(python) => python,
            Err(error) => {
                println!("author: NOT TESTED in Python: componentize-py cannot be had here: {error:#}");
                return Ok(None);
            }
        };
        let programs = python.parent().context("an interpreter lies in a folder")?;
        let path = command::search_path(programs, None)?;
        let plugin = AuthoredPlugin::make(("snake", &PYTHON, ALL), self.places(), |tools| {
            tools.env("PATH", path);
        })?;
        let tests = ["-m", "unittest", "discover", "-s", "tests", "-t", "."];
        command::run(Command::new(&python).args(tests).current_dir(&plugin.folder).env("PYTHONPATH", "kit"))?;
        plugin.test(11)?;
        println!("author: a new plugin in Python builds, passes its tests, and answers");
        Ok(Some(plugin))
    }

    /// The same in TypeScript and JavaScript, on an engine each.
    fn in_javascript(&self, workspace: &Workspace) -> Result<Vec<AuthoredPlugin>> {
        say("Making a plugin in TypeScript and one in JavaScript");
        let kit = match JavaScriptKit::prepare(workspace) {
            Ok(kit) => kit,
            Err(error) => {
                println!("author: NOT TESTED in JavaScript: npm or its packages cannot be had here: {error:#}");
                return Ok(Vec::new());
            }
        };
        kit.build()?;
        let mut plugins = Vec::new();
        // One engine has no fetch, and the other one is large.
        for (name, language, with, cases) in [
            ("script", &TYPESCRIPT, "state,process,terminal,webview,workspace", 9),
            ("fetcher", &JAVASCRIPT, "state,http", 6),
        ] {
            let plugin = AuthoredPlugin::make((name, language, with), self.places(), |tools| {
                tools.env("PATH", kit.path());
            })?;
            kit.npm(&plugin.folder, &["install", "--silent", "--no-audit", "--no-fund"])?;
            kit.npm(&plugin.folder, &["test", "--silent"])?;
            plugin.test(cases)?;
            plugins.push(plugin);
        }
        println!("author: new plugins in TypeScript and JavaScript build, pass their tests, and answer");
        Ok(plugins)
    }
}

/// A case that cannot pass is told, for people and for programs.
fn tell_failure(plugin: &AuthoredPlugin) -> Result<()> {
    let cases = Path::new("cases.toml");
    let before = fs::read_to_string(plugin.folder.join(cases))?;
    plugin.change(cases, |text| text.replace("text = \"Welcome, Ada.\"", "text = \"Goodbye.\""))?;
    let output = plugin.wharf(["test", "greeted", "--no-build", "--tap"]).output()?;
    let told = String::from_utf8_lossy(&output.stdout);
    let is_told = told.contains("1..1\nnot ok 1 - somebody is greeted\n# expected the text\n# Goodbye.\n");
    ensure!(is_told && output.status.code() == Some(1), "`wharf test` told {}\n{told}", output.status);
    plugin.change(cases, |_changed| before)
}

/// The lines that its native tests reach, where LLVM's tools can be had.
fn count_lines(workspace: &Workspace, plugin: &AuthoredPlugin) -> Result<()> {
    let tools = match LlvmTools::find(workspace, Choice::from_environment()?) {
        Ok(tools) => tools,
        Err(error) => {
            println!("author: NOT TESTED whether lines are counted: {error:#}");
            return Ok(());
        }
    };
    let mut test = plugin.wharf(["test", "greeted", "--no-build", "--coverage", "--lcov", "dist/lcov.info"]);
    tools.environment(&mut test);
    let told = command::run_and_capture(&mut test)?;
    ensure!(told.contains("src/greeting.rs") && !told.contains("kit/"), "`wharf test --coverage` told\n{told}");
    let lcov = fs::read_to_string(plugin.folder.join("dist/lcov.info"))?;
    ensure!(lcov.contains("src/greeting.rs\n"), "its lines for other programs are\n{lcov}");
    Ok(())
}

fn call_each(plugin: &AuthoredPlugin) -> Result<()> {
    for (tool, arguments, expected) in CALLS {
        let tool = plugin.tool(tool);
        let answer = command::run_and_capture(&mut plugin.wharf(["call", &tool, arguments, "--config", "wharf.toml"]))?;
        ensure!(expected.split('|').any(|one| answer.contains(one)), "{tool} answered {answer:?} and not {expected:?}");
    }
    Ok(())
}
