//! What owners read of their terminals, and wait for.
//!
//! Owns that a lost terminal is read as one whose program has ended. Changes
//! nothing.

use std::time::Duration;

use tokio::select;
use wharf_core::TerminalOwner;

use super::Terminals;
use crate::{
    HistorySlice, ScreenSnapshot, SessionProgress, TerminalError, TerminalId, TerminalInfo, pool::TerminalLife,
};

impl Terminals {
    /// What a person would see, with at most so many lines of history.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub fn screen(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        history_lines: usize,
    ) -> Result<ScreenSnapshot, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.screen(history_lines));
        }
        let session = &self.used(owner, id)?.session;
        let history = if history_lines == 0 { Vec::new() } else { session.scrollback_rows(history_lines) };
        Ok(ScreenSnapshot { view: session.screen(), history })
    }

    /// Text without control sequences, from a cursor on.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub fn read_text(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        from: u64,
        maximum_bytes: usize,
    ) -> Result<HistorySlice<String>, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.text(from, maximum_bytes));
        }
        Ok(self.used(owner, id)?.session.text(from, maximum_bytes))
    }

    /// Bytes as they came, from a cursor on.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub fn read_raw(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        from: u64,
        maximum_bytes: usize,
    ) -> Result<HistorySlice<Vec<u8>>, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.raw());
        }
        Ok(self.used(owner, id)?.session.raw(from, maximum_bytes))
    }

    /// Waits until there is text behind a cursor, or the terminal is closed, or
    /// `patience` is over.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub async fn wait(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        from: u64,
        patience: Duration,
    ) -> Result<TerminalInfo, TerminalError> {
        self.wait_for(owner, id, |progress| progress.text_bytes > from, patience).await
    }

    /// Waits until what came meets a condition, or the terminal is closed, or
    /// `patience` is over.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`].
    pub async fn wait_for(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        is_met: impl Fn(&SessionProgress) -> bool + Send,
        patience: Duration,
    ) -> Result<TerminalInfo, TerminalError> {
        if let Some(lost) = self.lost(owner, id) {
            return Ok(lost.info());
        }
        let terminal = self.used(owner, id)?;
        let (mut progress, mut life) = (terminal.session.progress(), terminal.life.subscribe());
        let waiting = async {
            select! {
                // It goes on while the terminal is there, which is held here.
                _ = progress.wait_for(is_met) => {}
                _ = life.wait_for(|life| *life == TerminalLife::Ended) => {}
            }
        };
        drop(tokio::time::timeout(self.patience(patience), waiting).await);
        terminal.touch();
        Ok(terminal.info())
    }
}
