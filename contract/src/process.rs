//! Child processes: how they are, how they end, what holds for them.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// How a process is. More may come.
    Status, open AnyStatus, "status" {
        /// Asked for, and not running yet.
        Starting = "starting";
        /// It runs.
        Running = "running";
        /// It exited by itself with code 0.
        Finished = "finished";
        /// It exited by itself with another code, or could not be started.
        Failed = "failed";
        /// The host or a signal ended it.
        Killed = "killed";
    }
}

impl Status {
    /// Whether it is over, whatever its descendants do.
    #[must_use]
    pub const fn has_ended(self) -> bool {
        !matches!(self, Self::Starting | Self::Running)
    }
}

words! {
    /// How a program ended, of a process and of a terminal. Take another word for
    /// [`OutcomeKind::Killed`].
    OutcomeKind, open AnyOutcomeKind, "outcome" {
        /// By itself.
        Exited = "exited";
        /// By a signal that the host did not send to end it.
        Signaled = "signaled";
        /// By the host.
        Killed = "killed";
        /// It could not be started. No terminal ends so.
        NotStarted = "not-started";
    }
}

words! {
    /// Why the host killed a process.
    KilledBy, "reason" {
        /// It ran longer, or was silent for longer, than it may.
        TimeLimit = "time-limit";
        /// Its owner asked.
        User = "user";
        /// It printed more than it may, or its session used up more than it may.
        Quota = "quota";
        /// The host ended while it ran, in order or not, or its supervisor did.
        HostLost = "host-lost";
    }
}

words! {
    /// How a wait ended. More may come.
    WaitReason, open AnyWaitReason, "reason" {
        /// There is output.
        Output = "output";
        /// A line matches.
        Pattern = "pattern";
        /// The process ended.
        Exit = "exit";
        /// Nothing was printed for long enough.
        Idle = "idle";
        /// None of it happened in time.
        TimeUp = "time-up";
    }
}

words! {
    /// One of the two streams that a process prints to.
    #[derive(Default)]
    StreamName, "stream" {
        /// Its standard output.
        #[default]
        Stdout = "stdout";
        /// Its standard error.
        Stderr = "stderr";
    }
}

words! {
    /// What a process group can be sent.
    Signal, "signal" {
        /// SIGHUP.
        Hangup = "hangup";
        /// SIGINT, as Ctrl-C.
        Interrupt = "interrupt";
        /// SIGQUIT.
        Quit = "quit";
        /// SIGTERM.
        Terminate = "terminate";
        /// SIGKILL.
        Kill = "kill";
        /// SIGUSR1.
        User1 = "user1";
        /// SIGUSR2.
        User2 = "user2";
        /// SIGSTOP.
        Stop = "stop";
        /// SIGCONT.
        Continue = "continue";
    }
}

words! {
    /// What contains the programs of a machine. More may come.
    Containment, open AnyContainment, "containment" {
        /// Namespaces of their own, in which a file that is not shown does not exist.
        Namespaces = "namespaces";
        /// Landlock, which shows every path where it is.
        Landlock = "landlock";
        /// Nothing: the operator gave it up, or nothing can be started.
        None = "none";
    }
}

impl Default for AnyContainment {
    /// Nothing is said of it.
    fn default() -> Self {
        Self::Other(String::new())
    }
}

/// What holds for the processes of a plugin here: what `status` answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessRules {
    /// Whether a shell is granted.
    pub shell: bool,
    /// The granted patterns of programs.
    pub programs: Vec<String>,
    /// What contains a process.
    pub containment: AnyContainment,
    /// Why nothing contains processes here, in words; absent where something does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Why nothing can be started here, in words; absent where it can, be it
    /// because the operator gave containment up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether there is a network.
    pub network: bool,
    /// The workspace as processes see it.
    pub directory: String,
    /// How many may run at once.
    pub maximum_concurrent: u64,
    /// How many seconds one may run.
    pub lifetime_seconds: u64,
    /// How polls are judged, as it holds for this session.
    pub polls: PollRules,
}

/// How the polls of a session are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PollRules {
    /// Whether advice is given at all.
    pub guidance: bool,
    /// Polls in a row that bring the first.
    pub threshold: u32,
    /// How many are enough where they are hasty; absent where that makes no
    /// difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hasty_threshold: Option<u32>,
    /// The language of the advice: `en` or `ko`. More may come.
    pub language: String,
}

/// The `meta` of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Which limit ended the process, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// How it was polled before this; absent where it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polls: Option<PollStatistics>,
}

impl Meta {
    /// Whether there is nothing to be said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.explanation.is_none() && self.polls.is_none()
    }
}

/// How a process was polled. What is not known is `null`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PollStatistics {
    /// When the first of those in a row was: RFC 3339 in UTC.
    pub first_in_a_row: Option<String>,
    /// How many polls in a row found it running.
    pub in_a_row: u32,
    /// The intervals between those, where there are two or more.
    pub intervals: Option<PollIntervals>,
    /// When it last was polled: RFC 3339 in UTC.
    pub last: Option<String>,
    /// How often, ever.
    pub total: u64,
}

/// Intervals between polls in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PollIntervals {
    /// How many there are.
    pub count: u32,
    /// Their standard deviation.
    pub deviation_milliseconds: u64,
    /// Their mean.
    pub mean_milliseconds: u64,
    /// The shortest.
    pub shortest_milliseconds: u64,
}
