//! `wharf serve`: the tools, for an MCP client.

mod clients;
mod confining;
mod ending;
mod over_http;
mod place;
mod service_manager;
mod watching;

use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Result, bail};
use clap::{ArgGroup, Args};
use tokio_util::sync::CancellationToken;
use wharf::{
    Channel, Configuration, ContextRules, Host,
    audit::AuditSink,
    http::HttpAddress,
    mcp::{ServerInfo, serve_stdio},
    processes::SandboxMechanism,
};

use confining::{Confined, ConfinementChoice};
use over_http::HttpServing;
use place::HttpPlace;
use service_manager::{ServiceManager, describe};
use watching::ReadFile;

use super::grant::Configuring;
use crate::{
    exit::Unusable,
    global::{Global, absolute, runtime},
    session::SessionChoice,
};

/// Serve the tools to MCP clients, and terminals over HTTP
///
/// With --stdio the client starts this command and talks to it over standard
/// input and output; the log goes to standard error. Several of these may run
/// at once on one data directory: they share its state.
///
/// With --http MCP clients talk to `/mcp`, of the revisions 2025-11-25 and
/// 2026-07-28 alike, and programs start terminals and follow their turns as
/// server-sent events; `GET /v1/openapi.json` describes the routes. Each request
/// shows a token: the one of the data directory, or one of [[http.tokens]] in
/// wharf.toml, which `wharf token new` makes. `/console` shows people what the host
/// does: `wharf console` opens it. What the routes of terminals may
/// start is granted under [plugin.host.grants.terminal]. Without --stdio it
/// serves until it is told to end (Ctrl-C, SIGTERM); calls may then finish.
/// `GET /metrics` is for Prometheus.
///
/// A call says in `_meta` whose it is (`dev.wharf/sessionId`, `dev.wharf/assistantId`,
/// `dev.wharf/threadId`). `__sessionId`, `__assistantId` and `__threadId` in its
/// arguments are ignored, since a model could write them, and its answer says so.
/// Where a middleware writes them itself, `trusted_middleware = true` under
/// [context] takes them over standard input and output, and in a table of
/// [[http.tokens]] over HTTP with that token.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("transports").args(["stdio", "http"]).required(true).multiple(true))]
#[command(after_long_help = "\
Examples:
  wharf serve --stdio --session new                  what an MCP client starts, with a session of its own
  wharf serve --http 127.0.0.1:8080                  MCP at http://127.0.0.1:8080/mcp
  wharf serve --http unix:/run/user/1000/wharf.sock  for programs of this user alone
  wharf serve --http systemd                         at the socket of wharf.socket, in wharf.service
  claude mcp add --transport http wharf http://127.0.0.1:8080/mcp --header \"Authorization: Bearer $(cat TOKEN_FILE)\"
  curl -H \"Authorization: Bearer $(cat TOKEN_FILE)\" http://127.0.0.1:8080/v1/terminals

An address that other machines reach needs a certificate: [http.tls] in wharf.toml with `certificate` and `key`,
files in PEM.")]
pub(super) struct ServeArguments {
    /// Talk over standard input and output
    #[arg(long)]
    stdio: bool,

    /// Serve over HTTP at this address of this machine, at `unix:` and the path of a socket, or with `systemd` at the socket that it passes; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", env = "WHARF_HTTP")]
    http: Option<HttpPlace>,

    /// File with a token that HTTP clients show, beside those of [[http.tokens]] [default where there are none: `http-token` in the data directory, made where missing]
    #[arg(long, value_name = "FILE", env = "WHARF_HTTP_TOKEN_FILE", requires = "http")]
    http_token_file: Option<PathBuf>,

    /// Serve HTTP without a certificate at an address that other machines reach, though tokens and output then travel unprotected
    #[arg(long, requires = "http")]
    http_allow_public: bool,

    /// Folder in which every NAME.wasm is a plugin, also those that come, change and go while this serves
    #[arg(long, value_name = "FOLDER", env = "WHARF_PLUGINS")]
    plugins: Option<PathBuf>,

    /// Session of calls that name none; `new` for one of this process alone, which is for --stdio; without it they share the session `default`
    #[arg(long, env = "WHARF_SESSION", value_name = "NAME")]
    session: Option<SessionChoice>,

    /// Serve only if the process of the host can be confined wholly; without it, it is confined as far as this machine can
    #[arg(long, conflicts_with = "unconfined")]
    confined: bool,

    /// Leave the process of the host all that its user has
    #[arg(long)]
    unconfined: bool,
}

impl ServeArguments {
    fn configuration(&self, global: &Global) -> Result<Configuration> {
        let mut configuration = global.configuration_of_host()?;
        if let Some(folder) = &self.plugins {
            configuration.plugin_folder = Some(absolute(folder)?);
        }
        Ok(configuration)
    }

    fn confinement(&self) -> ConfinementChoice<'_> {
        let (confined, unconfined) = (self.confined, self.unconfined);
        ConfinementChoice {
            confined,
            unconfined,
            http: self.http.as_ref(),
            token_file: self.http_token_file.as_deref(),
        }
    }

    /// Whether calls over standard input that name no session have one of this process.
    fn is_new(&self) -> bool {
        matches!(self.session, Some(SessionChoice::New))
    }

    /// Reads the configuration as this command was told to, for `wharf plugin` and its like.
    fn reread(
        &self,
        global: &Global,
        confined: &Confined,
    ) -> impl Fn() -> Result<Configuration> + Send + Sync + 'static {
        let (serve, global, confined) = (self.clone(), global.clone(), confined.clone());
        move || serve.configuration(&global).inspect(|configuration| confined.tell_beyond(configuration))
    }
}

const INSTRUCTIONS: &str = "Tools of this server run in sandboxes and keep their state by session, assistant and \
thread. Call them directly; each tool says what it does and what it returns.";

/// Why a host of a cluster makes no token.
const SAME_TOKENS: &str = "each host of a cluster would make a token of its own, and clients reach any of them: name the \
same tokens at all hosts, with [[http.tokens]] or [http.oauth] in wharf.toml or with --http-token-file";

/// What processes may take to end by themselves when the client is gone.
const GRACE: Duration = Duration::from_secs(1);

/// A client asks for its lists as soon as it has started this, and calls tools later. Containment
/// is tried after so long, and takes no processor from the lists.
const FIRST_LISTS: Duration = Duration::from_millis(250);

/// What is done with a host that has just been opened.
type OnceOpen = Box<dyn FnOnce(&Host)>;

/// What a command does beside serving.
#[derive(Default)]
pub(super) struct Beside {
    /// Hears what happens, in place of the files below the data directory.
    pub(super) audit: Option<Arc<dyn AuditSink>>,
    /// Where what the plugins' functions are compiled to is kept, for an author.
    pub(super) functions: Option<PathBuf>,
    /// Is handed the host once it is open, on its runtime.
    pub(super) opened: Option<OnceOpen>,
    /// Is handed the host once it serves.
    pub(super) serving: Option<OnceOpen>,
}

impl ServeArguments {
    /// As `wharf dev` serves: for the author alone.
    pub(super) fn of_dev(stdio: bool, http: HttpAddress) -> Self {
        let serve = Self::over_http(http);
        if stdio { Self { stdio, http: None, ..serve } } else { serve }
    }

    /// Serves over HTTP at this address.
    pub(super) fn over_http(http: HttpAddress) -> Self {
        Self {
            stdio: false,
            http: Some(HttpPlace::Address(http)),
            http_token_file: None,
            http_allow_public: false,
            plugins: None,
            session: None,
            confined: false,
            // What starts this one goes on to start other programs.
            unconfined: true,
        }
    }

    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        self.serve(global, Beside::default())
    }

    pub(super) fn serve(self, global: &Global, beside: Beside) -> Result<ExitCode> {
        if self.is_new() && !self.stdio {
            bail!(Unusable(
                "`--session new` is for --stdio, where the process of a client is one session; clients over HTTP name \
                 theirs in the header `Wharf-Session`, or leave it out with --session NAME"
                    .to_owned()
            ));
        }
        // First of all: nothing that is started from here on inherits what systemd passes.
        let mut listening = place::listening(self.http.clone())?;
        // Before this process has a second thread, which would keep what this one gives up.
        let confined = self.confinement().confine(global, &self.configuration(global)?)?;
        let manager = ServiceManager::of(listening.is_some());
        manager.status("Opens its state and its plugins");
        // What all hosts have by now, before any of it is used.
        clients::catch_up(global)?;
        let read = global.configuration_path().map(ReadFile::at);
        let mut configuration = self.configuration(global)?;
        confined.complete(&mut configuration);
        let session = self.session.as_ref().map(SessionChoice::id).transpose()?;
        let rules = ContextRules {
            channel: if configuration.context.trusted_middleware { Channel::TrustedMiddleware } else { Channel::Open },
            fallback_session: session,
            require_session: configuration.context.require_session,
            ..ContextRules::local()
        };
        let runtime = runtime()?;
        let served = runtime.block_on(async {
            let (data, http) = (global.data(&configuration)?, configuration.http.clone());
            let drain = configuration.cluster.as_ref().map(|cluster| Duration::from_secs(cluster.drain_seconds));
            if drain.is_some() && self.makes_a_token(&http) {
                bail!(Unusable(SAME_TOKENS.to_owned()));
            }
            let host = global.open_to_serve(configuration, beside.audit, beside.functions).await?;
            if let Some(opened) = beside.opened {
                opened(&host);
            }
            let _control = host.accept_commands(&data, self.reread(global, &confined));
            host.serve_configuration(Arc::new(Configuring::new(global.clone())));
            let _watch = host.watch_plugins();
            let watching = read.map(|file| watching::watch(&host, file, self.reread(global, &confined)));
            let containment = tokio::spawn(announce_containment(host.clone()));
            let shutdown = CancellationToken::new();
            ending::stop_on_signal(shutdown.clone(), host.clone(), drain, manager.clone());
            let http = listening.take().map(|at| self.serve_http(&host, &data, at, &rules, http, shutdown.clone()));
            let http = http.transpose()?;
            announce(&host, self.stdio, http.as_ref());
            let informing = http.as_ref().map(|http| inform(&manager, &host, &http.url));
            if let Some(serving) = beside.serving {
                serving(&host);
            }
            let served = if self.stdio {
                let served = wharf::mcp::Served::new(Arc::new(host.clone()), Some(Arc::new(host.clone())));
                serve_stdio(served, rules, info(), shutdown.clone()).await
            } else {
                shutdown.cancelled().await;
                Ok(())
            };
            shutdown.cancel();
            if let Some(HttpServing { task, .. }) = http {
                task.await?;
            }
            // They keep the host, whose folders go with its last owner.
            for task in [Some(containment), informing, watching].into_iter().flatten() {
                task.abort();
                let _ = task.await;
            }
            host.shut_down(GRACE).await;
            announce_polls(&host);
            Ok(served?)
        });
        // A blocked read of standard input must not keep the process alive.
        runtime.shutdown_background();
        served.map(|()| ExitCode::SUCCESS)
    }
}

fn info() -> ServerInfo {
    let mut info = ServerInfo::new("wharf", env!("CARGO_PKG_VERSION"));
    info.title = "Wharf".to_owned();
    info.instructions = INSTRUCTIONS.to_owned();
    info
}

/// Tells systemd that this host serves, and then how it is.
fn inform(manager: &ServiceManager, host: &Host, url: &str) -> tokio::task::JoinHandle<()> {
    manager.ready(&describe(host, url));
    let (host, url) = (host.clone(), url.to_owned());
    tokio::spawn(manager.clone().keep_informed(move || describe(&host, &url)))
}

/// One line that says what is served.
fn announce(host: &Host, stdio: bool, http: Option<&HttpServing>) {
    let names: Vec<_> = host.installed().iter().map(|installed| installed.plugin.name().to_string()).collect();
    let (off, hint) = what_is_off(host);
    let compiling: Vec<_> = host.compiling().iter().map(ToString::to_string).collect();
    let compiling = Some(compiling.join(",")).filter(|names| !names.is_empty());
    tracing::info!(
        target: "wharf::start",
        plugins = names.join(","), off, compiling, rejected = host.rejected().len(),
        "serving{}{hint}", if stdio { " on standard input and output" } else { "" }
    );
    if let Some(HttpServing { url, token_file, clients, .. }) = http {
        let token_file = token_file.as_deref().map(|file| tracing::field::display(file.display()));
        tracing::info!(
            target: "wharf::start",
            url, mcp = format!("{url}/mcp"), token_file, known_clients = clients,
            "serving MCP, terminals and streams over HTTP"
        );
    }
}

/// The names of plugins that are off, and what to do about it.
fn what_is_off(host: &Host) -> (String, &'static str) {
    let off = host.off();
    let hint = match off.iter().any(|off| off.developer) {
        _ if off.is_empty() => "",
        true => "; what is off needs grants in wharf.toml, or --profile developer",
        false => "; what is off needs grants in wharf.toml",
    };
    let names: Vec<_> = off.iter().map(|off| off.name.to_string()).collect();
    (names.join(","), hint)
}

/// Tries how processes are contained, and logs it, where there may be any. A call that comes
/// earlier does what it needs itself.
async fn announce_containment(host: Host) {
    tokio::time::sleep(FIRST_LISTS).await;
    match host.containment().await {
        None => {}
        Some(Ok(contained)) => {
            let by = match contained {
                SandboxMechanism::Namespaces => "namespaces",
                SandboxMechanism::Landlock => "Landlock and seccomp",
            };
            tracing::info!(target: "wharf::start", by, "processes are contained");
        }
        Some(Err(missing)) => {
            let missing = missing.to_string();
            match host.spawner().capabilities().await {
                Ok(found) if !found.namespaces_required => tracing::warn!(
                    target: "wharf::start",
                    missing,
                    "processes cannot be contained here, and are refused unless a grant gives that up; see `wharf doctor`"
                ),
                // No grant can start a program then.
                Ok(_) => tracing::warn!(
                    target: "wharf::start",
                    missing, "processes cannot be contained here, and are refused; see `wharf doctor`"
                ),
                Err(_) => tracing::warn!(
                    target: "wharf::start",
                    missing, "no processes can be started here; see `wharf doctor`"
                ),
            }
        }
    }
}

/// Logs the totals of advice against polling.
fn announce_polls(host: &Host) {
    let Some(totals) = host.poll_totals().filter(|totals| totals.polls > 0) else { return };
    tracing::info!(
        target: "wharf::metrics",
        polls = totals.polls,
        guidance = totals.guidance,
        intervals_after_guidance = totals.intervals_after_guidance,
        intervals_grown = totals.intervals_grown,
        milliseconds_before = totals.milliseconds_before,
        milliseconds_after = totals.milliseconds_after,
        episodes = totals.episodes,
        long_episodes_with_guidance = totals.long_episodes_with_guidance,
        long_episodes_without_guidance = totals.long_episodes_without_guidance,
        "polls of processes"
    );
}
