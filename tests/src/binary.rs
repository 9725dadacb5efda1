//! The real binary, run to its end or started.

use std::{
    ffi::OsStr,
    io::Read,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{Child, Output, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use crate::{artifacts::program, attack_run};

/// A home that nobody can make, not even root: what a program keeps there would be found by the next one.
const NOWHERE: &str = "/proc/nowhere";

/// A run of the binary in the making. Nothing of the environment reaches it
/// that could change what it does.
#[derive(Debug)]
pub struct Command {
    inner: std::process::Command,
    input: Option<OwnedFd>,
}

/// What a run left.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// `wharf` with these arguments.
#[must_use]
pub fn wharf<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    wharf_of(&program(), arguments)
}

/// The same of another program, such as that of the previous version.
#[must_use]
pub fn wharf_of<S: AsRef<OsStr>>(program: &Path, arguments: impl IntoIterator<Item = S>) -> Command {
    let mut inner = std::process::Command::new(program);
    inner.args(arguments);
    Command { inner, input: None }.clean()
}

impl Command {
    fn clean(mut self) -> Self {
        for (name, _) in std::env::vars_os() {
            if name == "RUST_LOG" || name.to_string_lossy().starts_with("WHARF_") {
                self.inner.env_remove(name);
            }
        }
        // Nothing of the configuration of the person who runs the tests.
        self.inner.env("HOME", NOWHERE).env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
        self.inner.env_remove("DOCKER_CONFIG");
        // How much is said of progress depends on how busy the machine is.
        self.inner.env("WHARF_QUIET", "true");
        self
    }

    /// With this data directory.
    #[must_use]
    pub fn data(mut self, path: &Path) -> Self {
        self.inner.arg("--data").arg(path);
        self
    }

    /// With this configuration.
    #[must_use]
    pub fn config(mut self, path: &Path) -> Self {
        self.inner.arg("--config").arg(path);
        self
    }

    /// The data directory that it was told by an argument.
    pub(crate) fn data_directory(&self) -> Option<PathBuf> {
        let mut arguments = self.inner.get_args();
        arguments.find(|argument| *argument == "--data")?;
        let data = PathBuf::from(arguments.next()?);
        Some(self.inner.get_current_dir().map_or_else(|| data.clone(), |directory| directory.join(&data)))
    }

    /// In this directory, to which relative paths are relative.
    #[must_use]
    pub fn inside(mut self, path: &Path) -> Self {
        self.inner.current_dir(path);
        self
    }

    /// With this variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.inner.env(name, value);
        self
    }

    /// Run by `sh`: `script` runs the command as `"$@"`.
    #[must_use]
    pub fn through(self, script: &str) -> Self {
        let mut inner = std::process::Command::new("sh");
        inner.args(["-c", script, "sh"]).arg(self.inner.get_program()).args(self.inner.get_args());
        let set: Vec<_> =
            self.inner.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned))).collect();
        for (name, value) in set {
            match value {
                Some(value) => inner.env(name, value),
                None => inner.env_remove(name),
            };
        }
        Self { inner, input: self.input }
    }

    /// With this as its standard input.
    #[must_use]
    pub fn input(mut self, input: impl Into<OwnedFd>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Starts it with this file as its standard output; the other streams are piped.
    ///
    /// # Panics
    /// Where it cannot be started.
    #[must_use]
    pub fn started_into(mut self, out: std::fs::File) -> Child {
        let command = self.inner.stdin(Stdio::piped()).stdout(out).stderr(Stdio::piped());
        command.spawn().expect("the binary can be started")
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// Where it cannot be started.
    #[must_use]
    pub fn run(mut self) -> Finished {
        let input = self.input.take().map_or_else(Stdio::null, Stdio::from);
        let Output { status, stdout, stderr } = self.inner.stdin(input).output().expect("the binary can be started");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let err = text(stderr);
        attack_run::look_for_reports(&err);
        Finished { code: status.code(), out: text(stdout), err }
    }
}

/// Keeps what a started command says on its standard error or in a terminal, until it ends.
#[must_use]
pub fn keep_log(mut errors: impl Read + Send + 'static) -> (Arc<Mutex<String>>, JoinHandle<()>) {
    let log = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&log);
    let reading = std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = errors.read(&mut buffer) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push_str(&String::from_utf8_lossy(&buffer[..read]));
            attack_run::look_for_reports(&kept);
        }
    });
    (log, reading)
}

/// Starts a command with every standard stream piped.
///
/// # Panics
/// Where it cannot be started.
#[must_use]
pub fn start(mut command: Command) -> Child {
    let input = command.input.take().map_or_else(Stdio::piped, Stdio::from);
    command.inner.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary can be started")
}
