//! What a detector answers.

use std::{fmt, time::Duration};

use wharf_contract::turn;
pub use wharf_contract::turn::{Confidence, Layer};

/// How a turn stands, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// Why the turn is complete; `None` while it is not. Once it is there it
    /// stays, with the numbers below, until the next input.
    pub verdict: Option<Verdict>,
    /// The code of the command, or of the program, whose end the turn's end is,
    /// where it told one.
    pub exit_code: Option<i32>,
    /// Messages, or pieces of output, of this turn, without echo.
    pub messages: u64,
    /// Polls that count as attempts: see
    /// [`max_attempts`](super::Parameters::max_attempts).
    pub attempts: u32,
    /// Attempts in a row that found nothing.
    pub empty_polls: u32,
    /// Since the last event of this turn, or since its input.
    pub idle: Duration,
    /// Since the input.
    pub elapsed: Duration,
    /// How the limit of silence follows what the source usually takes, where it
    /// does.
    pub adaptive: Option<AdaptiveSilence>,
    /// When to hand in the next event if none comes by itself: a look at the
    /// cursor's row where there is a terminal, a tick where there is none.
    /// Always later than now. `None` where nothing can change by itself: no
    /// turn runs.
    pub ask_again: Option<Duration>,
}

impl Decision {
    /// Whether the turn is over.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.verdict.is_some()
    }

    /// The layer that decided.
    #[must_use]
    pub fn layer(&self) -> Option<Layer> {
        self.verdict.map(|verdict| verdict.reason.layer())
    }

    /// Why the turn is over.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        self.verdict.map(|verdict| verdict.reason)
    }

    /// How sure it is that the answer is whole.
    #[must_use]
    pub fn confidence(&self) -> Option<Confidence> {
        self.verdict.map(|verdict| verdict.confidence)
    }
}

/// How long silence lasts before it counts, where that adapts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdaptiveSilence {
    /// The limit of this turn.
    pub limit: Duration,
    /// How many turns it was learned from, the last 8 at most; 0 where it is the
    /// usual limit still.
    pub turns: u32,
}

/// Why a turn is complete, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Why.
    pub reason: Reason,
    /// How sure.
    pub confidence: Confidence,
}

/// Why a turn is complete, strongest first: a word of the contract, with what
/// belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The process ended and left nothing behind.
    ProcessExited,
    /// The process ended; what it left behind lives on, and may still write.
    DescendantsAlive {
        /// How many.
        descendants: u32,
    },
    /// The agent said that it completed.
    AgentCompleted,
    /// The shell said that the command ended.
    CommandEnded {
        /// The code, where it said one.
        exit_code: Option<i32>,
    },
    /// The shell said that it waits for the rest of the command.
    NeedsContinuation,
    /// Nothing can come any more, though the process was not seen to end.
    StreamClosed,
    /// The agent's status said so, and held.
    StatusReady,
    /// A prompt that asks for an answer, such as `(y/n)`.
    StrictPrompt,
    /// The shell has the terminal, without having said that its command ended.
    ShellIdle,
    /// The program has read its input and waits for more, whatever it shows.
    AwaitsInput,
    /// A text that most programs print as a prompt, and some as other things.
    BroadPrompt,
    /// Too many polls in a row found nothing.
    EmptyPolls,
    /// Nothing came for too long.
    Idle,
    /// Too many polls.
    AttemptsExhausted,
    /// Too long, whatever came.
    TimeLimit,
}

impl Reason {
    /// The word of the contract.
    #[must_use]
    pub fn word(self) -> turn::Reason {
        match self {
            Self::ProcessExited => turn::Reason::ProcessExited,
            Self::DescendantsAlive { .. } => turn::Reason::DescendantsAlive,
            Self::AgentCompleted => turn::Reason::AgentCompleted,
            Self::CommandEnded { .. } => turn::Reason::CommandEnded,
            Self::NeedsContinuation => turn::Reason::NeedsContinuation,
            Self::StreamClosed => turn::Reason::StreamClosed,
            Self::StatusReady => turn::Reason::StatusReady,
            Self::StrictPrompt => turn::Reason::StrictPrompt,
            Self::ShellIdle => turn::Reason::ShellIdle,
            Self::AwaitsInput => turn::Reason::AwaitsInput,
            Self::BroadPrompt => turn::Reason::BroadPrompt,
            Self::EmptyPolls => turn::Reason::EmptyPolls,
            Self::Idle => turn::Reason::Idle,
            Self::AttemptsExhausted => turn::Reason::AttemptsExhausted,
            Self::TimeLimit => turn::Reason::TimeLimit,
        }
    }

    /// The layer that this reason belongs to.
    #[must_use]
    pub fn layer(self) -> Layer {
        self.word().layer()
    }

    /// The word that streams and logs use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.word().as_str()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
