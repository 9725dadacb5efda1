//! The whole of `wharf.toml`: read, checked, and what it amounts to.
//!
//! Each table has a file of its own that knows its keys; this one puts them together.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use wharf_core::{
    CallLimits, Digest, Grants, HostLimits, PluginName, ProcessLimits, RequestLimits, StreamLimits,
    grant::{Denials, GrantClock},
    tool::OutputSchemas,
};
use wharf_engine::IsolationConfig;
use wharf_sources::PluginSource;

use super::{
    approvals::{ApprovalSettings, WrittenApprovals},
    audit::{AuditSettings, WrittenAudit},
    cluster::ClusterSettings,
    encryption::{EncryptionSettings, WrittenEncryption},
    error::{ConfigurationError, InvalidConfiguration, NameUnavailable},
    host::{HostSettings, WrittenHost},
    http::{HttpSection, WrittenHttp},
    isolation::WrittenIsolation,
    limits::{self, WrittenLimits},
    plugin::{PluginSettings, WrittenPlugin},
    polls::PollGuidance,
    process::{RequiredContainment, WorkspaceSettings, WrittenProcess},
    profile::{self, Profile},
    request::WrittenRequest,
    settings_name::name_of_settings,
    state::StateSettings,
    terminal::{TerminalSettings, WrittenStream, WrittenTerminal},
    traces::{TracesSettings, WrittenTraces},
    trust::{TrustSettings, WrittenPlugins},
    webview::{WebViewSettings, WrittenWebView},
};
use crate::{bundled, missing_feature, paths, reserved_name};

/// Everything that `wharf.toml` says, checked. Every path in it is absolute.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// Where data is kept, unless `--data` says otherwise.
    pub data: Option<PathBuf>,
    /// How contexts are made.
    pub context: ContextSettings,
    /// How state is kept.
    pub state: StateSettings,
    /// The keys of encryption at rest; files are stored in the clear where absent.
    pub encryption: Option<EncryptionSettings>,
    /// A cluster that the host is one of.
    pub cluster: Option<ClusterSettings>,
    /// What the process of a host gives up.
    pub host: HostSettings,
    /// Limits of the host.
    pub host_limits: HostLimits,
    /// Limits of child processes and of the files of a session.
    pub process_limits: ProcessLimits,
    /// How plugins are isolated in processes of their own; they run in the host where absent.
    pub isolation: Option<IsolationConfig>,
    /// How polls of processes are judged.
    pub polls: PollGuidance,
    /// What has to contain processes and terminals, whatever a grant says.
    pub required_containment: Option<RequiredContainment>,
    /// How the files of sessions are kept.
    pub workspace: WorkspaceSettings,
    /// Interactive programs.
    pub terminal: TerminalSettings,
    /// Web pages and the browser that runs them.
    pub webview: WebViewSettings,
    /// Limits of streams of events.
    pub stream_limits: StreamLimits,
    /// Limits of the HTTP requests that plugins send.
    pub request_limits: RequestLimits,
    /// Serving over HTTP.
    pub http: HttpSection,
    /// Calls that wait until a person allows them.
    pub approvals: ApprovalSettings,
    /// What is kept of what happened.
    pub audit: AuditSettings,
    /// Where spans are sent, and which.
    pub traces: TracesSettings,
    /// What bundled plugins are granted by default.
    pub profile: Profile,
    /// How much of their schemas listed tools show.
    pub output_schemas: OutputSchemas,
    /// Limits of a call of any plugin. A bundled plugin that needs more of
    /// some limit gets more, unless `wharf.toml` sets that limit.
    pub call_limits: CallLimits,
    /// What `[limits]` says, to be told from the defaults.
    pub(super) written_limits: WrittenLimits,
    /// Plugins by name.
    pub plugins: BTreeMap<PluginName, PluginSettings>,
    /// A folder in which every `NAME.wasm` is a plugin.
    pub plugin_folder: Option<PathBuf>,
    /// Indexes that list plugins, for `wharf plugin search`.
    pub plugin_indexes: Vec<PluginSource>,
    /// Whose signatures of plugins count, which plugins need one, and what must not run.
    pub trust: TrustSettings,
    /// What the host's own routes may use, where it is written.
    pub(super) written_host_grants: Option<Grants>,
    /// What no limit of a call may exceed, whichever plugin is called.
    pub call_ceilings: CallLimits,
    /// What the text of it says, and where relative paths in that begin.
    pub(super) written: OwnText,
    /// Names what it has of the settings that all hosts of a cluster have.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "other hosts ask for it"))]
    pub(crate) settings_of_cluster: Digest,
    /// What time it is for grants; the system's where absent.
    pub(super) clock: Option<GrantClock>,
    /// What the plugins of one host were denied.
    pub(crate) denials: Denials,
}

/// The text of a configuration, to be put over what all hosts of a cluster have.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnText {
    pub(super) table: Arc<toml::Table>,
    pub(super) base: PathBuf,
}

/// `[context]`.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ContextSettings {
    /// Refuse calls that name no session.
    pub require_session: bool,
    /// Take `__sessionId`, `__assistantId` and `__threadId` in arguments as the context
    /// of a call, over standard input and output: only where the client is a middleware
    /// that writes them itself, over whatever a model wrote. Over HTTP it is a setting
    /// of each token.
    pub trusted_middleware: bool,
}

#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Written {
    /// The data directory; the user's own where absent.
    data: Option<PathBuf>,
    /// On whose behalf calls run that do not say so.
    context: ContextSettings,
    /// What plugins keep.
    state: StateSettings,
    /// Encryption of state, of output and of recordings on disk.
    encryption: WrittenEncryption,
    /// A cluster that the host is one of.
    cluster: Option<ClusterSettings>,
    /// The host as a whole.
    host: WrittenHost,
    /// Where plugins run.
    isolation: WrittenIsolation,
    /// Limits of a call of any plugin.
    #[schemars(schema_with = "limits::of_calls")]
    limits: WrittenLimits,
    /// What no limit of a call may exceed, whichever plugin's table says so.
    #[schemars(schema_with = "limits::of_calls")]
    ceilings: WrittenLimits,
    /// Child processes.
    process: WrittenProcess,
    /// The files of sessions.
    workspace: WorkspaceSettings,
    /// Interactive programs.
    terminal: WrittenTerminal,
    /// Web pages, and the browser that runs them.
    webview: WrittenWebView,
    /// Streams of events.
    stream: WrittenStream,
    /// HTTP requests of plugins.
    request: WrittenRequest,
    /// Serving over HTTP.
    http: WrittenHttp,
    /// Calls that wait until a person allows them, with `wharf approvals`.
    approvals: WrittenApprovals,
    /// What is written down of calls.
    audit: WrittenAudit,
    /// What a collector of spans gets.
    traces: WrittenTraces,
    /// What bundled plugins are granted where their own tables do not say; `default` where
    /// absent.
    profile: Profile,
    /// How much of their output schemas listed tools show: `none`, `compact` (the names and types
    /// of what each answer has) or `full`; `compact` where absent. Unless it is `full`, input schemas are listed
    /// without lengths, formats and empty defaults. The whole schemas are checked in any case.
    output_schemas: OutputSchemas,
    /// One plugin; `host` stands for the host itself, and has nothing but grants.
    plugin: BTreeMap<PluginName, WrittenPlugin>,
    /// Where plugins lie beside their tables, and whose signatures of them count.
    plugins: WrittenPlugins,
}

/// Where indexes are; a path begins where the configuration is.
fn plugin_indexes(written: &[String], base: &Path) -> Result<Vec<PluginSource>, String> {
    let source = |text: &String| match text.parse() {
        Ok(PluginSource::File(path)) => Ok(PluginSource::File(base.join(path))),
        Ok(other) => Ok(other),
        Err(error) => Err(format!("[plugins] `indexes`: {error}")),
    };
    written.iter().map(source).collect()
}

impl Default for Configuration {
    /// What holds without a file: what an empty one says.
    fn default() -> Self {
        match Self::checked(Written::default(), Path::new("/")) {
            Ok(configuration) => configuration,
            Err(problem) => unreachable!("nothing is wrong with nothing: {problem}"),
        }
    }
}

impl Configuration {
    /// Reads and checks a file. Relative paths in it are relative to it.
    ///
    /// # Errors
    /// Where the file cannot be read, is not TOML, has a key that means
    /// nothing, or a value that is not accepted.
    pub fn read(path: &Path) -> Result<Self, ConfigurationError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigurationError::Read { path: path.to_owned(), source })?;
        let base = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, base).map_err(|problem| ConfigurationError::Text { path: path.to_owned(), problem })
    }

    /// Checks a text. Relative paths in it are relative to `base`, and that to the
    /// current directory. Tables of what this build leaves out are refused.
    ///
    /// # Errors
    /// What is wrong, in words for a person.
    pub fn parse(text: &str, base: &Path) -> Result<Self, InvalidConfiguration> {
        let written: Written =
            toml::from_str(text).map_err(|error| InvalidConfiguration::Syntax { problem: place_of(&error) })?;
        missing_feature::check(text)?;
        let base = paths::absolute(base).map_err(InvalidConfiguration::Directory)?;
        let mut configuration =
            Self::checked(written, &base).map_err(|problem| InvalidConfiguration::Value { problem })?;
        let table: toml::Table =
            text.parse().map_err(|error| InvalidConfiguration::Syntax { problem: place_of(&error) })?;
        if !table.is_empty() {
            configuration.written = OwnText { table: Arc::new(table), base };
        }
        Ok(configuration)
    }

    /// What was written, name by name.
    pub(crate) fn table(&self) -> &toml::Table {
        &self.written.table
    }

    pub(super) fn checked(written: Written, base: &Path) -> Result<Self, String> {
        let mut host_limits = HostLimits::default();
        let host = written.host.settings()?;
        written.host.limits.apply("host.limits", |name, value| host_limits.set(name, value))?;
        let mut process_limits = ProcessLimits::default();
        written.process.limits.apply("process.limits", |name, value| process_limits.set(name, value))?;
        written.process.polls.check()?;
        let call_ceilings = written.ceilings.ceilings()?;
        let mut call_limits = CallLimits::default();
        written.limits.apply_to_calls("limits", &mut call_limits, &call_ceilings)?;
        let mut plugins = written.plugin;
        let written_host_grants =
            plugins.remove(&PluginName::host()).map(|host| host.grants_of_host(base)).transpose()?;
        let app = PluginName::app();
        if plugins.contains_key(&app) {
            return Err(format!("[plugin.{app}] stands for no plugin: {}", reserved_name::OF_APP));
        }
        let plugins = plugins
            .into_iter()
            .map(|(name, plugin)| {
                let settings = plugin.check(&name, &written.limits, &call_ceilings, base)?;
                Ok((name, settings))
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            data: written.data.map(|data| base.join(data)),
            context: written.context,
            state: written.state.check(base)?,
            encryption: written.encryption.check(base)?,
            cluster: written.cluster.map(|cluster| cluster.check(base)).transpose()?,
            host,
            host_limits,
            isolation: written.isolation.check()?,
            process_limits,
            polls: written.process.polls,
            required_containment: written.process.required,
            workspace: written.workspace,
            terminal: written.terminal.check(base)?,
            webview: written.webview.check(base)?,
            stream_limits: written.stream.check()?,
            request_limits: written.request.check()?,
            http: written.http.check(base)?,
            approvals: written.approvals.check()?,
            audit: written.audit.check(base)?,
            traces: written.traces.check(base)?,
            profile: written.profile,
            output_schemas: written.output_schemas,
            call_limits: call_limits.at_most(&call_ceilings),
            written_limits: written.limits,
            plugins,
            trust: written.plugins.trust(base)?,
            plugin_folder: written.plugins.folder.map(|folder| base.join(folder)),
            plugin_indexes: plugin_indexes(&written.plugins.indexes, base)?,
            written_host_grants,
            call_ceilings,
            written: OwnText::default(),
            settings_of_cluster: name_of_settings(toml::Table::new()),
            clock: None,
            denials: Denials::default(),
        })
    }

    /// Whether a plugin of this name may be added by command.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub fn may_add(&self, name: &PluginName) -> Result<(), NameUnavailable> {
        if let Some(reason) = reserved_name::reason(name) {
            return Err(NameUnavailable::Reserved(reason));
        }
        if let Some(file) = self.plugins.get(name).and_then(|settings| settings.source.clone()) {
            return Err(NameUnavailable::Configured { name: name.clone(), file });
        }
        match bundled::find(name.as_str()) {
            Some(_) => Err(NameUnavailable::Bundled { name: name.clone() }),
            None => Ok(()),
        }
    }

    /// Limits of a bundled plugin that has no table of its own.
    pub(super) fn limits_of_bundled(&self, plugin: &str) -> CallLimits {
        let mut limits = self.call_limits.clone();
        profile::raise_limits(plugin, &mut limits, |name| self.written_limits.names(name));
        limits.at_most(&self.call_ceilings)
    }
}

/// What is wrong with a text, and where.
pub(super) fn place_of(error: &toml::de::Error) -> String {
    match error.span() {
        Some(_) => error.to_string(),
        None => format!("{error}; it is said of no line: look for tables or lists that lie within each other"),
    }
}

#[cfg(test)]
mod tests;
