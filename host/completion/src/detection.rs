//! When is a turn complete? One layered detector for terminals and for streams
//! of agents.
//!
//! Owns the rules. It performs no I/O and reads no clock: its caller hands in what
//! it saw and when ([`Detector::feed`]), as time since any fixed moment of a
//! clock that never goes back, and learns whether the turn is over, why, how
//! sure that is, and when to come again. It never learns what was said, by
//! whom, or over which wire.
//!
//! # Rules
//! Nothing counts before a turn's input, and what has been decided stays.
//!
//! | layer | reason | fires | confidence |
//! |---|---|---|---|
//! | L0 | process-exited, descendants-alive | the leader ended: as soon as the stream is closed too, or after `drain` | certain |
//! | L1 | agent-completed | at once, also with no message | certain |
//! | L1 | command-ended, needs-continuation | at once with the session's nonce, else never. Held for `settle` where the input has several lines, for `broad_quiet` where a command ran at the input; a command that starts meanwhile takes it back, and a program known to have read its input and to wait for more ends the holding after `strict_quiet` | certain |
//! | L1 | stream-closed | after `drain`, unless the process ends too | high |
//! | L2 | status-ready | `ready` or `completed` held for `settle` (or twice that, see there) since it was told and since the last event; at least one message | high |
//! | L2 | strict-prompt | `strict_quiet` after the last output (before the input's echo was seen, and since the program was last seen to be busy behind it: `broad_quiet`), something visible after the echo; see below for a program that does something beside | high |
//! | L2 | shell-idle | as strict where the shell is in front and known to wait; else as broad, with the shell in front | high, medium |
//! | L2 | awaits-input | `strict_quiet` after the last output, where the program is known to have read its input and to wait for more; what the row shows does not count, nor whether anything was answered | high |
//! | L2 | broad-prompt | as strict where the program is known to wait; else `broad_quiet` after the last output, sooner where it has read its input and only time makes it go on; never while the status says that work goes on | high, medium |
//! | L3 | empty-polls | `consecutive_empty_polls`; at least one message or an error status; of a program known to be busy only where somebody asked for their number | low |
//! | L3 | idle | `inactivity_timeout` since the last event; a message or an error status. `busy_inactivity_timeout` of a program known to be busy, which is the same where somebody asked for `inactivity_timeout` | low |
//! | L4 | attempts-exhausted, time-limit | `max_attempts` or `time_limit`, whatever came | none |
//!
//! A program may write what looks like a prompt and work on behind it. So where
//! it listens to its terminal but goes on by itself within two seconds, a prompt,
//! strict or broad, counts once that time is over, it has woken and has printed
//! nothing; then a broad one needs no longer quiet than half a second. While
//! some of it computes, each needs `broad_quiet`.
//!
//! # Which rule wins
//! | where two could fire | wins | since |
//! |---|---|---|
//! | at different times | the earlier | the turn is over then, and ticks that came late change nothing |
//! | at the same time | the one further up in the table | it knows more |
//! | the process has ended, and anything else | L0, even where another would fire within `drain` | nothing else can still be true |
//! | an event and a limit of the same time | the event, so hand in events before the tick | it did come in time |
//! | an event, and a limit that passed before it | the limit | else the answer would depend on how often somebody asks |
//!
//! The last line is why an event's time is the earliest at which it may have
//! come: a caller that was held up hands in the time when it last looked and
//! found nothing, and reads what there is before it ticks.
//!
//! To end too early is worse than to end late: the answer is cut, and what
//! comes later is taken for the next. So each doubt makes a turn longer: what
//! is not known is never guessed, and a program known not to wait for input
//! shows no prompt, whatever stands on its screen. A program known to have read
//! all its input and to wait for more is done, whatever its prompt looks like.

mod adaptation;
mod decision;
mod detector;
mod echo;
mod endings;
mod event;
mod nonce;
mod parameters;
mod preset;
mod prompt;
mod rules;
mod tuning;
mod turn;

pub use decision::{AdaptiveSilence, Confidence, Decision, Layer, Reason, Verdict};
pub use detector::Detector;
pub use endings::{Endings, words};
pub use event::{AgentStatus, Beside, CursorRow, Event, Signal};
pub use nonce::{InvalidNonce, Nonce};
pub use parameters::{Adaptation, InvalidParameter, LONGEST_MILLISECONDS, Parameters, given_time};
pub use preset::Preset;
pub use prompt::{InvalidPrompt, PromptKind, Prompts};
pub use tuning::Tuning;

#[cfg(test)]
mod tests;
