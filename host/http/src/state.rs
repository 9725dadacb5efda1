//! What a running server is made of, for its requests.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use axum::body::Bytes;
use tokio_util::sync::CancellationToken;
use wharf_core::{
    Error, FrontEndService, Quota, RequestMemory, SessionId, Share, TenantId, WebPageService, audit::RefusalSink,
    service::MetricsService,
};

use crate::{
    access::{clients::HttpClients, console::ConsoleSessions, guesses::TokenGuesses, issued::IssuedClients},
    elsewhere::Elsewhere,
    failure::HttpFailure,
    operator_feed::OperatorFeed,
    settings::{ConsoleFile, HttpServices, HttpSettings},
};

/// A running server, as its requests see it.
pub(crate) struct ServerState {
    pub(crate) services: HttpServices,
    pub(crate) clients: HttpClients,
    /// The addresses that show wrong tokens.
    pub(crate) guesses: TokenGuesses,
    /// Clients whose tokens an authorization server issues, where there is one.
    pub(crate) issued: Option<IssuedClients>,
    pub(crate) settings: HttpSettings,
    pub(crate) metrics: Option<Arc<dyn MetricsService>>,
    pub(crate) front_ends: Option<Arc<dyn FrontEndService>>,
    /// Hears of requests that were refused for want of a token.
    pub(crate) refusals: Option<Arc<dyn RefusalSink>>,
    pub(crate) pages: Option<Arc<dyn WebPageService>>,
    /// Knows what other hosts have, where several serve as one.
    pub(crate) elsewhere: Option<Arc<dyn Elsewhere>>,
    pub(crate) readers: Arc<Quota>,
    /// What the operator sees, where the server shows it.
    pub(crate) operator: Option<OperatorFeed>,
    pub(crate) console: ConsoleSessions,
    pub(crate) console_files: &'static [ConsoleFile],
    /// What the JSON of requests takes.
    pub(crate) memory: RequestMemory,
    /// The description of the routes, as JSON.
    pub(crate) description: Bytes,
    /// The log has said already that requests name no session.
    pub(crate) warned_of_default: AtomicBool,
    /// Fires when the host stops: requests that wait are answered then.
    pub(crate) stopping: CancellationToken,
}

impl ServerState {
    /// A place among the requests that follow something or wait.
    ///
    /// # Errors
    /// `limit`, where there is none.
    pub(crate) fn reader_permit(&self, tenant: &TenantId) -> Result<Share, HttpFailure> {
        // Some of them are of no session.
        let taken = self.readers.take(tenant, &SessionId::default_session(), 1);
        taken.map_err(|full| Error::from(full).into())
    }

    /// What `ask` brings in `wait_ms` at most, or at once where the host stops meanwhile. One that
    /// waits has a place among the readers.
    pub(crate) async fn wait<T, E, F>(
        &self,
        tenant: &TenantId,
        wait_ms: u64,
        ask: impl Fn(Duration) -> F,
    ) -> Result<T, HttpFailure>
    where
        F: Future<Output = Result<T, E>>,
        HttpFailure: From<E>,
    {
        let patience = Duration::from_millis(wait_ms.min(self.settings.limits.wait_milliseconds));
        let _place = (!patience.is_zero()).then(|| self.reader_permit(tenant)).transpose()?;
        let answer = tokio::select! {
            biased;
            answer = ask(patience) => answer,
            () = self.stopping.cancelled() => ask(Duration::ZERO).await,
        };
        Ok(answer?)
    }

    /// How long a stream may be silent.
    pub(crate) fn heartbeat(&self) -> Duration {
        Duration::from_millis(self.settings.limits.heartbeat_milliseconds)
    }
}
