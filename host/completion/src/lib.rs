//! When something that was asked is answered: turns of terminals and of agents,
//! the streams on which their events come, and polls of what still runs.
//!
//! Owns the [detector](detection) that decides when a turn is complete, the
//! [streams] of a host with all that is kept of them, the rules by which
//! [polls] bring advice, and the trait by which a transport serves
//! [terminals] turn by turn.
//!
//! This crate performs no I/O, and reads no clock but that of streams, which
//! time their own turns. It never learns what runs behind a terminal or a
//! stream, which process is polled, or over which wire somebody reads.
//!
//! [streams]: stream

pub mod detection;
pub mod polls;
pub mod stream;
pub mod terminals;

pub use stream::Streams;
pub use terminals::TerminalService;
