//! What an author of plugins does, in a folder outside the workspace: `wharf new`, the tests of the
//! new plugin, `wharf build`, a call of each tool, and `wharf dev` with a client that sees an edit.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use crate::command::{self, say};
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

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let toolchain = Toolchain::prepare(workspace, Choice::from_environment()?)?;
    // Below the target directory, it is part of no workspace.
    let here = workspace.target().join("author");
    if here.exists() {
        fs::remove_dir_all(&here)?;
    }
    fs::create_dir_all(&here)?;
    let author =
        Author { wharf: workspace.binary("debug", "wharf"), here, built: workspace.target().join("author-built") };
    let plugin = author.new_plugin(workspace)?;
    author.build(&plugin, &toolchain)?;
    author.test(&plugin, &toolchain)?;
    author.call_each(&plugin)?;
    author.edit(&plugin, &toolchain)?;
    println!("author: a new plugin in Rust builds, passes its tests, answers, and is swapped at an edit");
    author.in_python(workspace)?;
    author.in_javascript(workspace)?;
    let foreign = author.here.join("foreign");
    fs::create_dir_all(&foreign)?;
    foreign::check(workspace, &foreign)
}

struct Author {
    wharf: PathBuf,
    here: PathBuf,
    /// Where cargo leaves what it builds, kept from run to run.
    built: PathBuf,
}

impl Author {
    fn wharf(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.wharf);
        command.current_dir(folder).env("CARGO_TARGET_DIR", &self.built);
        command
    }

    fn new_plugin(&self, workspace: &Workspace) -> Result<PathBuf> {
        say("Making a plugin with `wharf new`, and running its tests");
        let all = "state,process,terminal,webview,http,workspace";
        command::run(self.wharf(&self.here).args(["new", "greeter", "--with", all]))?;
        let plugin = self.here.join("greeter");
        // The versions that the workspace is built with, so that little is fetched.
        fs::copy(workspace.root.join("Cargo.lock"), plugin.join("Cargo.lock"))?;
        command::run(command::cargo(&plugin).args(["test", "--quiet"]).env("CARGO_TARGET_DIR", &self.built))?;
        Ok(plugin)
    }

    fn build(&self, plugin: &Path, toolchain: &Toolchain) -> Result<()> {
        say("Building its component with `wharf build`");
        let mut build = self.wharf(plugin);
        build.arg("build");
        toolchain.environment(&mut build);
        command::run(&mut build).with_context(|| toolchain.limits())?;
        let component = fs::read(plugin.join("dist/greeter.wasm"))?;
        for said in ["greeter", "0.1.0", "Apache-2.0", "A plugin for Wharf.", ".dep-v0"] {
            let has = component.windows(said.len()).any(|part| part == said.as_bytes());
            ensure!(has, "the component does not say `{said}`");
        }
        let path = self.here.to_string_lossy();
        let has_path = component.windows(path.len()).any(|part| part == path.as_bytes());
        ensure!(!has_path, "the component has a path of this machine in it");
        Ok(())
    }

    /// Its cases pass, and one that cannot pass is told.
    fn test(&self, plugin: &Path, toolchain: &Toolchain) -> Result<()> {
        say("Running its cases with `wharf test`");
        let mut test = self.wharf(plugin);
        test.arg("test");
        toolchain.environment(&mut test);
        let told = command::run_and_capture(&mut test)?;
        ensure!(told.contains("test result: ok. 11 passed; 0 failed"), "`wharf test` told\n{told}");
        let cases = plugin.join("cases.toml");
        let text = fs::read_to_string(&cases)?;
        fs::write(&cases, text.replace("text = \"Welcome, Ada.\"", "text = \"Goodbye.\""))?;
        let output = self.wharf(plugin).args(["test", "greeted", "--no-build", "--tap"]).output()?;
        let told = String::from_utf8_lossy(&output.stdout);
        let is_told = told.contains("1..1\nnot ok 1 - somebody is greeted\n# expected the text\n# Goodbye.\n");
        ensure!(is_told && output.status.code() == Some(1), "`wharf test` told {}\n{told}", output.status);
        fs::write(&cases, text)?;
        self.test_scripted(plugin)?;
        self.count_lines(plugin)
    }

    /// The cases need no compiler, browser or network: they pass where nothing real may be used.
    fn test_scripted(&self, plugin: &Path) -> Result<()> {
        let cases = fs::read_to_string(plugin.join("cases.toml"))?;
        let scripted = plugin.join("dist/scripted.toml");
        fs::write(&scripted, format!("only_scripted = true\n{cases}"))?;
        let mut test = self.wharf(plugin);
        command::run_and_capture(test.args(["test", "--no-build", "--cases", "dist/scripted.toml"]))?;
        Ok(fs::remove_file(scripted)?)
    }

    /// The lines that its native tests reach, where LLVM's tools can be had.
    fn count_lines(&self, plugin: &Path) -> Result<()> {
        let mut test = self.wharf(plugin);
        let output = test.args(["test", "greeted", "--no-build", "--coverage", "--lcov", "dist/lcov.info"]).output()?;
        let (told, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if said.contains("`llvm-profdata` and `llvm-cov` of LLVM") {
            println!("author: NOT TESTED whether lines are counted: {}", said.trim());
            return Ok(());
        }
        ensure!(output.status.success(), "`wharf test --coverage` failed\n{told}\n{said}");
        ensure!(told.contains("src/greeting.rs") && !told.contains("kit/"), "`wharf test --coverage` told\n{told}");
        let lcov = fs::read_to_string(plugin.join("dist/lcov.info"))?;
        ensure!(lcov.contains("src/greeting.rs\n"), "its lines for other programs are\n{lcov}");
        Ok(())
    }

    fn call_each(&self, plugin: &Path) -> Result<()> {
        for (tool, arguments, expected) in CALLS {
            let mut call = self.wharf(plugin);
            call.args(["call", &format!("greeter__{tool}"), arguments, "--config", "wharf.toml"]);
            let answer = command::run_and_capture(&mut call)?;
            ensure!(
                expected.split('|').any(|one| answer.contains(one)),
                "{tool} answered {answer:?} and not {expected:?}"
            );
        }
        Ok(())
    }

    /// The same plugin in Python: its tests, its component, its cases.
    fn in_python(&self, workspace: &Workspace) -> Result<()> {
        say("Making the same plugin in Python");
        let folder = workspace.root.join("tests/guests/languages/python");
        let python = match python::interpreter(workspace, "componentize-py", &folder.join("requirements.txt")) {
            Ok(python) => python,
            Err(error) => {
                println!("author: NOT TESTED in Python: componentize-py cannot be had here: {error:#}");
                return Ok(());
            }
        };
        let programs = python.parent().context("an interpreter lies in a folder")?;
        let path = command::search_path(programs, None)?;
        let all = "state,process,terminal,webview,http,workspace";
        command::run(self.wharf(&self.here).args(["new", "snake", "--language", "python", "--with", all]))?;
        let plugin = self.here.join("snake");
        let tests = ["-m", "unittest", "discover", "-s", "tests", "-t", "."];
        command::run(Command::new(&python).args(tests).current_dir(&plugin).env("PYTHONPATH", "kit"))?;
        let told = command::run_and_capture(self.wharf(&plugin).arg("test").env("PATH", path))?;
        ensure!(told.contains("test result: ok. 11 passed; 0 failed"), "`wharf test` told\n{told}");
        self.test_scripted(&plugin)?;
        println!("author: a new plugin in Python builds, passes its tests, and answers");
        Ok(())
    }

    /// The same in TypeScript and JavaScript, on an engine each.
    fn in_javascript(&self, workspace: &Workspace) -> Result<()> {
        say("Making a plugin in TypeScript and one in JavaScript");
        let kit = match JavaScriptKit::prepare(workspace) {
            Ok(kit) => kit,
            Err(error) => {
                println!("author: NOT TESTED in JavaScript: npm or its packages cannot be had here: {error:#}");
                return Ok(());
            }
        };
        kit.build()?;
        // One engine has no fetch, and the other one is large.
        for (name, language, with, cases) in [
            ("script", "typescript", "state,process,terminal,webview,workspace", 9),
            ("fetcher", "javascript", "state,http", 6),
        ] {
            command::run(self.wharf(&self.here).args(["new", name, "--language", language, "--with", with]))?;
            let plugin = self.here.join(name);
            kit.npm(&plugin, &["install", "--silent", "--no-audit", "--no-fund"])?;
            kit.npm(&plugin, &["test", "--silent"])?;
            let told = command::run_and_capture(self.wharf(&plugin).arg("test").env("PATH", kit.path()))?;
            ensure!(told.contains(&format!("test result: ok. {cases} passed; 0 failed")), "`wharf test` told\n{told}");
            self.test_scripted(&plugin)?;
        }
        println!("author: new plugins in TypeScript and JavaScript build, pass their tests, and answer");
        Ok(())
    }

    /// A client that is connected sees what an edit changes, and nothing of one that does not build.
    fn edit(&self, plugin: &Path, toolchain: &Toolchain) -> Result<()> {
        say("Editing it while `wharf dev` serves a client");
        let source = plugin.join("src/greeting.rs");
        let text = fs::read_to_string(&source)?;
        let mut dev = self.wharf(plugin);
        dev.args(["dev", "--stdio"]);
        toolchain.environment(&mut dev);
        let mut client = DevClient::start(&mut dev)?;
        client.until_described("The model reads this to choose the tool.")?;
        fs::write(&source, format!("{text}\nfn"))?;
        client.until_logged("error: `cargo build` failed")?;
        ensure!(client.greeting()? == "Welcome, Ada.", "what does not build changes what is served");
        let edited =
            text.replace("The model reads this to choose the tool.", "Edited.").replace("Welcome,", "Good day,");
        fs::write(&source, edited)?;
        client.until_described("Edited.")?;
        ensure!(client.greeting()? == "Good day, Ada.", "the edit is not served");
        client.end()
    }
}

/// A client of `wharf dev` over standard input and output.
struct DevClient {
    server: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    log: BufReader<std::process::ChildStderr>,
    last: u64,
}

impl DevClient {
    fn start(dev: &mut Command) -> Result<Self> {
        let mut server = dev.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (requests, answers, log) = (server.stdin.take(), server.stdout.take(), server.stderr.take());
        let (Some(requests), Some(answers), Some(log)) = (requests, answers, log) else { bail!("there are no pipes") };
        let (answers, log) = (BufReader::new(answers), BufReader::new(log));
        let mut client = Self { server, requests, answers, log, last: 0 };
        let client_info = json!({ "name": "author", "version": "1" });
        client.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client_info }),
        )?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.requests, "{message}")?;
        Ok(self.requests.flush()?)
    }

    fn read(&mut self) -> Result<Value> {
        let mut line = String::new();
        ensure!(self.answers.read_line(&mut line)? > 0, "`wharf dev` ended");
        Ok(serde_json::from_str(&line)?)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }))?;
        loop {
            let mut message = self.read()?;
            if message["id"] == self.last {
                return Ok(message["result"].take());
            }
        }
    }

    /// Waits for news of the tools until the greeting is described so.
    fn until_described(&mut self, words: &str) -> Result<()> {
        loop {
            let listed = self.ask("tools/list", &json!({}))?;
            let tools = listed["tools"].as_array().cloned().unwrap_or_default();
            let greet = tools.iter().find(|tool| tool["name"] == "greeter__greet");
            if greet.is_some_and(|tool| tool["description"].as_str().is_some_and(|text| text.contains(words))) {
                return Ok(());
            }
            while self.read()?["method"] != "notifications/tools/list_changed" {}
        }
    }

    fn until_logged(&mut self, words: &str) -> Result<()> {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            ensure!(self.log.read_line(&mut line)? > 0, "`wharf dev` ended and did not say {words:?}");
        }
        Ok(())
    }

    fn greeting(&mut self) -> Result<String> {
        let call = json!({ "name": "greeter__greet", "arguments": { "name": "Ada" } });
        let answer = self.ask("tools/call", &call)?;
        Ok(answer["content"][0]["text"].as_str().unwrap_or_default().to_owned())
    }

    fn end(self) -> Result<()> {
        let Self { mut server, requests, log, .. } = self;
        drop(requests);
        // What it still says must not stop it.
        let rest = std::thread::spawn(move || log.lines().count());
        let status = server.wait()?;
        let _lines = rest.join();
        ensure!(status.success(), "`wharf dev` ended with {status}");
        Ok(())
    }
}
