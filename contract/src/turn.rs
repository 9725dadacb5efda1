//! When a turn of a terminal, or a stream, is complete: how that is judged, and
//! how it is told.

use crate::words::words;

words! {
    /// A kind of source: how long its silence lasts before a turn counts as
    /// complete, and what counts as a prompt. More may come, and an operator's
    /// profile can be named in its place.
    Preset, open AnyPreset, "preset" {
        /// A shell.
        Shell = "shell";
        /// A program that answers at once, such as an interpreter.
        Repl = "repl";
        /// An agent.
        Agent = "agent";
        /// A build or a test run, which may be silent for minutes.
        Build = "build";
        /// An agent whose silence soon means that it is done.
        Sensitive = "sensitive";
        /// An agent that is often silent before it is done.
        Patient = "patient";
        /// An agent that searches.
        Search = "search";
        /// An agent that answers a simple question.
        SimpleAnswer = "simple-answer";
    }
}

words! {
    /// A number by which completion is detected, by its name among the
    /// `parameters` of a turn or a stream. Times are whole milliseconds, from 1
    /// to 24 hours.
    Parameter, "parameter" {
        /// How long one look for output waits, which is an attempt.
        WaitForData = "wait_for_data_milliseconds";
        /// Attempts after which a turn is over, whatever came. A count.
        MaxAttempts = "max_attempts";
        /// Attempts in a row that found nothing, after which a turn is over. A
        /// count.
        ConsecutiveEmptyPolls = "consecutive_empty_polls";
        /// How long a turn may be silent once something came.
        InactivityTimeout = "inactivity_timeout_milliseconds";
        /// The same while the program is known to work.
        BusyInactivityTimeout = "busy_inactivity_timeout_milliseconds";
        /// How long a turn may last, whatever comes.
        TimeLimit = "time_limit_milliseconds";
        /// How long a status that says `ready` must hold.
        Settle = "settle_milliseconds";
        /// How long output is waited for once the program has ended.
        Drain = "drain_milliseconds";
        /// How long a terminal is quiet before a strict prompt counts.
        StrictQuiet = "strict_quiet_milliseconds";
        /// How long it is quiet before what may be a prompt counts.
        BroadQuiet = "broad_quiet_milliseconds";
        /// Whether the inactivity timeout follows what the source usually takes.
        /// A boolean.
        Adaptive = "adaptive";
        /// The shortest that it becomes by that.
        AdaptiveShortest = "adaptive_shortest_milliseconds";
        /// The longest that it becomes by that.
        AdaptiveLongest = "adaptive_longest_milliseconds";
    }
}

words! {
    /// What decided that a turn is complete, strongest first.
    Layer, open AnyLayer, "layer" {
        /// The program ended.
        Ended = "L0";
        /// An explicit sign.
        Signal = "L1";
        /// It waits.
        Status = "L2";
        /// Nothing came for a while.
        Inactivity = "L3";
        /// The turn may not last longer.
        Limit = "L4";
    }
}

words! {
    /// Why a turn is complete, strongest first. Take another word by its layer.
    Reason, open AnyReason, "reason" {
        /// The program ended and left nothing behind.
        ProcessExited = "process-exited";
        /// The program ended; processes that it left behind live on.
        DescendantsAlive = "descendants-alive";
        /// The agent said that it completed.
        AgentCompleted = "agent-completed";
        /// The shell said that the command ended.
        CommandEnded = "command-ended";
        /// The shell waits for the rest of the command.
        NeedsContinuation = "needs-continuation";
        /// Nothing can come any more.
        StreamClosed = "stream-closed";
        /// The agent's status says that it waits, and held.
        StatusReady = "status-ready";
        /// A prompt that asks for an answer, such as `(y/n)`.
        StrictPrompt = "strict-prompt";
        /// The shell has the terminal again.
        ShellIdle = "shell-idle";
        /// The program has read its input and waits for more, whatever it shows.
        AwaitsInput = "awaits-input";
        /// What most programs print as a prompt.
        BroadPrompt = "broad-prompt";
        /// The host waited too often in a row for nothing.
        EmptyPolls = "empty-polls";
        /// Nothing came for too long.
        Idle = "idle";
        /// The host waited too often.
        AttemptsExhausted = "attempts-exhausted";
        /// It took too long.
        TimeLimit = "time-limit";
    }
}

impl Reason {
    /// The layer that this reason belongs to.
    #[must_use]
    pub const fn layer(self) -> Layer {
        match self {
            Self::ProcessExited | Self::DescendantsAlive => Layer::Ended,
            Self::AgentCompleted | Self::CommandEnded | Self::NeedsContinuation | Self::StreamClosed => Layer::Signal,
            Self::StatusReady | Self::StrictPrompt | Self::ShellIdle | Self::AwaitsInput | Self::BroadPrompt => {
                Layer::Status
            }
            Self::EmptyPolls | Self::Idle => Layer::Inactivity,
            Self::AttemptsExhausted | Self::TimeLimit => Layer::Limit,
        }
    }
}

words! {
    /// How sure it is that an answer is whole, least first.
    Confidence, open AnyConfidence, "confidence" {
        /// Nothing says so: the turn was cut off.
        None = "none";
        /// A guess from silence.
        Low = "low";
        /// A guess from what most programs do.
        Medium = "medium";
        /// What was seen means this nearly always.
        High = "high";
        /// It is a fact.
        Certain = "certain";
    }
}
