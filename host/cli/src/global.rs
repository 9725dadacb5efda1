//! Options of every subcommand, and what they lead to: the log, the configuration, the
//! data directory, a host.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum as _, builder::BoolishValueParser};
use directories::ProjectDirs;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};
use wharf::{Configuration, Host, HostBuilder, audit::AuditSink, configuration::ApprovalSettings, with_causes};

use crate::{
    exit::Unusable,
    profile::ProfileChoice,
    progress::{self, LogWriter, ProgressDisplay},
};

/// Options of every subcommand.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Configuration file [default: wharf.toml in the user's configuration directory, if it is there; in the plugin's folder for `wharf dev` and `wharf test`]
    #[arg(long, global = true, env = "WHARF_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,

    /// Directory of state and compiled code, shared by all hosts that name it [default: the user's data directory]
    #[arg(long, global = true, env = "WHARF_DATA", value_name = "DIR")]
    data: Option<PathBuf>,

    /// What bundled plugins are granted where the configuration does not say [default: `profile` of the configuration]
    #[arg(long, global = true, env = "WHARF_PROFILE", value_enum, value_name = "PROFILE")]
    profile: Option<ProfileChoice>,

    /// What is logged to standard error: a level, or targets with levels such as `warn,wharf::plugin=info`
    #[arg(long, global = true, env = "WHARF_LOG", value_name = "FILTER", default_value = "warn,wharf::start=info")]
    log: Targets,

    /// Show no progress of work that takes long
    #[arg(long, short, global = true, env = "WHARF_QUIET", value_parser = BoolishValueParser::new())]
    quiet: bool,

    /// Write the log as JSON lines
    #[arg(long, global = true, env = "WHARF_LOG_JSON", value_parser = BoolishValueParser::new())]
    log_json: bool,
}

impl Global {
    /// Has the log go to standard error, without what the command says itself.
    pub(crate) fn start_log(&self, said: &[&str]) {
        // The protocol library logs whole requests; arguments may hold secrets.
        let filter = self.log.clone().with_target("rmcp", LevelFilter::WARN);
        let filter = said.iter().fold(filter, |filter, target| filter.with_target(*target, LevelFilter::OFF));
        let registry = tracing_subscriber::registry().with(filter);
        let lines = tracing_subscriber::fmt::layer().with_writer(LogWriter);
        // The library would say on standard error that this cannot be written, and panic in whatever was logged.
        let lines = lines.log_internal_errors(false);
        if self.log_json {
            registry.with(lines.json()).init();
        } else {
            registry.with(lines.with_ansi(progress::has_colours())).init();
        }
    }

    /// The same without progress, for work that nobody at the terminal has asked for.
    pub(crate) fn quietly(&self) -> Self {
        Self { quiet: true, ..self.clone() }
    }

    /// How progress is shown.
    pub(crate) fn progress(&self) -> ProgressDisplay {
        ProgressDisplay::of_standard_error(self.quiet)
    }

    /// Paths mean what they meant where they were typed, whatever runs in another
    /// directory later.
    pub(crate) fn make_absolute(&mut self) -> Result<()> {
        for path in [&mut self.config, &mut self.data].into_iter().flatten() {
            *path = absolute(path)?;
        }
        Ok(())
    }

    /// What the command line and the environment choose, as arguments of another run.
    pub(crate) fn chosen(&self) -> Result<Vec<String>> {
        let mut arguments = Vec::new();
        for (flag, path) in [("--config", &self.config), ("--data", &self.data)] {
            if let Some(path) = path {
                let path = path.to_str().with_context(|| format!("the path after {flag} is no text"))?;
                arguments.extend([flag.to_owned(), path.to_owned()]);
            }
        }
        if let Some(profile) = self.profile.and_then(|profile| profile.to_possible_value()) {
            arguments.extend(["--profile".to_owned(), profile.get_name().to_owned()]);
        }
        Ok(arguments)
    }

    /// The file that is read, if there is one.
    pub(crate) fn configuration_path(&self) -> Option<PathBuf> {
        self.config.clone().or_else(|| {
            let path = directories()?.config_dir().join("wharf.toml");
            path.exists().then_some(path)
        })
    }

    /// Reads this file, where it is there and the command line names none.
    pub(crate) fn prefer_configuration(&mut self, file: PathBuf) {
        if self.config.is_none() && file.is_file() {
            self.config = Some(file);
        }
    }

    /// The file that is written, whether it is there yet or not.
    pub(crate) fn configuration_target(&self) -> Result<PathBuf> {
        self.config
            .clone()
            .or_else(|| Some(directories()?.config_dir().join("wharf.toml")))
            .context("there is no home directory to keep a configuration in; name a file with --config")
    }

    pub(crate) fn configuration(&self) -> Result<Configuration> {
        self.over(self.written()?)
    }

    /// The same over the settings that all hosts of its cluster have, as the data directory has them:
    /// what a host serves with.
    pub(crate) fn configuration_of_host(&self) -> Result<Configuration> {
        let own = self.written()?;
        let data = self.data(&own)?;
        self.over(own.with_settings_of_cluster(&data).map_err(|error| {
            Unusable(format!("what all hosts of the cluster are configured with is not usable here: {error}"))
        })?)
    }

    fn written(&self) -> Result<Configuration> {
        Ok(match self.configuration_path() {
            Some(path) => Configuration::read(&path).map_err(|error| Unusable(with_causes(&error)))?,
            None => Configuration::default(),
        })
    }

    /// What the environment and the command line say over a configuration.
    fn over(&self, mut configuration: Configuration) -> Result<Configuration> {
        let variable = |name: &str| std::env::var(name).ok();
        configuration.apply_environment(variable).map_err(|error| Unusable(error.to_string()))?;
        if let Some(profile) = self.profile {
            configuration.profile = profile.into();
        }
        Ok(configuration)
    }

    pub(crate) fn data(&self, configuration: &Configuration) -> Result<PathBuf> {
        self.data
            .clone()
            .or_else(|| configuration.data.clone())
            .or_else(|| Some(directories()?.data_dir().to_owned()))
            .context("there is no home directory to keep data in; name a directory with --data")
    }

    /// Where hosts keep compiled code: below the data directory, where there is one.
    pub(crate) fn compiled_code(&self) -> Option<PathBuf> {
        let data = self.configuration().and_then(|configuration| self.data(&configuration));
        data.ok().map(|data| data.join("cache"))
    }

    /// Where the commands of authors keep compiled functions, whichever data directory they use.
    pub(crate) fn compiled_functions() -> Option<PathBuf> {
        directories().map(|directories| directories.cache_dir().join("functions"))
    }

    /// The host that the configuration describes, not opened yet.
    pub(crate) fn builder(&self, configuration: Configuration) -> Result<HostBuilder> {
        let data = self.data(&configuration)?;
        Ok(Host::builder(configuration).data(data))
    }

    /// Opens the host that the configuration describes, for as long as a command takes. Its calls
    /// wait for nobody: the person who types the command has allowed them.
    pub(crate) async fn open(&self, mut configuration: Configuration) -> Result<Host> {
        configuration.approvals = ApprovalSettings::default();
        let _preparing = self.progress().step("preparing the plugins");
        self.opened(configuration, HostBuilder::fixed_grants).await
    }

    /// The same, to serve for long: clients do not wait for a compiler, and programs read what
    /// this prints, so it has no progress.
    pub(crate) async fn open_to_serve(
        &self,
        configuration: Configuration,
        audit: Option<Arc<dyn AuditSink>>,
        functions: Option<PathBuf>,
    ) -> Result<Host> {
        let how = |builder: HostBuilder| {
            let builder = builder.compile_in_background().join_cluster();
            let builder = match functions {
                Some(directory) => builder.compiled_functions(directory),
                None => builder,
            };
            match audit {
                Some(audit) => builder.audit(audit),
                None => builder,
            }
        };
        self.opened(configuration, how).await
    }

    async fn opened(&self, configuration: Configuration, how: impl FnOnce(HostBuilder) -> HostBuilder) -> Result<Host> {
        let data = self.data(&configuration)?;
        let bundled_missing = configuration.plugins.is_empty();
        let host = how(self.builder(configuration)?).open().await.map_err(|error| match error.is_of_database() {
            true => Unusable(with_causes(&error)),
            false => Unusable(format!("{} ({})", with_causes(&error), data.display())),
        })?;
        if bundled_missing && host.installed().is_empty() && host.rejected().is_empty() && host.compiling().is_empty() {
            tracing::warn!(
                "this binary was built without plugins, so there are no tools; run `cargo xtask plugins` and build \
                 it again, or name plugins in wharf.toml"
            );
        }
        Ok(host)
    }
}

/// A path as it is from every directory.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    wharf::paths::absolute(path).map_err(|error| Unusable(with_causes(&error)).into())
}

fn directories() -> Option<ProjectDirs> {
    ProjectDirs::from("dev", "wharf", "wharf")
}

/// A tokio runtime for a command.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    // What another thread answers, the store's above all, is looked for before
    // each task: a call that holds others up must not wait behind them.
    builder.global_queue_interval(1);
    builder.enable_all().build().context("cannot start the async runtime")
}
