//! What a transport serves beside tools: terminals, for clients that are not
//! models.
//!
//! Plain data in both directions, so that the protocol crate knows nothing
//! of the terminal crate.

mod report;
mod request;

use std::time::Duration;

pub use report::{
    StartedTerminal, TerminalCursor, TerminalDescription, TerminalExit, TerminalOutput, TerminalScreen, TerminalSeen,
    TerminalTurn, TurnDescription, WatchableTerminal,
};
pub use request::{CancelTurn, OutputView, PressKeys, ReadOutput, ResizeTerminal, StartTerminal, TurnRequest};
use wharf_core::{Context, Error};

/// A viewer of one terminal. Dropping it ends the viewing.
#[async_trait::async_trait]
pub trait TerminalWatch: Send {
    /// What is seen next; nothing once the end was told. Cancel-safe.
    async fn next(&mut self) -> Option<TerminalSeen>;
}

/// Terminals on behalf of contexts. One of another owner is `not-found`.
#[async_trait::async_trait]
pub trait TerminalService: Send + Sync + 'static {
    /// Starts a program in a terminal of its own, and opens its stream.
    ///
    /// # Errors
    /// `denied` where it is not granted, `limit` where there are too many,
    /// `invalid` for a request that makes no sense.
    async fn start(&self, context: &Context, request: StartTerminal) -> Result<StartedTerminal, Error>;

    /// The terminals of this owner, ended ones that are kept included.
    ///
    /// # Errors
    /// `denied` where terminals are not granted.
    async fn list(&self, context: &Context) -> Result<Vec<TerminalDescription>, Error>;

    /// One terminal.
    ///
    /// # Errors
    /// `not-found`.
    async fn info(&self, context: &Context, terminal: &str) -> Result<TerminalDescription, Error>;

    /// Begins a turn. Its events come on the terminal's stream, and it goes on even if
    /// no client follows it.
    ///
    /// # Errors
    /// `not-found`; `conflict` while a turn runs; `gone` once the program has
    /// ended; `invalid`, `denied` and `limit` for input that is not typed.
    async fn turn(&self, context: &Context, terminal: &str, request: TurnRequest) -> Result<TerminalTurn, Error>;

    /// Presses keys, in a running turn or without one.
    ///
    /// # Errors
    /// `not-found`, `invalid` for a name that is no key, `gone`.
    async fn keys(&self, context: &Context, terminal: &str, request: PressKeys) -> Result<(), Error>;

    /// Takes a turn back: it is over, and the program is sent nothing.
    ///
    /// # Errors
    /// `not-found`, `conflict` where no such turn runs.
    async fn cancel(&self, context: &Context, terminal: &str, request: CancelTurn) -> Result<(), Error>;

    /// Changes the size.
    ///
    /// # Errors
    /// `not-found`, `invalid` for a size that no terminal has, `gone`.
    async fn resize(&self, context: &Context, terminal: &str, request: ResizeTerminal) -> Result<(), Error>;

    /// What a person would see now, and at most so many lines above it.
    ///
    /// # Errors
    /// `not-found`.
    async fn screen(&self, context: &Context, terminal: &str, history_lines: usize) -> Result<TerminalScreen, Error>;

    /// What was printed, from a cursor on. Waits until something is there, the
    /// program has ended or patience is over.
    ///
    /// # Errors
    /// `not-found`.
    async fn output(&self, context: &Context, terminal: &str, request: ReadOutput) -> Result<TerminalOutput, Error>;

    /// The terminals that this session may look at, whichever plugin opened
    /// them: of its tenant and session, and of its assistant alone where the
    /// context names one. No grant is checked here: the opener of each terminal had one.
    async fn watchable(&self, context: &Context) -> Vec<WatchableTerminal>;

    /// Begins to view one of these: with the whole screen, or from a cursor of the view
    /// `raw` where the bytes after it are still kept.
    ///
    /// # Errors
    /// `not-found`.
    async fn watch(
        &self,
        context: &Context,
        terminal: &str,
        from: Option<u64>,
    ) -> Result<Box<dyn TerminalWatch>, Error>;

    /// Ends the program, after `grace` by force, and its stream.
    ///
    /// # Errors
    /// `not-found`.
    async fn close(&self, context: &Context, terminal: &str, grace: Duration) -> Result<TerminalDescription, Error>;
}
