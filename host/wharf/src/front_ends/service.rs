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
        let interrupted = || Error::new(Code::Unavailable, "the host is shutting down");
        // Schemas of strangers are compiled where nobody else has to wait.
        let (context, bytes) =
            (Context::new(owner.tenant.clone(), SessionId::default_session()), json_bytes(&front_end.tools));
        let until = std::time::Instant::now() + self.front_ends.limits.wait();
        let place = self.front_ends.checks.place(&context, bytes, until).await?;
        let (front_ends, owner) = (Arc::clone(&self.front_ends), owner.clone());
        let connecting = spawn_blocking(move || {
            let _place = place;
            let connected = front_ends.connect(&owner, front_end)?;
            // Here, since the client may leave before this ends.
            front_ends.keep(&connected);
            Ok::<_, Error>(front_ends.description(&connected))
        });
        connecting.await.map_err(|_| interrupted())?
    }

    fn list(&self, owner: &FrontEndOwner) -> Vec<FrontEndDescription> {
        self.front_ends.of_owner(owner).iter().map(|connected| self.front_ends.description(connected)).collect()
    }

    fn disconnect(&self, owner: &FrontEndOwner, front_end: &str) -> Result<(), Error> {
        let connected = self.front_ends.found(owner, front_end)?;
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
