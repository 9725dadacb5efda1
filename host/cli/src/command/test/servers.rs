//! Scripted answers of servers.

use std::sync::Arc;

use wharf::{
    Error,
    stand_in::{ServerStandIns, StandInAnswer},
};

use super::{
    script::ResponseScript,
    stage::{Cue, Stage},
};

/// The servers whose answers are scripted.
#[derive(Debug)]
pub(super) struct ScriptedServers(pub(super) Arc<Stage>);

impl ServerStandIns for ScriptedServers {
    fn answer(&self, method: &str, url: &str) -> Result<Option<StandInAnswer>, Error> {
        Ok(match self.0.response(method, url)? {
            Cue::Scripted(ResponseScript { status, headers, body, .. }) => {
                Some(StandInAnswer { status: *status, headers: headers.clone(), body: body.clone().into_bytes() })
            }
            Cue::Real => None,
        })
    }
}
