//! Running other programs: announced, captured, passed through, or with a time
//! limit. Knows nothing of what the programs do.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::builders;

/// Cargo, in the folder `root`, without the variables that the cargo which
/// started xtask left: build scripts that watch them would run again.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    cargo
}

/// Whether builds of this workspace lint.
const LINTS: &str = "WHARF_BUILD_LINTS";

/// Whether builds of this workspace lint meanwhile, so that nothing is compiled a second time
/// to be linted. `.ci/run` wants it: what a shell compiles without it is not used then.
pub(crate) fn builds_lint() -> bool {
    env::var_os(LINTS).is_some()
}

/// A command of cargo that builds this workspace.
///
/// Where builds lint, its crates are compiled by clippy's compiler, which is rustc with more lints.
/// An option says so and no variable: what the tests build is none of this.
pub(crate) fn building(root: &Path, command: &[&str]) -> Result<Command> {
    builders::see_to()?;
    let mut cargo = cargo(root);
    cargo.args(command);
    if builds_lint() {
        let sysroot = capture(rustc().args(["--print", "sysroot"]))?;
        let compiler = Path::new(sysroot.trim()).join("bin").join("clippy-driver");
        if !compiler.is_file() {
            bail!("there is no {}: `rustup component add clippy`, or leave {LINTS} out", compiler.display());
        }
        cargo.arg("--config").arg(format!("build.rustc-workspace-wrapper='{}'", compiler.display()));
    }
    Ok(cargo)
}

/// What makes cargo choose features as it does where tests are built: an example that is small.
pub(crate) const AS_WITH_TESTS: [&str; 2] = ["--example", "costly_prompts"];

/// A command of cargo that builds programs of this workspace: `--bins`, or `--bin` and a name.
///
/// Shared dependencies have the features that tests add to them. Without those, a later build of
/// the tests would compile the runtime, and all that uses it, a second time.
pub(crate) fn building_programs(root: &Path, programs: &[&str]) -> Result<Command> {
    let mut cargo = building(root, &["build", "--workspace"])?;
    cargo.args(programs).args(AS_WITH_TESTS);
    Ok(cargo)
}

/// A command of cargo that runs tests of this workspace: by cargo-nextest where it is installed.
pub(crate) fn testing(root: &Path, with_nextest: &[&str], without: &[&str]) -> Result<Command> {
    building(root, if exists("cargo-nextest") { with_nextest } else { without })
}

/// The Rust compiler of the ordinary toolchain.
pub(crate) fn rustc() -> Command {
    Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// Says what happens next. Goes to standard error: some commands print JSON.
pub(crate) fn say(text: &str) {
    eprintln!("==> {text}");
}

/// Runs a command to its end, its output passed through.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("  $ {}", shown(command));
    let status = command.status().with_context(|| cannot_start(command))?;
    check(command, status)
}

/// Runs a command whose output is wanted, not shown.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::piped()).output().with_context(|| cannot_start(command))?;
    if !output.status.success() {
        bail!(
            "`{}` failed ({}):\n{}",
            shown(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command whose standard output is wanted, and its progress shown.
pub(crate) fn run_and_capture(command: &mut Command) -> Result<String> {
    eprintln!("  $ {}", shown(command));
    let output = command.stderr(Stdio::inherit()).output().with_context(|| cannot_start(command))?;
    check(command, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command, passes its output through, and returns the lines that `keep`
/// picks, whether it succeeded or not.
pub(crate) fn run_and_keep(
    command: &mut Command,
    keep: impl FnMut(&str) -> bool + Send,
) -> Result<(Result<()>, Vec<String>)> {
    eprintln!("  $ {}", shown(command));
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().with_context(|| cannot_start(command))?;
    let kept = Mutex::new(PickedLines { keep, lines: Vec::new() });
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        scope.spawn(|| errors.map(|errors| pass_through(errors, std::io::stderr(), &kept)));
        if let Some(output) = output {
            pass_through(output, std::io::stdout(), &kept)
        }
    });
    let status = child.wait()?;
    let kept = kept.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok((check(command, status), kept.lines))
}

/// The lines that were picked, and what picks them.
struct PickedLines<F> {
    keep: F,
    lines: Vec<String>,
}

fn pass_through(from: impl Read, mut to: impl Write, kept: &Mutex<PickedLines<impl FnMut(&str) -> bool>>) {
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        // A terminal that went away must not stop the tests.
        let _ = writeln!(to, "{line}");
        let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if (kept.keep)(&line) {
            kept.lines.push(line.trim_end().to_owned());
        }
    }
}

/// Runs a command without showing anything; true where it succeeded in time.
pub(crate) fn succeeds_within(command: &mut Command, limit: Duration) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = quiet.spawn() else {
        return false;
    };
    wait_until(&mut child, Instant::now() + limit).is_some_and(|status| status.success())
}

/// Waits for a child, and ends it where it is still running at `deadline`.
fn wait_until(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(50)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// A search path that begins with a folder. `rest` is what follows; this program's own where absent.
pub(crate) fn search_path(folder: &Path, rest: Option<OsString>) -> Result<OsString> {
    let rest = rest.or_else(|| env::var_os("PATH")).unwrap_or_default();
    Ok(env::join_paths(std::iter::once(folder.to_owned()).chain(env::split_paths(&rest)))?)
}

/// Has a program find the configuration and the data of a new user, whose home this is. What was
/// fetched before is not fetched again.
pub(crate) fn as_new_user(command: &mut Command, home: &Path) {
    forget_user(command);
    command.env("XDG_CONFIG_HOME", home.join("config")).env("XDG_DATA_HOME", home.join("data"));
}

/// Has a program find this as the home of its user, with nothing in it of the real one's but the tools of Rust.
pub(crate) fn at_home(command: &mut Command, home: &Path) {
    for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        if env::var_os(name).is_none()
            && let Some(real) = env::home_dir()
        {
            command.env(name, real.join(folder));
        }
    }
    forget_user(command);
    command.env("HOME", home);
}

/// Takes away the variables that name the configuration and the data of the real user.
fn forget_user(command: &mut Command) {
    for name in ["WHARF_CONFIG", "WHARF_DATA", "WHARF_PROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        command.env_remove(name);
    }
}

/// Whether there is a program of this name where programs are looked for, or at this path. It is not
/// run: some have no option that does nothing.
pub(crate) fn exists(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&folders).any(|folder| folder.join(&file).is_file())
}

fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`", command.get_program().to_string_lossy())
}

/// Longer lines are no help to a reader.
const SHOWN_BYTES: usize = 1_000;

/// The command as one would type it, with programs by their file name.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let mut arguments = command.get_args();
    for argument in arguments.by_ref() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
        if line.len() > SHOWN_BYTES {
            break;
        }
    }
    match arguments.count() {
        0 => line,
        further => format!("{line} ... and {further} more"),
    }
}

// They run programs of Unix.
#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_outlives_its_limit_is_ended_and_counts_as_failed() {
        assert!(succeeds_within(&mut Command::new("true"), Duration::from_secs(60)));
        let begun = Instant::now();
        assert!(!succeeds_within(Command::new("sleep").arg("600"), Duration::from_millis(100)));
        assert!(begun.elapsed() < Duration::from_secs(300));
    }

    #[test]
    fn kept_lines_come_back_from_both_streams_even_when_the_command_fails() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo test result: one; echo test result: two >&2; echo other; exit 3"]);
        let (outcome, mut lines) =
            run_and_keep(&mut command, |line| line.starts_with("test result")).expect("sh starts");
        lines.sort();
        assert!(outcome.is_err());
        assert_eq!(lines, ["test result: one", "test result: two"]);
    }

    #[test]
    fn a_command_of_very_many_arguments_is_shown_in_part() {
        let mut command = Command::new("/bin/echo");
        assert_eq!(shown(command.args(["one", "two"])), "echo one two");
        let line = shown(command.args(["a-test-with-a-name"; 300]));
        assert!(line.len() < 1_100 && line.starts_with("echo one two a-test") && line.ends_with(" more"), "{line}");
    }

    #[test]
    fn a_program_is_there_whatever_options_it_has() {
        // Neither takes `--version`.
        assert!(exists("sh") && exists("/bin/sh"));
        assert!(!exists("a-program-that-nobody-has") && !exists("/bin"));
    }
}
