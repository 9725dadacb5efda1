//! `wharf serve`: the tools, for an MCP client.

use std::{process::ExitCode, sync::Arc, time::Duration};

use anyhow::Result;
use clap::Args;
use tokio_util::sync::CancellationToken;
use wharf::{Channel, Contained, ContextRules, Host, ServerInfo, SessionId, serve_stdio};

use super::{Global, runtime};

/// Serve the tools to an MCP client
///
/// With --stdio the client starts this command and talks to it over standard
/// input and output; the log goes to standard error. Several of these may run
/// at once on one data directory: they share its state.
#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Talk over standard input and output
    #[arg(long, required = true)]
    stdio: bool,

    /// Session of calls that name none; without it they share the session `default`
    #[arg(long, env = "WHARF_SESSION", value_name = "NAME")]
    session: Option<SessionId>,
}

const INSTRUCTIONS: &str = "Tools of this server run in sandboxes and keep their state by session, assistant and \
thread. Call them directly; each tool says what it does and what it returns.";

/// What processes may take to end by themselves when the client is gone.
const GRACE: Duration = Duration::from_secs(1);

impl Serve {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let rules = ContextRules {
            channel: if configuration.context.trusted_middleware { Channel::TrustedMiddleware } else { Channel::Open },
            fallback_session: self.session.clone(),
            require_session: configuration.context.require_session,
            ..ContextRules::local()
        };
        let runtime = runtime()?;
        let served = runtime.block_on(async {
            let host = global.open(configuration).await?;
            host.warm_up();
            announce(&host);
            tokio::spawn(announce_containment(host.clone()));
            let shutdown = CancellationToken::new();
            stop_on_signal(shutdown.clone());
            let info = ServerInfo {
                name: "wharf".to_owned(),
                title: "Wharf".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                instructions: INSTRUCTIONS.to_owned(),
            };
            let served = serve_stdio(Arc::new(host.clone()), rules, info, shutdown).await;
            host.shut_down(GRACE).await;
            announce_polls(&host);
            Ok(served?)
        });
        // A blocked read of standard input must not keep the process alive.
        runtime.shutdown_background();
        served.map(|()| ExitCode::SUCCESS)
    }
}

/// One line that says what is served.
fn announce(host: &Host) {
    let names: Vec<_> = host.installed().iter().map(|installed| installed.plugin.name().to_string()).collect();
    let (off, hint) = what_is_off(host);
    tracing::info!(
        target: "wharf::start",
        plugins = names.join(","), off, rejected = host.rejected().len(),
        "serving on standard input and output{hint}"
    );
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

/// One line that says what keeps processes in, where there may be any. Trying
/// it takes a moment, for which no client has to wait.
async fn announce_containment(host: Host) {
    match host.containment().await {
        None => {}
        Some(Ok(contained)) => {
            let by = match contained {
                Contained::Bubblewrap => "bubblewrap",
                Contained::Landlock => "Landlock and seccomp",
            };
            tracing::info!(target: "wharf::start", by, "processes are contained");
        }
        Some(Err(missing)) => tracing::warn!(
            target: "wharf::start",
            missing, "processes cannot be contained here, and are refused unless a grant gives that up; see `wharf doctor`"
        ),
    }
}

/// What advice against polling came to, for whoever reads the log.
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

fn stop_on_signal(shutdown: CancellationToken) {
    tokio::spawn(async move {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            match signal(SignalKind::terminate()) {
                Ok(mut terminate) => {
                    tokio::select! {
                        _ = tokio::signal::ctrl_c() => {}
                        _ = terminate.recv() => {}
                    }
                }
                Err(error) => {
                    tracing::warn!("cannot wait for SIGTERM: {error}");
                    return;
                }
            }
        }
        #[cfg(not(unix))]
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!("cannot wait for an interrupt: {error}");
            return;
        }
        shutdown.cancel();
    });
}
