//! The server: accepts connections, and ends them in order.

mod connection;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use tokio::time::{sleep, timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wharf_core::{
    FrontEndService, Quota, WebPageService,
    audit::RefusalSink,
    quota::Bounds,
    service::{MetricsService, OperatorService},
};

#[cfg(target_os = "linux")]
use crate::listener::passed::PassedSocket;
use crate::{
    access::{
        clients::HttpClients, console::ConsoleSessions, factory::ClientFactory, guesses::TokenGuesses,
        issued::IssuedClients,
    },
    connections::ConnectionRegistry,
    elsewhere::Elsewhere,
    listener::{HttpError, HttpListener, address::HttpAddress},
    operator_feed::OperatorFeed,
    passing, routes,
    settings::{ConsoleFile, HttpServices, HttpSettings},
    state::ServerState,
};
use connection::ConnectionTimeouts;

/// How long to wait where the system gives no connection, for want of
/// descriptors say.
const RELIEF: Duration = Duration::from_millis(100);
/// So many connections are accepted before those that are there may speak: one that is
/// shed for newer ones had its turn.
const AT_ONCE: usize = 16;

/// A server that listens, and does not serve yet.
pub struct HttpServer {
    listener: HttpListener,
    address: HttpAddress,
    state: ServerState,
    killed: CancellationToken,
}

impl std::fmt::Debug for HttpServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HttpServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl HttpServer {
    /// Takes an address; port 0 is any free one. Needs a tokio runtime with
    /// I/O and time.
    ///
    /// # Errors
    /// Where others reach the address, there is no certificate and that was
    /// not allowed; or it cannot be had.
    pub fn bind(address: HttpAddress, services: HttpServices, settings: HttpSettings) -> Result<Self, HttpError> {
        let listening = HttpListener::bind(address, &settings)?;
        Ok(Self::new(listening, services, settings))
    }

    /// Takes over a socket that another program listens at, such as systemd. Needs a tokio runtime
    /// with I/O and time.
    ///
    /// # Errors
    /// Where others reach its address, there is no certificate and that was not allowed; or the
    /// runtime cannot wait for its connections.
    #[cfg(target_os = "linux")]
    pub fn take_over(socket: PassedSocket, services: HttpServices, settings: HttpSettings) -> Result<Self, HttpError> {
        let listening = HttpListener::passed(socket, &settings)?;
        Ok(Self::new(listening, services, settings))
    }

    fn new((listener, address): (HttpListener, HttpAddress), services: HttpServices, settings: HttpSettings) -> Self {
        let (stopping, killed) = (CancellationToken::new(), CancellationToken::new());
        let readers = Quota::new(Bounds {
            resource: "requests that follow something or wait",
            section: "[http.limits]",
            session: None,
            tenant: ("readers_per_tenant", settings.limits.readers_per_tenant),
            host: ("readers", settings.limits.readers),
        });
        let limits = settings.limits.clone();
        let factory =
            ClientFactory::new(services.clone(), limits, Arc::clone(&readers), stopping.clone(), killed.clone());
        let factory = Arc::new(factory);
        let state = ServerState {
            clients: HttpClients::new(Arc::clone(&factory), &settings.clients),
            guesses: TokenGuesses::new(settings.limits.wrong_tokens_per_address),
            issued: settings.oauth.clone().map(|resource| IssuedClients::new(resource, factory)),
            memory: services.request_memory.clone(),
            readers,
            description: routes::description(&settings.version).into(),
            warned_of_default: AtomicBool::new(false),
            stopping,
            services,
            settings,
            metrics: None,
            front_ends: None,
            refusals: None,
            pages: None,
            elsewhere: None,
            operator: None,
            console: ConsoleSessions::default(),
            console_files: &[],
        };
        Self { listener, address, state, killed }
    }

    /// Serves metrics, too, at `/metrics`.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Arc<dyn MetricsService>) -> Self {
        self.state.metrics = Some(metrics);
        self
    }

    /// Serves front ends, too, to those clients that may connect some.
    #[must_use]
    pub fn with_front_ends(mut self, front_ends: Arc<dyn FrontEndService>) -> Self {
        self.state.front_ends = Some(front_ends);
        self
    }

    /// Reports requests that showed no token which opens anything, too.
    #[must_use]
    pub fn with_refusals(mut self, refusals: Arc<dyn RefusalSink>) -> Self {
        self.state.refusals = Some(refusals);
        self
    }

    /// Serves web pages, too.
    #[must_use]
    pub fn with_pages(mut self, pages: Arc<dyn WebPageService>) -> Self {
        self.state.pages = Some(pages);
        self
    }

    /// Shows what the host does to those clients that may operate it, and takes what they decide.
    #[must_use]
    pub fn with_operator(mut self, operator: Arc<dyn OperatorService>) -> Self {
        self.state.operator = Some(OperatorFeed::new(operator));
        self
    }

    /// Serves the console, made of these files.
    #[must_use]
    pub fn with_console(mut self, files: &'static [ConsoleFile]) -> Self {
        self.state.console_files = files;
        self
    }

    /// Who is signed in to the console: makes links that sign in once.
    #[must_use]
    pub fn console(&self) -> ConsoleSessions {
        self.state.console.clone()
    }

    /// Passes requests on that are about what another host has.
    #[must_use]
    pub fn with_elsewhere(mut self, elsewhere: Arc<dyn Elsewhere>) -> Self {
        self.state.elsewhere = Some(elsewhere);
        self
    }

    /// Its clients, which may be others later.
    #[must_use]
    pub fn clients(&self) -> HttpClients {
        self.state.clients.clone()
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> &HttpAddress {
        &self.address
    }

    /// Serves until `shutdown` fires. Then it accepts no connection any more,
    /// ends streams where they are, gives other requests the time that the
    /// settings grant, and returns.
    pub async fn serve(self, shutdown: CancellationToken) {
        let Self { listener, state, killed, .. } = self;
        let _killed = killed.clone().drop_guard();
        let limits = state.settings.limits.clone();
        let connections = ConnectionRegistry::new(&limits);
        let (stopping, tasks) = (state.stopping.clone(), TaskTracker::new());
        let state = Arc::new(state);
        let elsewhere = state.elsewhere.clone();
        if let Some(elsewhere) = &elsewhere {
            elsewhere.open(passing::way_in(routes::unguarded(&state), Arc::clone(&state)));
        }
        let router = routes::router(state);
        let accepting = async {
            let mut in_a_row = 0;
            loop {
                match listener.accept().await {
                    Ok((accepted, address)) => {
                        let permit = connections.admit(address);
                        let serving = connection::serve(
                            accepted,
                            router.clone(),
                            ConnectionTimeouts::new(&limits),
                            permit.clone(),
                            stopping.clone(),
                        );
                        let killed = killed.clone();
                        tasks.spawn(async move {
                            tokio::select! {
                                () = serving => {}
                                () = permit.revoked() => {}
                                () = killed.cancelled() => {}
                            }
                        });
                        in_a_row += 1;
                        if in_a_row == AT_ONCE {
                            in_a_row = 0;
                            tokio::task::yield_now().await;
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        // Frees the descriptor of the oldest connection without a
                        // token for one that waits.
                        connections.shed_oldest();
                        sleep(RELIEF).await;
                    }
                }
            }
        };
        tokio::select! {
            () = accepting => {}
            () = shutdown.cancelled() => {}
        }
        drop(listener);
        if let Some(elsewhere) = &elsewhere {
            elsewhere.close();
        }
        stopping.cancel();
        tasks.close();
        if timeout(Duration::from_millis(limits.grace_milliseconds), tasks.wait()).await.is_err() {
            killed.cancel();
            tasks.wait().await;
        }
    }
}
