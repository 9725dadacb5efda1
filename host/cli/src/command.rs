//! The subcommands, and what they share.

mod attach;
mod audit;
mod bytes;
mod call;
mod config;
mod doctor;
mod grant;
mod hosts;
mod inspect;
mod line;
mod output;
mod plugin;
mod processes;
mod profile;
mod serve;
mod session;
mod sessions;
mod state;
mod tables;
mod terminals;
mod token;
mod tools;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::{Args, Parser, Subcommand};
use directories::ProjectDirs;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};
use wharf::{Configuration, Host, HostBuilder, with_causes};

/// Exit code: the tool answered with an error, or the call failed.
const FAILED: u8 = 1;
/// Exit code: the configuration, a plugin or the data directory is not usable.
const UNUSABLE: u8 = 3;

/// Exit code: the command line says something that cannot be.
const MISUSED: u8 = 2;

/// Marks an error of whoever typed the command.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Misused(String);

/// Marks an error whose mending is the operator's.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unusable(String);

/// A host for tools that nobody has to trust.
///
/// Tools are Wasm components. Each call runs in a sandbox of its own and has
/// nothing but what you granted: no files, no network, no other session's
/// state. Agents reach the tools over the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(
    version,
    after_long_help = "\
Examples:
  wharf serve --stdio --session new      what an MCP client starts, with a session of its own
  wharf tools                            which tools there are
  wharf call planning__create_goal '{\"goal\": \"Ship it\"}' --session demo
  wharf inspect my-plugin.wasm           what a component is and asks for
  wharf grant my-plugin.wasm             what it could do with that, and whether it may
  wharf plugin add my-plugin.wasm        add it, also to hosts that serve; `list`, `update`, `remove`
  wharf config check                     whether wharf.toml is right
  wharf doctor                           what holds on this machine
  wharf sessions                         the files of sessions, with their sizes
  wharf processes                        the processes of running hosts, and how they are polled
  wharf terminals                        the terminals of running hosts; `wharf attach ID` shows one
  wharf token new --name ci              a token for a client over HTTP
  wharf state usage                      what plugins keep, and how much of it there may be
  wharf audit --last 20                  what was called lately, and what plugins asked for

Exit codes: 0 done; 1 the tool or the command failed; 2 wrong usage;
3 the configuration, a plugin or the data directory is not usable."
)]
pub(crate) struct Wharf {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every subcommand.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Configuration file [default: wharf.toml in the user's configuration directory, if it is there]
    #[arg(long, global = true, env = "WHARF_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,

    /// Directory of state and compiled code, shared by all hosts that name it [default: the user's data directory]
    #[arg(long, global = true, env = "WHARF_DATA", value_name = "DIR")]
    data: Option<PathBuf>,

    /// What bundled plugins are granted where the configuration does not say [default: `profile` of the configuration]
    #[arg(long, global = true, env = "WHARF_PROFILE", value_enum, value_name = "PROFILE")]
    profile: Option<profile::ProfileChoice>,

    /// What is logged to standard error: a level, or targets with levels such as `warn,wharf::plugin=info`
    #[arg(long, global = true, env = "WHARF_LOG", value_name = "FILTER", default_value = "warn,wharf::start=info")]
    log: Targets,

    /// Write the log as JSON lines
    #[arg(long, global = true, env = "WHARF_LOG_JSON")]
    log_json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Tools(tools::Tools),
    Call(call::Call),
    Inspect(inspect::Inspect),
    Grant(grant::Grant),
    Config(config::Config),
    Plugin(plugin::Plugin),
    State(state::State),
    Sessions(sessions::Sessions),
    Processes(processes::Processes),
    Terminals(terminals::Terminals),
    Attach(attach::Attach),
    Audit(Box<audit::Audit>),
    Token(token::Tokens),
    Doctor(doctor::Doctor),
}

impl Wharf {
    pub(crate) fn run(mut self) -> Result<ExitCode> {
        // These print what was refused themselves.
        self.global.start_log(matches!(self.command, Command::Tools(_) | Command::Doctor(_)));
        self.global.make_absolute()?;
        match self.command {
            Command::Serve(serve) => serve.run(&self.global),
            Command::Tools(tools) => tools.run(&self.global),
            Command::Call(call) => call.run(&self.global),
            Command::Inspect(inspect) => inspect.run(),
            Command::Grant(grant) => grant.run(&self.global),
            Command::Config(config) => config.run(&self.global),
            Command::Plugin(plugin) => plugin.run(&self.global),
            Command::State(state) => state.run(&self.global),
            Command::Sessions(sessions) => sessions.run(&self.global),
            Command::Processes(processes) => processes.run(&self.global),
            Command::Terminals(terminals) => terminals.run(&self.global),
            Command::Attach(attach) => attach.run(&self.global),
            Command::Audit(audit) => audit.run(&self.global),
            Command::Token(tokens) => tokens.run(),
            Command::Doctor(doctor) => doctor.run(&self.global),
        }
    }
}

impl Global {
    fn start_log(&self, prints_refused: bool) {
        // The protocol library logs whole requests; arguments may hold secrets.
        let filter = self.log.clone().with_target("rmcp", LevelFilter::WARN);
        let filter = if prints_refused { filter.with_target("wharf::refused", LevelFilter::OFF) } else { filter };
        let registry = tracing_subscriber::registry().with(filter);
        let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
        // The library would say on standard error that this cannot be written, and panic in whatever was logged.
        let lines = lines.log_internal_errors(false);
        if self.log_json {
            registry.with(lines.json()).init();
        } else {
            let coloured = std::io::IsTerminal::is_terminal(&std::io::stderr());
            registry.with(lines.with_ansi(coloured)).init();
        }
    }

    /// Paths mean what they meant where they were typed, whatever runs in another
    /// directory later.
    fn make_absolute(&mut self) -> Result<()> {
        for path in [&mut self.config, &mut self.data].into_iter().flatten() {
            *path = absolute(path)?;
        }
        Ok(())
    }

    /// The file that is read, if there is one.
    fn configuration_path(&self) -> Option<PathBuf> {
        self.config.clone().or_else(|| {
            let path = directories()?.config_dir().join("wharf.toml");
            path.exists().then_some(path)
        })
    }

    /// The file that is written, whether it is there yet or not.
    fn configuration_target(&self) -> Result<PathBuf> {
        self.config
            .clone()
            .or_else(|| Some(directories()?.config_dir().join("wharf.toml")))
            .context("there is no home directory to keep a configuration in; name a file with --config")
    }

    fn configuration(&self) -> Result<Configuration> {
        let mut configuration = match self.configuration_path() {
            Some(path) => Configuration::read(&path).map_err(|error| Unusable(with_causes(&error)))?,
            None => Configuration::default(),
        };
        configuration.apply_environment(|name| std::env::var(name).ok()).map_err(Unusable)?;
        if let Some(profile) = self.profile {
            configuration.profile = profile.into();
        }
        Ok(configuration)
    }

    fn data(&self, configuration: &Configuration) -> Result<PathBuf> {
        self.data
            .clone()
            .or_else(|| configuration.data.clone())
            .or_else(|| Some(directories()?.data_dir().to_owned()))
            .context("there is no home directory to keep data in; name a directory with --data")
    }

    /// The host that the configuration describes, not opened yet.
    fn builder(&self, configuration: Configuration) -> Result<HostBuilder> {
        let data = self.data(&configuration)?;
        Ok(Host::builder(configuration).data(data))
    }

    /// Opens the host that the configuration describes, for as long as a command takes.
    async fn open(&self, configuration: Configuration) -> Result<Host> {
        self.opened(configuration, HostBuilder::fixed_grants).await
    }

    /// The same, to serve for long.
    async fn open_to_serve(&self, configuration: Configuration) -> Result<Host> {
        self.opened(configuration, |host| host).await
    }

    async fn opened(&self, configuration: Configuration, how: impl FnOnce(HostBuilder) -> HostBuilder) -> Result<Host> {
        let data = self.data(&configuration)?;
        let bundled_missing = configuration.plugins.is_empty();
        let host = how(self.builder(configuration)?)
            .open()
            .await
            .map_err(|error| Unusable(format!("{} ({})", with_causes(&error), data.display())))?;
        if bundled_missing && host.installed().is_empty() && host.rejected().is_empty() {
            tracing::warn!(
                "this binary was built without plugins, so there are no tools; run `cargo xtask plugins` and build \
                 it again, or name plugins in wharf.toml"
            );
        }
        Ok(host)
    }
}

/// A path as it is from every directory.
fn absolute(path: &Path) -> Result<PathBuf> {
    wharf::absolute(path).map_err(|error| Unusable(with_causes(&error)).into())
}

fn directories() -> Option<ProjectDirs> {
    ProjectDirs::from("dev", "wharf", "wharf")
}

/// A tokio runtime for a command.
fn runtime() -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // What another thread answers, the store's above all, is looked for before
    // each task: a call that holds others up must not wait behind them.
    builder.global_queue_interval(1);
    builder.enable_all().build().context("cannot start the async runtime")
}

/// The exit code of an error.
pub(crate) fn code(error: &anyhow::Error) -> u8 {
    match error {
        error if error.is::<Unusable>() => UNUSABLE,
        error if error.is::<Misused>() => MISUSED,
        _ => FAILED,
    }
}

/// Prints a value for programs.
fn print_json(value: &serde_json::Value) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
