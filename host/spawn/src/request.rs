//! The request for a child: program, arguments, environment, streams, limits and
//! containment. The child inherits nothing from the host.

use std::{
    ffi::OsString,
    fs::File,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::SpawnError;

/// Most bytes of program, arguments and environment together.
pub const MAX_REQUEST_BYTES: usize = 1 << 20;

/// Most descriptors of a child beside its streams.
pub const MAX_DESCRIPTORS: usize = 8;

/// The highest number that a [`Descriptor`] may have.
pub const MAX_DESCRIPTOR_NUMBER: u32 = 31;

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
    /// Absolute path of its working directory, as the child sees it.
    pub working_directory: PathBuf,
    /// Standard input.
    pub stdin: ChildInput,
    /// Standard output.
    pub stdout: ChildOutput,
    /// Standard error.
    pub stderr: ChildOutput,
    /// Further open descriptors; the child has only these and its streams. They work in
    /// every containment. At most [`MAX_DESCRIPTORS`]; the host's copies are closed once
    /// the child runs.
    pub descriptors: Vec<Descriptor>,
    /// Its limits.
    pub limits: ChildLimits,
    /// Its containment.
    pub containment: Containment,
    /// Its real user and group, with no further groups; absent for
    /// the host's own. Only a host that is root can set another one, and it should: the
    /// system applies neither permissions nor [`ChildLimits::processes`] to root. The user
    /// should own no file but those that the child may write: where Landlock contains,
    /// the owner of a file may change its permissions and times, wherever it is.
    /// Without such a user no child may change them there, so a program that the child links
    /// does not become executable.
    pub user: Option<u32>,
}

/// Standard input of a child.
#[derive(Debug)]
pub enum ChildInput {
    /// Ends at once.
    Null,
    /// A pipe, to which the host writes by [`crate::Child::take_stdin`].
    Pipe,
    /// The child's end of a pair of terminals, of which the host keeps the
    /// other one. It becomes the controlling terminal, and the outputs may lead
    /// there, too: see [`ChildOutput::Terminal`]. The host's copy is closed before
    /// the child runs.
    Terminal(File),
}

/// Standard output or error of a child.
#[derive(Debug)]
pub enum ChildOutput {
    /// Discarded.
    Null,
    /// A pipe, from which the host reads by [`crate::Child::take_stdout`] or
    /// [`crate::Child::take_stderr`].
    Pipe,
    /// A file that the host has opened.
    File(File),
    /// The terminal of [`ChildInput::Terminal`]; refused without one.
    Terminal,
}

/// A file, pipe or socket that a child has open under a number.
#[derive(Debug)]
pub struct Descriptor {
    /// 3 to [`MAX_DESCRIPTOR_NUMBER`], each once.
    pub number: u32,
    /// The file, pipe or socket.
    pub file: File,
}

/// The limits of a child; an absent one is the host's own. All but
/// `processes` count for each process of a tree by itself. No child writes a
/// core file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildLimits {
    /// Seconds of computing; the process gets SIGXCPU, then SIGKILL.
    pub cpu_seconds: Option<u64>,
    /// Bytes of memory of its own, shared mappings of files not counted. Address
    /// space is not limited: runtimes reserve far more of it than they use.
    pub memory_bytes: Option<u64>,
    /// Bytes of memory of the whole tree, of every kind, where the machine offers a control group
    /// that counts them; `memory_bytes` where absent.
    pub tree_memory_bytes: Option<u64>,
    /// Open descriptors.
    pub open_files: Option<u64>,
    /// Processes and threads of the whole tree, the supervisor inside a sandbox
    /// among them. [`crate::Capabilities::process_limit`] says what this machine counts.
    pub processes: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_size_bytes: Option<u64>,
}

/// The containment of a child.
#[derive(Debug, Clone)]
pub enum Containment {
    /// The child reaches only what the sandbox shows; refused where this machine cannot
    /// contain it.
    Required(Sandbox),
    /// The child reaches only these files beside the system's own, as far as Landlock is there
    /// ([`crate::offers_landlock`]), and makes namespaces and sandboxes of its own. It keeps the
    /// network. For programs that contain others themselves, such as browsers.
    Files(Sandbox),
    /// The child may do all that the user of the host may. For programs of the host itself
    /// and for operators who gave containment up.
    None,
}

/// The files and the network that a contained child has beside the system's own programs
/// and libraries. In namespaces users and groups have names of the sandbox's own: `root`,
/// `nobody`, and `wharf` for a child that is neither.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// Files and directories that it reads and writes.
    pub writable: Vec<Bind>,
    /// Files and directories that it reads. With Landlock, one inside of a writable
    /// directory is writable too.
    pub readable: Vec<Bind>,
    /// Whether it has the host's network; in namespaces that includes the
    /// abstract UNIX sockets of the host's network namespace. Without the network, it has a
    /// loopback of its own in namespaces, and no sockets at all with Landlock.
    pub network: bool,
}

/// A file or directory that a sandbox shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// Its absolute path on the host.
    pub source: PathBuf,
    /// Its absolute path as the child sees it.
    pub target: PathBuf,
}

impl Bind {
    /// Shows something at its own path.
    pub fn same(path: impl Into<PathBuf>) -> Self {
        let source = path.into();
        Self { target: source.clone(), source }
    }
}

impl SpawnRequest {
    /// Refuses a request that no program could be started with.
    pub(crate) fn check(&self) -> Result<(), SpawnError> {
        let illegal = |what, text: &std::ffi::OsStr, why| {
            let shown = text.to_string_lossy().chars().take(60).collect();
            Err(SpawnError::Illegal { what, shown, why })
        };
        let mut texts = vec![("the program", self.program.as_os_str())];
        texts.push(("the working directory", self.working_directory.as_os_str()));
        if let Containment::Required(sandbox) | Containment::Files(sandbox) = &self.containment {
            let binds = sandbox.writable.iter().chain(&sandbox.readable);
            texts
                .extend(binds.flat_map(|bind| [&bind.source, &bind.target]).map(|path| ("the path", path.as_os_str())));
        }
        if let Some((what, text)) = texts.iter().find(|(_, text)| !Path::new(text).is_absolute()) {
            return illegal(what, text, "it is not absolute");
        }
        texts.extend(self.arguments.iter().map(|argument| ("the argument", argument.as_os_str())));
        for (name, value) in &self.environment {
            if name.is_empty() || name.as_encoded_bytes().contains(&b'=') {
                return illegal("the variable", name, "a name is not empty and has no `=`");
            }
            texts.extend([("the variable", name.as_os_str()), ("the value", value.as_os_str())]);
        }
        if let Some((what, text)) = texts.iter().find(|(_, text)| text.as_encoded_bytes().contains(&0)) {
            return illegal(what, text, "it has a zero byte");
        }
        let outputs = [&self.stdout, &self.stderr];
        let to_terminal = outputs.iter().any(|output| matches!(output, ChildOutput::Terminal));
        if to_terminal && !matches!(self.stdin, ChildInput::Terminal(_)) {
            return illegal("the output", "terminal".as_ref(), "the input is none");
        }
        let numbers = self.descriptors.iter().map(|descriptor| descriptor.number);
        for (index, number) in numbers.clone().enumerate() {
            let shown = number.to_string();
            if !(3..=MAX_DESCRIPTOR_NUMBER).contains(&number) {
                return illegal("the descriptor", shown.as_ref(), "its number is not 3 to 31");
            }
            if index >= MAX_DESCRIPTORS || numbers.clone().take(index).any(|earlier| earlier == number) {
                return illegal(
                    "the descriptor",
                    shown.as_ref(),
                    "there is another one of this number, or there are too many",
                );
            }
        }
        let given = texts.iter().map(|(_, text)| text.len() + 2).sum();
        if given > MAX_REQUEST_BYTES { Err(SpawnError::TooLarge { given }) } else { Ok(()) }
    }
}
