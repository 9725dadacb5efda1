//! What a tool asks of a process: how it starts, what to wait for, where to
//! read.

use std::time::Duration;

pub use wharf_contract::process::{Signal, StreamName as Stream};

/// A place in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Which stream.
    pub stream: Stream,
    /// Bytes of the stream before the place.
    pub cursor: u64,
}

/// What can be said of each program that is started, also in a terminal.
macro_rules! in_workspace {
    () => {
        /// In the workspace, with nothing else.
        #[must_use]
        pub fn new() -> Self {
            Self::default()
        }

        /// Where it starts: a path of the workspace as processes see it, or
        /// relative to the workspace. It must exist.
        #[must_use]
        pub fn directory(mut self, directory: impl Into<String>) -> Self {
            self.directory = directory.into();
            self
        }

        /// A variable besides those that the host sets. The grant must list it.
        #[must_use]
        pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
            self.environment.push((name.into(), value.into()));
            self
        }
    };
}
pub(crate) use in_workspace;

/// How a process is started; in the workspace, without standard input, unless
/// it is told otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    pub(crate) directory: String,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) input: bool,
    pub(crate) lifetime: Option<Duration>,
    pub(crate) silence: Option<Duration>,
}

impl Launch {
    in_workspace!();

    /// Makes its standard input a pipe that [`super::Processes::write`] writes
    /// to; else it reads the end at once.
    #[must_use]
    pub fn with_input(mut self) -> Self {
        self.input = true;
        self
    }

    /// Time after which it is killed, however it goes.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    /// Time without any output after which it is killed.
    #[must_use]
    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = Some(silence);
        self
    }
}

/// What to wait for: whichever comes first. The end of the process and of both
/// its streams always ends a wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    pub(crate) output: Option<Position>,
    pub(crate) pattern: Option<(Position, String)>,
    pub(crate) exit: bool,
    pub(crate) idle: Option<Duration>,
}

impl Condition {
    /// The end of the process and of its streams alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Or the end of the process, even where another process still holds its streams.
    #[must_use]
    pub fn exit(mut self) -> Self {
        self.exit = true;
        self
    }

    /// Or output behind this place.
    #[must_use]
    pub fn output(mut self, behind: Position) -> Self {
        self.output = Some(behind);
        self
    }

    /// Or a line, from this place on, that matches a regular expression (the
    /// syntax of the crate `regex`, at most 1,024 bytes).
    #[must_use]
    pub fn pattern(mut self, from: Position, pattern: impl Into<String>) -> Self {
        self.pattern = Some((from, pattern.into()));
        self
    }

    /// Or so long without output.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }
}
