//! The chapters that take a newcomer from nothing to a published plugin, and an operator to a host for untrusted
//! ones: their blocks are run in their order in an empty folder, as a reader would.
//!
//! A block of `sh` is run; a block with a name behind its language is written to that file, or with
//! `+` to its end; a block of `text` is what the block before it prints last.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{self, say};
use crate::kits::JavaScriptKit;
use crate::python;
use crate::registry::LocalRegistry;
use crate::toolchain::{Choice, Toolchain};
use crate::workspace::Workspace;

/// Where the chapters say that a registry is, and a host.
const REGISTRY: &str = "127.0.0.1:5000";
const HOST: &str = "127.0.0.1:8088";

/// What a block of a chapter has its reader do.
#[derive(Debug, PartialEq, Eq)]
enum ChapterStep {
    Run(String),
    Write { file: String, text: String, at_end: bool },
    Expect(String),
}

/// Follows the chapter of each language. Says so where a language's tools cannot be had.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let registry = LocalRegistry::start(workspace, &workspace.target().join("chapters"))?;
    if registry.is_none() {
        println!("book: NOT TESTED: publishing and what follows it: docker-registry cannot be had here");
    }
    let registry = registry.as_ref().map(|registry| registry.address.as_str());
    // What makes a component of Python computes on one processor alone.
    thread::scope(|scope| {
        let python = scope.spawn(|| in_python(workspace, registry));
        let others = in_rust(workspace, registry).and_then(|()| in_javascript(workspace, registry));
        let others = others.and_then(|()| with_untrusted_plugins(workspace));
        let python = python.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        others.and(python)
    })
}

fn in_rust(workspace: &Workspace, registry: Option<&str>) -> Result<()> {
    let with_rust = with_rust(workspace)?;
    follow(workspace, "writing/rust", &at_registry("rust", registry), command::as_new_user, with_rust)
}

/// What a shell needs in which a plugin is built in Rust; what one chapter compiles, another one finds.
fn with_rust(workspace: &Workspace) -> Result<impl Fn(&mut Command)> {
    let toolchain = Toolchain::prepare(workspace, Choice::from_environment()?)?;
    let built = workspace.target().join("author-built");
    Ok(move |shell: &mut Command| {
        shell.env("CARGO_TARGET_DIR", &built);
        toolchain.environment(shell);
    })
}

fn in_python(workspace: &Workspace, registry: Option<&str>) -> Result<()> {
    // What the chapter has its reader install comes from the same place.
    let requirements = workspace.root.join("tests/guests/languages/python/requirements.txt");
    if let Err(error) = python::interpreter(workspace, "componentize-py", &requirements) {
        println!("book: NOT TESTED: the chapter for Python: componentize-py cannot be had here: {error:#}");
        return Ok(());
    }
    follow(workspace, "writing/python", &at_registry("python", registry), command::as_new_user, |_shell| {})
}

fn in_javascript(workspace: &Workspace, registry: Option<&str>) -> Result<()> {
    let kit = match JavaScriptKit::prepare(workspace) {
        Ok(kit) => kit,
        Err(error) => {
            println!("book: NOT TESTED: the chapter for JavaScript: npm or its packages cannot be had here: {error:#}");
            return Ok(());
        }
    };
    follow(workspace, "writing/javascript", &at_registry("javascript", registry), command::as_new_user, |shell| {
        shell.env("PATH", kit.path());
    })
}

/// Each chapter publishes a plugin of the same name.
fn at_registry(chapter: &str, registry: Option<&str>) -> [Replacement; 1] {
    [(REGISTRY, registry.map(|address| format!("{address}/{chapter}")))]
}

/// The chapter for operators.
fn with_untrusted_plugins(workspace: &Workspace) -> Result<()> {
    if !command::exists("minisign") {
        println!("book: NOT TESTED: the chapter about untrusted plugins: minisign cannot be had here");
        return Ok(());
    }
    let doctor = Command::new(workspace.binary("debug", "wharf")).args(["doctor"]).output()?;
    if String::from_utf8_lossy(&doctor.stdout).contains("not whole") {
        println!("book: NOT TESTED: the chapter about untrusted plugins: no host confines itself here");
        return Ok(());
    }
    let with_rust = with_rust(workspace)?;
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr())?;
    let replaced = [(HOST, Some(address.to_string()))];
    let followed = follow(workspace, "operating/untrusted", &replaced, command::at_home, with_rust);
    // A host that the reader started may serve where a block failed.
    let folder = workspace.target().join("chapters/operating/untrusted/.config/wharf");
    let mut kill = Command::new("sh");
    kill.args(["-c", "kill -KILL $(cat host.pid)"]).current_dir(folder).stderr(Stdio::null());
    let _ = kill.status();
    followed
}

/// What a chapter says, and what it is in a test; none where the test ends there.
type Replacement = (&'static str, Option<String>);

/// Follows one chapter as the user that `at` has programs be, with what `prepare` adds to each of its shells.
fn follow(
    workspace: &Workspace,
    chapter: &str,
    replaced: &[Replacement],
    at: fn(&mut Command, &Path),
    prepare: impl Fn(&mut Command),
) -> Result<()> {
    let page = format!("docs/src/{chapter}.md");
    say(&format!("Following the chapter {page}"));
    let text = fs::read_to_string(workspace.root.join(&page)).with_context(|| format!("cannot read {page}"))?;
    let home = workspace.target().join("chapters").join(chapter);
    if home.exists() {
        fs::remove_dir_all(&home)?;
    }
    fs::create_dir_all(home.join("here"))?;
    let began = Instant::now();
    let mut reader = Reader { workspace, be: at, at: home.join("here"), home, printed: String::new() };
    for step in steps(&text)? {
        let Some(step) = step.replaced(replaced) else { break };
        match step {
            ChapterStep::Run(script) => reader.run(&script, &prepare),
            ChapterStep::Write { file, text, at_end } => reader.write(&file, &text, at_end),
            ChapterStep::Expect(text) => reader.expect(&text),
        }
        .with_context(|| format!("{page} cannot be followed"))?;
    }
    let seconds = began.elapsed().as_secs();
    println!("book: {page} can be followed from its first block to its last, in {seconds} s");
    Ok(())
}

impl ChapterStep {
    /// The step as a test takes it; none where the test ends before.
    fn replaced(self, replaced: &[Replacement]) -> Option<Self> {
        let all = |mut text: String| {
            for (said, meant) in replaced {
                if text.contains(said) {
                    text = text.replace(said, meant.as_deref()?);
                }
            }
            Some(text)
        };
        Some(match self {
            Self::Run(script) => Self::Run(all(script)?),
            Self::Write { file, text, at_end } => Self::Write { file, text: all(text)?, at_end },
            Self::Expect(text) => Self::Expect(text),
        })
    }
}

/// The reader who follows a chapter: the folder they are in, and what they saw last.
struct Reader<'w> {
    workspace: &'w Workspace,
    be: fn(&mut Command, &Path),
    home: PathBuf,
    at: PathBuf,
    printed: String,
}

impl Reader<'_> {
    fn run(&mut self, script: &str, prepare: &impl Fn(&mut Command)) -> Result<()> {
        let (folder, program) = (self.home.join("folder"), self.workspace.binary("debug", "wharf"));
        let mut shell = Command::new("sh");
        shell.arg("-ec").arg(format!("{script}\npwd > '{}'", folder.display())).current_dir(&self.at);
        prepare(&mut shell);
        let given =
            shell.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path.map(ToOwned::to_owned));
        let beside = program.parent().context("a program lies in a folder")?;
        shell.env("PATH", command::search_path(beside, given)?);
        (self.be)(&mut shell, &self.home);
        self.printed = command::run_and_capture(&mut shell)?;
        self.at = fs::read_to_string(&folder)?.trim_end().into();
        // The versions that the workspace is built with, so that little is fetched and compiled.
        let below = fs::read_dir(&self.at)?.flatten().map(|entry| entry.path());
        for folder in std::iter::once(self.at.clone()).chain(below) {
            let locked = folder.join("Cargo.lock");
            if folder.join("Cargo.toml").is_file() && !locked.exists() {
                fs::copy(self.workspace.root.join("Cargo.lock"), locked)?;
            }
        }
        Ok(())
    }

    fn write(&self, file: &str, text: &str, at_end: bool) -> Result<()> {
        let path = self.at.join(file);
        let mut options = OpenOptions::new();
        if at_end {
            // A reader adds to what is there.
            options.append(true);
        } else {
            options.write(true).create(true).truncate(true);
        }
        let mut opened = options.open(&path).with_context(|| format!("cannot write {file}"))?;
        Ok(opened.write_all(text.as_bytes())?)
    }

    fn expect(&self, text: &str) -> Result<()> {
        ensure!(
            self.printed.trim_end().ends_with(text.trim_end()),
            "the page shows\n{text}but this was printed:\n{}",
            self.printed
        );
        Ok(())
    }
}

/// The blocks of a chapter. One that nothing is done with is an error.
fn steps(page: &str) -> Result<Vec<ChapterStep>> {
    let (mut steps, mut open) = (Vec::new(), None::<(String, String)>);
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(named)) => open = Some((named.to_owned(), String::new())),
            (None, None) => {}
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (Some(_), Some(_)) => {
                let Some((named, text)) = open.take() else { continue };
                let mut words = named.split(' ');
                steps.push(match (words.next(), words.next(), words.next()) {
                    (Some("sh"), None, None) => ChapterStep::Run(text),
                    (Some("text"), None, None) => ChapterStep::Expect(text),
                    (Some(_), Some(file), None) => ChapterStep::Write { file: file.to_owned(), text, at_end: false },
                    (Some(_), Some(file), Some("+")) => {
                        ChapterStep::Write { file: file.to_owned(), text, at_end: true }
                    }
                    _ => bail!("nobody can follow a block of ```{named}"),
                });
            }
        }
    }
    ensure!(open.is_none() && !steps.is_empty(), "a block does not end, or there is none");
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_run_written_added_and_compared_in_their_order() {
        let page = "# A\n\n```sh\nwharf new a\ncd a\n```\nText.\n```rust src/lib.rs\nfn a() {}\n```\n\
                    ```toml cases.toml +\nx = 1\n```\n```text\nyes\n```\n";
        let write =
            |file: &str, text: &str, at_end| ChapterStep::Write { file: file.into(), text: text.into(), at_end };
        let expected = [
            ChapterStep::Run("wharf new a\ncd a\n".into()),
            write("src/lib.rs", "fn a() {}\n", false),
            write("cases.toml", "x = 1\n", true),
            ChapterStep::Expect("yes\n".into()),
        ];
        assert_eq!(steps(page).expect("can be followed"), expected);
    }

    #[test]
    fn a_block_that_nobody_can_follow_is_an_error() {
        for page in ["# A\n", "```sh\nx\n", "```json\n{}\n```\n", "```\nx\n```\n"] {
            assert!(steps(page).is_err(), "{page}");
        }
    }
}
