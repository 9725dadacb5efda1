//! Turns of terminals: what their owners send, press and follow.
//!
//! Owns that a turn is counted, and told in the terminal's stream of events. Never
//! knows when a turn is over: that is `turn`.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use wharf_completion::{
    detection::{Decision, Parameters, Preset, words},
    stream::{BegunTurn, StreamId},
};
use wharf_core::TerminalOwner;

use super::Terminals;
use crate::{
    TerminalError, TerminalId, TurnInput, TurnOptions, TurnOutput, TurnState,
    pool::exit_intent,
    profile::{ProfileChoice, ProgramProfile},
};

impl Terminals {
    /// How turns of a terminal are judged: by the operator's profile or the
    /// preset of this name, or by that of its program, with the prompts that are
    /// known of it.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Invalid`] for a name that is
    /// neither.
    pub fn turn_options(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        profile: Option<&str>,
    ) -> Result<TurnOptions, TerminalError> {
        let terminal = self.find(owner, id)?;
        Ok(match profile.map(|name| self.profiles.kind(name)).transpose()? {
            None => options_of(&terminal.profile, terminal.profile.preset),
            Some(ProfileChoice::Preset(preset)) => options_of(&terminal.profile, preset),
            Some(ProfileChoice::Profile(profile)) => options_of(&profile, profile.preset),
        })
    }

    /// Begins a turn: types its input, and follows the answer, even if nobody looks
    /// on. Without options it is judged by what is known of its program.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Restarting`]; as for
    /// [`crate::TerminalSession::begin_turn`].
    pub async fn send(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        input: TurnInput<'_>,
        turn_options: Option<TurnOptions>,
    ) -> Result<TurnState, TerminalError> {
        Ok(self.send_streamed(owner, id, input, turn_options).await?.0)
    }

    /// The same, and where the turn begins in the terminal's stream of events, if
    /// the terminal has one.
    ///
    /// # Errors
    /// As for [`Terminals::send`].
    pub async fn send_streamed(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        input: TurnInput<'_>,
        turn_options: Option<TurnOptions>,
    ) -> Result<(TurnState, Option<(StreamId, BegunTurn)>), TerminalError> {
        let terminal = self.used(owner, id)?;
        let turn_options = turn_options.unwrap_or_else(|| options_of(&terminal.profile, terminal.profile.preset));
        let begun = async {
            terminal.check_takes_input()?;
            if let Some(turn) = terminal.session.turn().map(|turn| turn.state()).filter(|turn| !turn.is_over()) {
                return Err(TerminalError::Busy { turn: turn.number });
            }
            let asked = terminal.note_input(input);
            let begun = terminal.session.begin_turn(input, turn_options).await;
            // What was refused was not typed.
            if begun.is_err() {
                terminal.set_asked_to_exit(asked);
            }
            begun
        };
        let turn = begun.await.map_err(|error| self.failed(terminal.explained(error)))?;
        terminal.keep_turn(turn.clone());
        let (state, began) = (turn.state(), Instant::now());
        let told = match &terminal.events {
            // The stream has ended, as the terminal does now.
            Some(events) => {
                let of = Arc::downgrade(&terminal);
                let because = move || of.upgrade()?.because();
                events.begin(turn.clone(), because).await.ok().map(|begun| (events.id(), begun))
            }
            None => None,
        };
        let (counters, terminal) = (Arc::clone(&self.pool.counters), Arc::downgrade(&terminal));
        let mut changes = turn.changes();
        drop(turn);
        tokio::spawn(async move {
            // An error says that nobody knows of it any more.
            let Ok(over) = changes.wait_for(TurnState::is_over).await.map(|state| state.clone()) else { return };
            counters.answered(began.elapsed(), over.cancelled);
            let decision = Decision { verdict: over.decision.verdict.filter(|_| !over.cancelled), ..over.decision };
            counters.turns.count(&decision);
            let (reason, confidence) = words(&decision);
            tracing::info!(
                terminal = %id, turn = over.number, reason, confidence, messages = decision.messages,
                elapsed = ?decision.elapsed, adaptive = ?decision.adaptive, "a turn of a terminal is over"
            );
            if let Some(terminal) = terminal.upgrade() {
                terminal.note_directory();
                terminal.touch();
            }
        });
        Ok((state, told))
    }

    /// The next piece of a turn's text from a cursor on: see
    /// [`crate::Turn::next`]. Any number may follow, and come back.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::NoTurn`] where there is no
    /// such turn, or it is long over.
    pub async fn follow(
        &self,
        owner: &TerminalOwner,
        id: TerminalId,
        turn: u64,
        from: u64,
        maximum_bytes: usize,
        patience: Duration,
    ) -> Result<TurnOutput, TerminalError> {
        let terminal = self.used(owner, id)?;
        let turn = terminal.turn(turn)?;
        let piece = turn.next(from, maximum_bytes, self.patience(patience)).await;
        Ok(TurnOutput { piece, turn: turn.state() })
    }

    /// Gives a turn up: see [`crate::Turn::cancel`].
    ///
    /// # Errors
    /// As for [`Terminals::follow`].
    pub fn cancel(&self, owner: &TerminalOwner, id: TerminalId, turn: u64) -> Result<(), TerminalError> {
        self.used(owner, id)?.turn(turn)?.cancel();
        Ok(())
    }

    /// Presses keys, one after the other; during a turn they belong to it.
    ///
    /// # Errors
    /// [`TerminalError::NotFound`]; [`TerminalError::Restarting`]; as for
    /// [`crate::TerminalSession::press`].
    pub async fn press(&self, owner: &TerminalOwner, id: TerminalId, keys: &[&str]) -> Result<(), TerminalError> {
        let terminal = self.used(owner, id)?;
        let pressed = async {
            terminal.check_takes_input()?;
            // Of what is typed in a turn, keys only add to it.
            if exit_intent::keys_ask_to_exit(keys) || !terminal.turn_runs() {
                terminal.note_input(TurnInput::Keys(keys));
            }
            terminal.session.press(keys).await
        };
        pressed.await.map_err(|error| self.failed(terminal.explained(error)))
    }
}

fn options_of(profile: &ProgramProfile, preset: Preset) -> TurnOptions {
    // They were tried when the pool was opened.
    let parameters = profile.parameters(preset).unwrap_or_else(|_| Parameters::from(preset));
    TurnOptions { parameters }
}
