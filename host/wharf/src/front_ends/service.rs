//! Front ends for transports: found by their handle, and gone once they are
//! silent.

use std::{sync::Arc, time::Duration};

use tokio::{task::spawn_blocking, time::Instant};
use wharf_core::{
    Code, Error, FrontEndService,
    service::front_end::{
        AnswerCall, ConnectFrontEnd, FrontEndDescription, FrontEndEvent, FrontEndOwner, TellProgress,
    },
};

use super::FrontEnds;

/// Calls that are told at once.
const MOST_CALLS: usize = 64;

/// See the module.
pub(crate) struct ServedFrontEnds(pub(crate) Arc<FrontEnds>);

#[async_trait::async_trait]
impl FrontEndService for ServedFrontEnds {
    async fn connect(&self, owner: &FrontEndOwner, front_end: ConnectFrontEnd) -> Result<FrontEndDescription, Error> {
        let (front_ends, owner) = (Arc::clone(&self.0), owner.clone());
        // Schemas of strangers are compiled where nobody else has to wait.
        let connecting = spawn_blocking(move || {
            let connected = front_ends.connect(&owner, front_end)?;
            // Here, since whoever asked may not wait for the end of this.
            front_ends.keep(&connected);
            Ok::<_, Error>(front_ends.description(&connected))
        });
        connecting.await.map_err(|_| Error::new(Code::Unavailable, "the host is shutting down"))?
    }

    fn list(&self, owner: &FrontEndOwner) -> Vec<FrontEndDescription> {
        self.0.of_owner(owner).iter().map(|connected| self.0.description(connected)).collect()
    }

    fn disconnect(&self, owner: &FrontEndOwner, front_end: &str) -> Result<(), Error> {
        let connected = self.0.found(owner, front_end)?;
        self.0.end(&connected);
        Ok(())
    }

    async fn events(
        &self,
        owner: &FrontEndOwner,
        front_end: &str,
        after: u64,
        patience: Duration,
    ) -> Result<Option<Vec<FrontEndEvent>>, Error> {
        let connected = self.0.found(owner, front_end)?;
        Ok(connected.events(after, MOST_CALLS, Some(Instant::now() + patience)).await)
    }

    fn answer(&self, owner: &FrontEndOwner, front_end: &str, call: u64, answer: AnswerCall) -> Result<(), Error> {
        let connected = self.0.found(owner, front_end)?;
        self.0.answer(&connected, call, answer)
    }

    fn progress(&self, owner: &FrontEndOwner, front_end: &str, call: u64, progress: TellProgress) -> Result<(), Error> {
        self.0.found(owner, front_end)?.progress(call, &progress)
    }
}
