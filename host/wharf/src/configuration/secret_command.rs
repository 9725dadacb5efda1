//! Secrets that a program prints: a password manager, the client of a vault, a desktop's keyring.
//!
//! The program runs once for each configuration that is read, when its secret is first needed. It has no shell, the
//! host's environment, no input and a few seconds. What it prints is never shown: an error has the program and how it
//! ended.
//!
//! A supervisor runs it, as it runs all programs of a host. So it runs outside of a confined host, too.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{io::AsyncReadExt as _, time::timeout};
use wharf_core::text::with_causes;
use wharf_files::unshared;
use wharf_spawn::{
    ChildExit, ChildInput, ChildLimits, ChildOutput, Containment, SpawnError, SpawnRequest, Spawner, signal_name,
};
use zeroize::Zeroizing;

use super::secret_source::MAX_SECRET_BYTES;

/// How long a program may take until all that it prints is there.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a program that failed is not run again: clients may ask for what needs its secret.
const PAUSE: Duration = Duration::from_secs(10);

/// A program that prints a secret, and its arguments. Clones share what it printed.
#[derive(Clone)]
pub struct SecretCommand {
    program: PathBuf,
    arguments: Vec<String>,
    // Held while the program runs, so that others wait for the same run.
    last: Arc<Mutex<Option<CommandRun>>>,
}

struct CommandRun {
    outcome: Result<Zeroizing<String>, SecretCommandError>,
    ended: Instant,
}

/// Why a program brings no secret; never what it printed.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum SecretCommandError {
    #[error(
        "`command` is empty: name a program by its whole path, and its arguments, as in [\"/usr/bin/pass\", \"show\", \"wharf\"]"
    )]
    Empty,
    #[error("`command` names {0:?}, and no shell looks for it: write the program's whole path")]
    Relative(String),
    #[error("`command` has a zero byte, which no program can be given")]
    ZeroByte,
    #[error("cannot run {program}: {problem}")]
    Unusable { program: String, problem: String },
    #[error("{program} is not run: {problem}; or say `allow_unprotected = true`")]
    Unprotected { program: String, problem: String },
    #[error("{program} {how} and brings no secret; run it as the user of the host to see why")]
    Failed { program: String, how: String },
    #[error("{program} was ended, since it took more than {} seconds; see that it asks nobody anything", PATIENCE.as_secs())]
    Hanging { program: String },
    #[error("{program} printed more than {MAX_SECRET_BYTES} bytes, which is no secret")]
    TooLong { program: String },
    #[error("{program} printed nothing; it must print the secret, and nothing else, to its standard output")]
    Nothing { program: String },
    #[error("what {program} printed is no text")]
    NoText { program: String },
}

impl fmt::Debug for SecretCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SecretCommand").field(&self.program).field(&self.arguments).finish()
    }
}

impl fmt::Display for SecretCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "what {} printed", self.program.display())
    }
}

impl PartialEq for SecretCommand {
    fn eq(&self, other: &Self) -> bool {
        (&self.program, &self.arguments) == (&other.program, &other.arguments)
    }
}

impl Eq for SecretCommand {}

impl SecretCommand {
    pub(super) fn of(command: Vec<String>) -> Result<Self, SecretCommandError> {
        if command.iter().any(|part| part.contains('\0')) {
            return Err(SecretCommandError::ZeroByte);
        }
        let mut arguments = command.into_iter();
        let program = arguments.next().ok_or(SecretCommandError::Empty)?;
        if !Path::new(&program).is_absolute() {
            return Err(SecretCommandError::Relative(program));
        }
        Ok(Self { program: program.into(), arguments: arguments.collect(), last: Arc::default() })
    }

    /// Whether the program may be run: it is a file that others cannot change. Runs nothing.
    pub(super) fn check(&self, allow_unprotected: bool) -> Result<(), SecretCommandError> {
        let program = || self.program.display().to_string();
        let unusable =
            |error: io::Error| SecretCommandError::Unusable { program: program(), problem: error.to_string() };
        if !self.program.metadata().map_err(unusable)?.is_file() {
            return Err(SecretCommandError::Unusable { program: program(), problem: "it is no file".to_owned() });
        }
        if allow_unprotected {
            return Ok(());
        }
        unshared::check(&self.program).map_err(|error| match error.raw_os_error() {
            // What the system itself says has a number.
            None => SecretCommandError::Unprotected { program: program(), problem: error.to_string() },
            Some(_) => unusable(error),
        })
    }

    /// What the program prints, without the end of its line. Runs it where it has not run yet. Blocks.
    pub(super) fn output(&self, allow_unprotected: bool) -> Result<Zeroizing<String>, SecretCommandError> {
        let mut last = self.last.lock();
        if let Some(run) = &*last
            && (run.outcome.is_ok() || run.ended.elapsed() < PAUSE)
        {
            return run.outcome.clone();
        }
        let outcome = self.check(allow_unprotected).and_then(|()| self.run());
        last.insert(CommandRun { outcome, ended: Instant::now() }).outcome.clone()
    }

    /// Has the program run again when its secret is needed next, unless it has just run: a server no longer takes what
    /// it printed.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "an authorization server refuses secrets"))]
    pub(super) fn forget(&self) {
        self.last.lock().take_if(|run| run.ended.elapsed() >= PAUSE);
    }

    /// Runs the program on a thread and a runtime of its own: who needs a secret may have a runtime, or none.
    fn run(&self) -> Result<Zeroizing<String>, SecretCommandError> {
        let failed =
            |problem: String| SecretCommandError::Unusable { program: self.program.display().to_string(), problem };
        thread::scope(|scope| {
            let run = || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|error| failed(error.to_string()))?;
                let printed = runtime.block_on(async { timeout(PATIENCE, self.printed()).await });
                printed.unwrap_or_else(|_| {
                    Err(SecretCommandError::Hanging { program: self.program.display().to_string() })
                })
            };
            let thread = thread::Builder::new().name("wharf-secret".to_owned()).spawn_scoped(scope, run);
            let joined = thread.map_err(|error| failed(error.to_string()))?.join();
            joined.unwrap_or_else(|_| Err(failed("its thread ended".to_owned())))
        })
    }

    async fn printed(&self) -> Result<Zeroizing<String>, SecretCommandError> {
        let program = || self.program.display().to_string();
        let unusable =
            |error: SpawnError| SecretCommandError::Unusable { program: program(), problem: with_causes(&error) };
        let mut child = Spawner::new().spawn(self.request()).await.map_err(unusable)?;
        let Some(stdout) = child.take_stdout() else { return Err(SecretCommandError::Nothing { program: program() }) };
        // A buffer that grows leaves copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_SECRET_BYTES + 1));
        let reading = async {
            let read = stdout.take(MAX_SECRET_BYTES as u64 + 1).read_to_end(&mut bytes).await;
            let read =
                read.map_err(|error| SecretCommandError::Unusable { program: program(), problem: error.to_string() })?;
            if read > MAX_SECRET_BYTES { Err(SecretCommandError::TooLong { program: program() }) } else { Ok(()) }
        };
        let ending = async {
            child.wait().await.map_err(unusable)?;
            // What it left behind would hold its output open.
            child.kill_tree(Duration::ZERO).await.map_err(unusable)
        };
        // Dropping the child ends it, where the other one fails.
        let ((), end) = tokio::try_join!(reading, ending)?;
        let how = match end.exit {
            ChildExit::Exited { code: 0 } => None,
            ChildExit::Exited { code } => Some(format!("exits with {code}")),
            ChildExit::Signaled { signal } => {
                let name = signal_name(signal).map_or_else(|| signal.to_string(), str::to_owned);
                Some(format!("was ended by the signal {name}"))
            }
        };
        if let Some(how) = how {
            return Err(SecretCommandError::Failed { program: program(), how });
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| SecretCommandError::NoText { program: program() })?;
        let text = text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
        if text.is_empty() {
            return Err(SecretCommandError::Nothing { program: program() });
        }
        Ok(Zeroizing::new(text.to_owned()))
    }

    fn request(&self) -> SpawnRequest {
        // Windows has variables whose names begin with `=`.
        let is_given = |name: &std::ffi::OsStr| !name.is_empty() && !name.as_encoded_bytes().contains(&b'=');
        SpawnRequest {
            program: self.program.clone(),
            arguments: self.arguments.iter().map(Into::into).collect(),
            environment: std::env::vars_os().filter(|(name, _)| is_given(name)).collect(),
            working_directory: self.program.ancestors().last().unwrap_or(&self.program).to_owned(),
            stdin: ChildInput::Null,
            stdout: ChildOutput::Pipe,
            stderr: ChildOutput::Null,
            descriptors: Vec::new(),
            limits: ChildLimits::default(),
            // A program of the operator's own, as the host is.
            containment: Containment::None,
            user: None,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    /// A program that prints what a file has, and the runs that it had.
    struct Printing {
        directory: tempfile::TempDir,
        command: SecretCommand,
    }

    impl Printing {
        fn new() -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            let (program, at) = (directory.path().join("print"), directory.path().display());
            fs::write(&program, format!("#!/bin/sh\necho run >> '{at}/runs'\nexec cat '{at}/secret'\n"))
                .expect("written");
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("changed");
            let command = SecretCommand::of(vec![program.display().to_string()]).expect("a command");
            Self { directory, command }
        }

        fn keep(&self, secret: &str) {
            fs::write(self.directory.path().join("secret"), secret).expect("written");
        }

        fn runs(&self) -> usize {
            fs::read_to_string(self.directory.path().join("runs")).map_or(0, |runs| runs.lines().count())
        }

        fn output(&self) -> Result<String, String> {
            // Clones share what was printed.
            let output = self.command.clone().output(false);
            output.map(|text| text.to_string()).map_err(|error| error.to_string())
        }

        /// Has it end long ago.
        fn passes(&self) {
            let mut last = self.command.last.lock();
            let run = last.as_mut().expect("it ran");
            run.ended = run.ended.checked_sub(PAUSE).expect("this machine runs for longer");
        }
    }

    #[tokio::test]
    async fn a_program_that_failed_runs_again_after_a_pause_and_one_that_did_not_once_its_secret_was_refused() {
        let printing = Printing::new();
        for _ in 0..3 {
            assert!(printing.output().expect_err("there is no file").contains("exits with 1"));
        }
        assert_eq!(printing.runs(), 1, "clients do not decide how often a program runs");
        printing.keep("one\n");
        printing.passes();
        for _ in 0..3 {
            assert_eq!(printing.output().expect("printed"), "one");
        }
        assert_eq!(printing.runs(), 2);
        printing.keep("two\n");
        printing.command.forget();
        assert_eq!(printing.output().expect("printed"), "one", "it has just run");
        printing.passes();
        printing.command.forget();
        assert_eq!((printing.output().expect("printed").as_str(), printing.runs()), ("two", 3));
    }
}
