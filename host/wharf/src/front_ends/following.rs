//! A front end in the hands of an app that has a channel to it of its own.

use std::sync::Arc;

use wharf_core::{
    Error,
    service::front_end::{AnswerCall, ConnectFrontEnd, FrontEndEvent, FrontEndOwner, TellProgress},
};

use super::{connected::ConnectedFrontEnd, directory::FrontEnds};

/// A front end that is connected by [`Host::connect_front_end`], until this is
/// dropped.
///
/// [`Host::connect_front_end`]: crate::Host::connect_front_end
pub struct FrontEnd {
    front_ends: Arc<FrontEnds>,
    connected: Arc<ConnectedFrontEnd>,
    told: u64,
}

impl std::fmt::Debug for FrontEnd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("FrontEnd").field("name", &self.connected.name).finish_non_exhaustive()
    }
}

impl FrontEnd {
    pub(crate) async fn connect(
        front_ends: &Arc<FrontEnds>,
        owner: &FrontEndOwner,
        wanted: ConnectFrontEnd,
    ) -> Result<Self, Error> {
        let replace = wanted.replace;
        let connected = front_ends.check(owner, wanted)?;
        front_ends.enter(&connected, replace).await?;
        Ok(Self { front_ends: Arc::clone(front_ends), connected, told: 0 })
    }

    /// Its tools, as clients see them.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.connected.definitions.iter().map(|definition| definition.name.as_str())
    }

    /// Waits for what it is to be told next. Nothing where it was disconnected:
    /// another one has taken its place, or the host has ended. May be dropped and
    /// asked again; nothing is lost.
    pub async fn next(&mut self) -> Option<FrontEndEvent> {
        let event = self.connected.events(self.told, 1, None).await?.into_iter().next()?;
        self.told = event.number();
        Some(event)
    }

    /// Answers a call. One that is refused still waits, and can be answered anew. The
    /// answer is checked before this returns, which takes up to `check_steps`.
    ///
    /// # Errors
    /// `not-found` for a call that never was, `gone` for one that nobody waits for
    /// any more, `conflict` for one that was answered; `invalid` and `limit` for an
    /// answer that is refused.
    pub fn answer(&self, call: u64, answer: AnswerCall) -> Result<(), Error> {
        self.front_ends.answer_here(&self.connected, call, answer)
    }

    /// Tells the client of a call how far it has come.
    ///
    /// # Errors
    /// Those of an answer to such a call; `invalid` where a number is illegal or
    /// has not grown, `limit` where the call has told as much as it may.
    pub fn progress(&self, call: u64, progress: &TellProgress) -> Result<(), Error> {
        self.connected.progress(call, progress)
    }
}

impl Drop for FrontEnd {
    fn drop(&mut self) {
        self.front_ends.end(&self.connected);
    }
}
