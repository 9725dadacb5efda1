//! What reaches a program: the inputs of turns, texts, keys and bytes.
//!
//! Owns two rules: a text is checked before any of it is typed, and no caller types
//! a text into the turn of another. Never knows what comes back.

use std::sync::atomic::Ordering::Relaxed;

use tokio::sync::{mpsc, oneshot};

use super::{TerminalSession, task::SessionOrder};
use crate::{Key, TerminalError, Turn, TurnInput, TurnOptions, UnknownKey, input::InputLine, keys};

impl TerminalSession {
    /// Begins a turn: types its input, and follows the answer until it is
    /// complete. The input may still be on its way when this
    /// returns; without any, the turn is what the program does already.
    ///
    /// # Errors
    /// [`TerminalError::Busy`] while another turn runs;
    /// [`TerminalError::Input`], [`TerminalError::Key`] and
    /// [`TerminalError::Parameters`] for what is refused;
    /// [`TerminalError::Closed`]. Then nothing was typed.
    pub async fn begin_turn(&self, input: TurnInput<'_>, options: TurnOptions) -> Result<Turn, TerminalError> {
        let (bytes, shown) = match input {
            TurnInput::Submit(text) => (self.checked(text, "\r")?, text),
            // What is shown of it is all there is to come.
            TurnInput::Type(text) => (self.checked(text, "")?, ""),
            TurnInput::Keys(names) => (self.encoded(names)?, ""),
        };
        let hidden = self.line_mode().is_some_and(|mode| mode.canonical && !mode.echo);
        let shown = if hidden { "" } else { shown };
        // From here on nothing waits: the turn and its input come together.
        let permit = self.order_permit().await?;
        let (done, typed) = oneshot::channel();
        let typing = (!bytes.is_empty()).then_some(typed);
        let turn = self.turns.begin(&self.shared, &self.progress, shown, options, typing)?;
        if !bytes.is_empty() {
            self.count_typed(&bytes);
            permit.send(SessionOrder::Type { bytes, done });
        }
        Ok(turn)
    }

    /// Types a text, once it is checked. Waits until the terminal has taken all
    /// of it, which it does not while the program reads nothing and much was
    /// typed; dropping the future takes back what it has not taken.
    ///
    /// # Errors
    /// [`TerminalError::Input`] for what is refused; [`TerminalError::Busy`]
    /// while a turn runs; [`TerminalError::Closed`].
    pub async fn type_text(&self, text: &str) -> Result<(), TerminalError> {
        self.type_between_turns(self.checked(text, "")?).await
    }

    /// Types a text and Enter.
    ///
    /// # Errors
    /// As for [`TerminalSession::type_text`].
    pub async fn submit(&self, text: &str) -> Result<(), TerminalError> {
        self.type_between_turns(self.checked(text, "\r")?).await
    }

    /// The bytes of a text that may be typed.
    fn checked(&self, text: &str, end: &str) -> Result<Vec<u8>, TerminalError> {
        let canonical = self.line_mode().is_some_and(|mode| mode.canonical);
        let typed_bytes = self.typed_bytes.load(Relaxed);
        self.rules.check(text, InputLine { canonical, typed_bytes })?;
        let mut bytes = keys::paste(text, self.modes());
        bytes.extend(end.as_bytes());
        Ok(bytes)
    }

    /// The bytes of keys.
    fn encoded(&self, names: &[&str]) -> Result<Vec<u8>, TerminalError> {
        let keys = names.iter().map(|name| name.parse()).collect::<Result<Vec<Key>, UnknownKey>>()?;
        let modes = self.modes();
        Ok(keys.into_iter().flat_map(|key| key.bytes(modes)).collect())
    }

    /// Presses keys, one after the other. During a turn they belong to it.
    ///
    /// # Errors
    /// [`TerminalError::Key`] where a name is unknown; then no key was pressed.
    /// [`TerminalError::Closed`].
    pub async fn press(&self, names: &[&str]) -> Result<(), TerminalError> {
        self.write(self.encoded(names)?).await
    }

    /// Writes bytes as they are, checked by nobody. For what a person types in
    /// a terminal of theirs.
    ///
    /// # Errors
    /// [`TerminalError::Closed`].
    pub async fn write(&self, bytes: Vec<u8>) -> Result<(), TerminalError> {
        let permit = self.order_permit().await?;
        self.type_with(permit, bytes).await
    }

    async fn type_between_turns(&self, bytes: Vec<u8>) -> Result<(), TerminalError> {
        let permit = self.order_permit().await?;
        self.turns.refuse_while_one_runs()?;
        self.type_with(permit, bytes).await
    }

    /// Waits until the task takes orders.
    async fn order_permit(&self) -> Result<mpsc::Permit<'_, SessionOrder>, TerminalError> {
        if self.is_closed() {
            return Err(TerminalError::Closed);
        }
        self.orders.reserve().await.map_err(|_| TerminalError::Closed)
    }

    async fn type_with(&self, permit: mpsc::Permit<'_, SessionOrder>, bytes: Vec<u8>) -> Result<(), TerminalError> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.count_typed(&bytes);
        let _typing = self.shared.begin_typing();
        let (done, typed) = oneshot::channel();
        permit.send(SessionOrder::Type { bytes, done });
        typed.await.map_err(|_| TerminalError::Closed)
    }

    fn count_typed(&self, bytes: &[u8]) {
        let ends_line = |byte: &u8| matches!(byte, b'\r' | b'\n' | 0x03 | 0x04 | 0x15 | 0x1a | 0x1c);
        let typed = match bytes.iter().rposition(ends_line) {
            Some(last) => bytes.len() - last - 1,
            None => self.typed_bytes.load(Relaxed).saturating_add(bytes.len()),
        };
        self.typed_bytes.store(typed, Relaxed);
    }
}
