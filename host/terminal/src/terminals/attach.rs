//! The operator's way into a terminal: what it shows, live, and what a person
//! types.
//!
//! Never asks whose a terminal is: the operator may see all of them.

use std::sync::Arc;

use super::Terminals;
use crate::{
    TerminalError, TerminalId, TerminalInfo, TerminalSize, ViewUpdate, Viewer,
    pool::{PooledTerminal, exit_intent},
};

/// A terminal before a person. Dropping it ends that, and nothing else.
#[derive(Debug)]
pub struct AttachedTerminal {
    terminal: Arc<PooledTerminal>,
    viewer: Viewer,
}

impl Terminals {
    /// Attaches a person to a terminal of any owner, to look at it and type into
    /// it. The terminal is not idle meanwhile.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::TooManyViewers`].
    pub fn attach(&self, id: TerminalId) -> Result<AttachedTerminal, TerminalError> {
        let terminal = self.operated(id)?;
        let viewer = terminal.session.view(false)?;
        if terminal.ended_at().is_some() {
            terminal.session.end_views();
        }
        terminal.count_attached(1);
        Ok(AttachedTerminal { terminal, viewer })
    }

    /// Types bytes into a terminal of any owner, for the operator, as [`AttachedTerminal::write`] does.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Busy`] while a turn runs; [`TerminalError::Closed`].
    pub async fn type_for_operator(&self, id: TerminalId, bytes: Vec<u8>, force: bool) -> Result<(), TerminalError> {
        let terminal = self.operated(id)?;
        type_bytes(&terminal, bytes, force).await?;
        terminal.touch();
        Ok(())
    }

    /// Changes the size of a terminal of any owner, for the operator.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Closed`]; or where the system refuses.
    pub fn resize_for_operator(&self, id: TerminalId, size: TerminalSize) -> Result<(), TerminalError> {
        let terminal = self.operated(id)?;
        if terminal.is_over() {
            return Err(terminal.explained(TerminalError::Closed));
        }
        terminal.session.resize(size)
    }

    fn operated(&self, id: TerminalId) -> Result<Arc<PooledTerminal>, TerminalError> {
        self.own(id)?;
        self.pool.table().get(id).ok_or(TerminalError::NotFound)
    }
}

async fn type_bytes(terminal: &PooledTerminal, bytes: Vec<u8>, force: bool) -> Result<(), TerminalError> {
    let turn = terminal.session.turn().map(|turn| turn.state()).filter(|turn| !turn.is_over());
    if let Some(turn) = turn.filter(|_| !force) {
        return Err(TerminalError::Busy { turn: turn.number });
    }
    terminal.check_takes_input().map_err(|error| terminal.explained(error))?;
    // What a person types comes in pieces, so that words are not known.
    terminal.set_asked_to_exit(exit_intent::bytes_ask_to_exit(&bytes) || bytes.contains(&b'\r'));
    terminal.session.write(bytes).await.map_err(|error| terminal.explained(error))
}

impl AttachedTerminal {
    /// What is shown next: the whole screen first, and again whenever the
    /// person's terminal was too slow for what came. Nothing once the terminal
    /// is closed. Cancel-safe.
    pub async fn next(&mut self) -> Option<ViewUpdate> {
        self.viewer.next().await
    }

    /// The terminal as it is now.
    #[must_use]
    pub fn info(&self) -> TerminalInfo {
        self.terminal.info()
    }

    /// Types bytes as they are, as a person's keyboard sends them. A turn is
    /// the writer of its terminal, so that what is typed would be taken for a
    /// part of it: only `force` does that.
    ///
    /// # Errors
    /// [`TerminalError::Busy`] while a turn runs; [`TerminalError::Closed`].
    pub async fn write(&self, bytes: Vec<u8>, force: bool) -> Result<(), TerminalError> {
        type_bytes(&self.terminal, bytes, force).await
    }

    /// Changes the size of the terminal, for everybody. The program is told.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn resize(&self, size: TerminalSize) -> Result<(), TerminalError> {
        self.terminal.session.resize(size)
    }
}

impl Drop for AttachedTerminal {
    fn drop(&mut self) {
        self.terminal.count_attached(-1);
        // It was in use until now.
        self.terminal.touch();
    }
}
