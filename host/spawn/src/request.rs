//! What a child is to be: program, arguments, environment, streams, limits and
//! containment. Nothing of it is inherited from the host.

use std::{ffi::OsString, fs::File, os::unix::ffi::OsStrExt as _, path::PathBuf};

use rustix::process::Signal as SystemSignal;
use serde::{Deserialize, Serialize};

use crate::SpawnError;

/// Bytes of program, arguments and environment together.
pub const MAX_REQUEST_BYTES: usize = 1 << 20;

/// A child to start.
#[derive(Debug)]
pub struct SpawnRequest {
    /// Absolute path of the program, as the child sees the file system; no
    /// search path and no shell is involved.
    pub program: PathBuf,
    /// Its arguments, the program's own name not included.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Absolute path of the directory in which it starts, as the child sees it.
    pub working_directory: PathBuf,
    /// Where it reads from.
    pub stdin: Input,
    /// Where it writes to.
    pub stdout: Output,
    /// Where it writes errors to.
    pub stderr: Output,
    /// What it may use up.
    pub limits: Limits,
    /// What it may reach.
    pub containment: Containment,
}

/// Standard input of a child.
#[derive(Debug)]
pub enum Input {
    /// Nothing: the end at once.
    Null,
    /// What the host writes into [`crate::Child::take_stdin`].
    Pipe,
}

/// Standard output or error of a child.
#[derive(Debug)]
pub enum Output {
    /// Thrown away.
    Null,
    /// What the host reads from [`crate::Child::take_stdout`] or
    /// [`crate::Child::take_stderr`].
    Pipe,
    /// Written to a file that the host has opened.
    File(File),
}

/// What each process of a tree may use up; absent is what the host itself may.
/// There never is a core file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds of computing; the process gets SIGXCPU, then SIGKILL.
    pub cpu_seconds: Option<u64>,
    /// Bytes of address space.
    pub address_space_bytes: Option<u64>,
    /// Open descriptors.
    pub open_files: Option<u64>,
    /// Processes and threads of the user, where the system counts them: for
    /// root and inside a user namespace it does not.
    pub processes: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_size_bytes: Option<u64>,
}

/// What a child may reach.
#[derive(Debug, Clone)]
pub enum Containment {
    /// Only what the sandbox shows; refused where this machine cannot do it.
    Required(Sandbox),
    /// All that the user of the host may do. For programs of the host itself
    /// and for operators who have said so.
    None,
}

/// What a contained child sees beside the system's own programs and libraries.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// Directories that it reads and writes, at their own paths.
    pub writable: Vec<PathBuf>,
    /// Files and directories that it reads, at their own paths.
    pub readable: Vec<PathBuf>,
    /// Whether it has the host's network, the abstract UNIX sockets of the
    /// host's user included. Without, it has a loopback of its own.
    pub network: bool,
}

/// A signal that a child can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// SIGHUP
    Hangup,
    /// SIGINT
    Interrupt,
    /// SIGQUIT
    Quit,
    /// SIGTERM
    Terminate,
    /// SIGKILL
    Kill,
    /// SIGUSR1
    User1,
    /// SIGUSR2
    User2,
    /// SIGSTOP
    Stop,
    /// SIGCONT
    Continue,
}

impl Signal {
    pub(crate) fn to_system(self) -> SystemSignal {
        match self {
            Self::Hangup => SystemSignal::HUP,
            Self::Interrupt => SystemSignal::INT,
            Self::Quit => SystemSignal::QUIT,
            Self::Terminate => SystemSignal::TERM,
            Self::Kill => SystemSignal::KILL,
            Self::User1 => SystemSignal::USR1,
            Self::User2 => SystemSignal::USR2,
            Self::Stop => SystemSignal::STOP,
            Self::Continue => SystemSignal::CONT,
        }
    }
}

impl SpawnRequest {
    /// Whether a program can be given all this at all.
    pub(crate) fn check(&self) -> Result<(), SpawnError> {
        let illegal = |what, text: &std::ffi::OsStr, why| {
            let shown = text.to_string_lossy().chars().take(60).collect();
            Err(SpawnError::Illegal { what, shown, why })
        };
        let mut texts = vec![("the program", self.program.as_os_str())];
        texts.push(("the working directory", self.working_directory.as_os_str()));
        if let Containment::Required(sandbox) = &self.containment {
            let paths = sandbox.writable.iter().chain(&sandbox.readable);
            texts.extend(paths.map(|path| ("the path", path.as_os_str())));
        }
        if let Some((what, text)) = texts.iter().find(|(_, text)| !text.as_bytes().starts_with(b"/")) {
            return illegal(what, text, "it is not absolute");
        }
        texts.extend(self.arguments.iter().map(|argument| ("the argument", argument.as_os_str())));
        for (name, value) in &self.environment {
            if name.is_empty() || name.as_bytes().contains(&b'=') {
                return illegal("the variable", name, "a name is not empty and has no `=`");
            }
            texts.extend([("the variable", name.as_os_str()), ("the value", value.as_os_str())]);
        }
        if let Some((what, text)) = texts.iter().find(|(_, text)| text.as_bytes().contains(&0)) {
            return illegal(what, text, "it has a zero byte");
        }
        let given = texts.iter().map(|(_, text)| text.len() + 2).sum();
        if given > MAX_REQUEST_BYTES { Err(SpawnError::TooLarge { given }) } else { Ok(()) }
    }
}
