//! What a detector is told: the facts that backends see, without their sources.

use std::time::Duration;

/// What an agent says of itself.
pub use wharf_contract::events::StreamStatus as AgentStatus;

/// Something that happened, handed in with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'e> {
    /// This turn's input was written. It begins a turn, and ends what was
    /// known of the one before.
    Input {
        /// What was written, as a terminal would echo it; empty for keys, and
        /// where nothing is echoed.
        text: &'e str,
    },
    /// The program's leader ended.
    ProcessEnded {
        /// How many processes it left behind.
        descendants: u32,
        /// The code that it ended with, if it ended by itself.
        exit_code: Option<i32>,
    },
    /// Nobody can write to the stream any more. This says nothing of the
    /// process: see [`Event::ProcessEnded`].
    StreamClosed,
    /// The source itself says how far it is.
    Signal(Signal<'e>),
    /// A message of an agent.
    Message,
    /// A terminal showed this text, without its control sequences; it may be
    /// empty.
    Output {
        /// What was shown.
        text: &'e str,
    },
    /// A program that owns the whole screen drew on it. Its answer may be no
    /// more than a cursor that moved, so each counts as a message.
    Redraw,
    /// A sign of life that is no message, such as progress.
    Activity,
    /// The agent told its status.
    Status(AgentStatus),
    /// Somebody looked at the terminal after a quiet time.
    CursorRow(CursorRow<'e>),
    /// A poll of [`wait_for_data`](super::Parameters::wait_for_data) ended.
    Polled {
        /// Whether it found nothing. What it found is handed in apart, before.
        empty: bool,
    },
    /// Time passed.
    Tick,
}

/// An explicit signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal<'e> {
    /// The agent's event `completed`, of this turn: a source that numbers its
    /// turns leaves out those of others.
    Completed,
    /// OSC 133;C: the shell begins to run a command.
    CommandStarted {
        /// The nonce that came with it.
        nonce: &'e str,
    },
    /// OSC 133;D: the shell's command ended.
    CommandEnded {
        /// The nonce that came with it.
        nonce: &'e str,
        /// The code that came with it.
        exit_code: Option<i32>,
    },
    /// The shell's secondary prompt: it waits for the rest of a command.
    Continuation {
        /// The nonce that came with it.
        nonce: &'e str,
    },
}

/// What a look at a terminal found. Only what is known is said: wrong facts
/// here make wrong decisions, and absent ones only late decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CursorRow<'e> {
    /// The row of the cursor on the rendered screen, up to the cursor. What
    /// stands behind the cursor is decoration.
    pub text: &'e str,
    /// Whether the shell's own group is the terminal's foreground group.
    pub shell_in_front: Option<bool>,
    /// Whether the program in front waits for input of this terminal. `false`
    /// where it is known to compute or to wait for something else.
    pub waits_for_input: Option<bool>,
    /// Whether the program has read all that was typed before it was seen to
    /// wait.
    pub has_read_input: Option<bool>,
    /// What a program that listens to this terminal does beside, where it is
    /// not known to wait.
    pub beside: Beside,
}

/// What a program that listens to its terminal does beside that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Beside {
    /// Nothing is known of it, also not that it listens.
    #[default]
    Unknown,
    /// Nothing of it computes, and it goes on by itself after a while: so do
    /// programs that are made of events, and those with a thread that wakes now
    /// and then.
    Rests {
        /// After how long at most, from now on.
        wakes: Duration,
        /// Nothing but that time makes it go on. Else something that it listens
        /// to besides may, too.
        alone: bool,
    },
    /// Some of it computes.
    Computes,
}
