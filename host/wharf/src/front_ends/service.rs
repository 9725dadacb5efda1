//! Front ends for transports: found by their handle, and gone once they are
//! silent.

use std::{sync::Arc, time::Duration};

use tokio::{task::spawn_blocking, time::Instant};
use wharf_core::{
    Code, Context, Error, FrontEndService, SessionId,
    service::front_end::{
        AnswerCall, ConnectFrontEnd, FrontEndDescription, FrontEndEvent, FrontEndOwner, TellProgress,
    },
    tool::json_bytes,
};

use super::directory::FrontEnds;

/// Calls that are told at once.
const MOST_CALLS: usize = 64;

/// See the module.
pub(crate) struct ServedFrontEnds {
    front_ends: Arc<FrontEnds>,
}

impl ServedFrontEnds {
    pub(crate) fn new(front_ends: &Arc<FrontEnds>) -> Self {
        Self { front_ends: Arc::clone(front_ends) }
    }
}

#[async_trait::async_trait]
impl FrontEndService for ServedFrontEnds {
    async fn connect(&self, owner: &FrontEndOwner, front_end: ConnectFrontEnd) -> Result<FrontEndDescription, Error> {
        // Schemas of strangers are compiled where nobody else has to wait.
        let (context, bytes) =
            (Context::new(owner.tenant.clone(), SessionId::default_session()), json_bytes(&front_end.tools));
        let until = std::time::Instant::now() + self.front_ends.limits.wait();
        let place = self.front_ends.checks.place(&context, bytes, until).await?;
        let (front_ends, owner) = (Arc::clone(&self.front_ends), owner.clone());
        // To its end, since the client may leave before it comes.
        let connecting = tokio::spawn(async move {
            let (checking, replace) = (Arc::clone(&front_ends), front_end.replace);
            let checking = spawn_blocking(move || {
                let _place = place;
                checking.check(&owner, front_end)
            });
            let connected = checking.await.map_err(|_| interrupted())??;
            front_ends.enter(&connected, replace).await?;
            front_ends.keep(&connected);
            Ok::<_, Error>(front_ends.description(&connected))
        });
        connecting.await.map_err(|_| interrupted())?
    }

    async fn list(&self, owner: &FrontEndOwner) -> Vec<FrontEndDescription> {
        let front_ends = &self.front_ends;
        if let Some(preparing) = front_ends.preparing(&owner.tenant) {
            preparing.await;
        }
        let here = front_ends.of_owner(owner);
        let mut all: Vec<_> = here.iter().map(|connected| front_ends.description(connected)).collect();
        all.extend(front_ends.sharing.of_owner(owner, front_ends.limits.front_end_silent_milliseconds));
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    async fn disconnect(&self, owner: &FrontEndOwner, front_end: &str) -> Result<(), Error> {
        let connected = self.front_ends.found(owner, front_end)?;
        // Before it is told: it may connect anew at another host.
        self.front_ends.forget(&[connected.id]).await;
        self.front_ends.end(&connected);
        Ok(())
    }

    async fn events(
        &self,
        owner: &FrontEndOwner,
        front_end: &str,
        after: u64,
        patience: Duration,
    ) -> Result<Option<Vec<FrontEndEvent>>, Error> {
        let connected = self.front_ends.found(owner, front_end)?;
        Ok(connected.events(after, MOST_CALLS, Some(Instant::now() + patience)).await)
    }

    async fn answer(&self, owner: &FrontEndOwner, front_end: &str, call: u64, answer: AnswerCall) -> Result<(), Error> {
        let connected = self.front_ends.found(owner, front_end)?;
        self.front_ends.answer(&connected, call, answer).await
    }

    fn progress(&self, owner: &FrontEndOwner, front_end: &str, call: u64, progress: TellProgress) -> Result<(), Error> {
        self.front_ends.found(owner, front_end)?.progress(call, &progress)
    }
}

fn interrupted() -> Error {
    Error::new(Code::Unavailable, "the host is shutting down")
}
