//! `[terminal]` and `[stream]`: interactive programs, and streams of events.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use wharf_completion::{
    Streams,
    detection::{Parameters, Preset, Tuning},
};
use wharf_contract::UnknownWord;
use wharf_core::{ProcessLimits, StreamLimits, TerminalLimits, text::with_causes};
use wharf_terminal::{ProfileSettings, RecordingSettings, RefusedWord, Restart, TerminalPoolSettings, check_profiles};

use super::limits::WrittenLimits;

/// Where terminals are recorded that are lost with their host, below the data
/// directory.
pub(crate) const RECORDS: &str = "terminals";

/// Where recordings go below the data directory, unless the configuration
/// names a directory.
pub(crate) const RECORDINGS: &str = "recordings";

/// `[terminal]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenTerminal {
    /// Limits of terminals.
    #[schemars(schema_with = "super::limits::of_terminals")]
    limits: WrittenLimits,
    /// Whether programs that crash are started again; `on-crash` where absent.
    #[schemars(schema_with = "restart_schema")]
    restart: Option<String>,
    /// What is recorded of terminals, as asciicast v2.
    recording: WrittenRecording,
    /// What is known of some programs.
    profile: BTreeMap<String, WrittenProfile>,
}

/// `[terminal.recording]`.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct WrittenRecording {
    /// Whether every terminal is recorded.
    enabled: bool,
    /// Whether what is typed is recorded, too. It may hold secrets that no screen shows;
    /// passwords that are asked for without echo are left out.
    input: bool,
    /// Where; `recordings` below the data directory where absent.
    directory: Option<PathBuf>,
    /// Bytes of one recording, which then ends; 16777216 where absent.
    maximum_bytes: Option<u64>,
}

/// `[terminal.profile.NAME]`.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenProfile {
    /// Names of the programs that it is about.
    #[schemars(length(min = 1))]
    programs: Vec<String>,
    /// How the turns of these programs are judged.
    #[schemars(schema_with = "preset_schema")]
    preset: String,
    /// Regular expressions of the cursor's line that mean for certain that the program waits.
    #[serde(default)]
    strict_prompts: Vec<String>,
    /// Those that may mean it, after some quiet.
    #[serde(default)]
    broad_prompts: Vec<String>,
    /// Numbers of the preset that are otherwise for these programs.
    #[serde(default)]
    parameters: Tuning,
    /// Lines that are refused.
    #[serde(default)]
    refused: Vec<WrittenWord>,
    /// Whether these programs are started again when they crash.
    #[serde(default)]
    #[schemars(schema_with = "restart_schema")]
    restart: Option<String>,
}

#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenWord {
    /// The whole line, blanks around it not counted.
    word: String,
    /// What to do instead; the caller is told.
    reason: String,
}

/// `[stream]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenStream {
    /// Limits of streams.
    #[schemars(schema_with = "super::limits::of_streams")]
    limits: WrittenLimits,
}

/// `[terminal]`, checked.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TerminalSettings {
    /// How many terminals there may be, how long, and what is kept of them.
    pub limits: TerminalLimits,
    restart: Option<Restart>,
    recording: WrittenRecording,
    profiles: Vec<ProfileSettings>,
}

impl TerminalSettings {
    /// Where recordings are, where that is not below the data directory.
    pub(crate) fn recording_directory(&self) -> Option<&Path> {
        self.recording.directory.as_deref()
    }
}

fn preset_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": Preset::WORDS})
}

fn restart_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": Restart::WORDS})
}

impl WrittenTerminal {
    pub(super) fn check(self, base: &Path) -> Result<TerminalSettings, String> {
        let mut limits = TerminalLimits::default();
        self.limits.apply("terminal.limits", |name, value| limits.set(name, value))?;
        let restart = restart(self.restart.as_deref(), "[terminal]")?;
        let profiles = self.profile.into_iter().map(|(name, profile)| profile.check(name));
        let profiles = profiles.collect::<Result<Vec<_>, _>>()?;
        check_profiles(&profiles)
            .map_err(|error| format!("[terminal.profile.{}] {}", error.name, with_causes(&error)))?;
        let mut recording = self.recording;
        recording.directory = recording.directory.map(|directory| base.join(directory));
        Ok(TerminalSettings { limits, restart, recording, profiles })
    }
}

fn restart(word: Option<&str>, table: &str) -> Result<Option<Restart>, String> {
    word.map(|word| word.parse().map_err(|error: UnknownWord| format!("{table} {error}"))).transpose()
}

impl WrittenProfile {
    fn check(self, name: String) -> Result<ProfileSettings, String> {
        let table = format!("[terminal.profile.{name}]");
        if self.programs.is_empty() {
            return Err(format!("{table} needs `programs`: names of programs, such as [\"psql\"]"));
        }
        let preset = self.preset.parse::<Preset>().map_err(|error| format!("{table} {error}"))?;
        let tuned = Parameters::from(preset).tuned(&self.parameters);
        tuned.map_err(|error| format!("[terminal.profile.{name}.parameters] {error}"))?;
        Ok(ProfileSettings {
            preset,
            tuning: self.parameters,
            programs: self.programs,
            strict_prompts: self.strict_prompts,
            broad_prompts: self.broad_prompts,
            refused: self
                .refused
                .into_iter()
                .map(|WrittenWord { word, reason }| RefusedWord { word, reason })
                .collect(),
            restart: restart(self.restart.as_deref(), &table)?,
            name,
        })
    }
}

impl WrittenStream {
    pub(super) fn check(&self) -> Result<StreamLimits, String> {
        let mut limits = StreamLimits::default();
        self.limits.apply("stream.limits", |name, value| limits.set(name, value))?;
        Ok(limits)
    }
}

/// The settings of the pool of terminals.
pub(crate) fn pool_settings(
    terminal: &TerminalSettings,
    children: &ProcessLimits,
    data: &Path,
    streams: &Streams,
) -> TerminalPoolSettings {
    let usual = TerminalPoolSettings::default();
    let recording = terminal.recording.enabled.then(|| {
        let written = &terminal.recording;
        let directory = written.directory.clone().unwrap_or_else(|| data.join(RECORDINGS));
        let usual = RecordingSettings::in_directory(directory);
        RecordingSettings {
            every: true,
            input: written.input,
            maximum_bytes: written.maximum_bytes.unwrap_or(usual.maximum_bytes),
            ..usual
        }
    });
    TerminalPoolSettings {
        limits: terminal.limits.clone(),
        children: children.clone(),
        restart: terminal.restart.unwrap_or(usual.restart),
        profiles: terminal.profiles.clone(),
        recording,
        streams: Some(streams.clone()),
        records: Some(data.join(RECORDS)),
        ..usual
    }
}

/// How often terminals are looked for that nobody uses.
pub(crate) const SWEEP: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::{super::Configuration, *};

    fn parse(text: &str) -> Result<Configuration, String> {
        Configuration::parse(text, Path::new("/etc/wharf")).map_err(|problem| problem.to_string())
    }

    #[test]
    fn what_is_written_of_terminals_reaches_their_pool() {
        let configuration = parse(
            "[terminal]\nrestart = \"never\"\nlimits = {open = 3}\n\
             [terminal.recording]\nenabled = true\nmaximum_bytes = 5\n\
             [terminal.profile.database]\nprograms = [\"psql\"]\npreset = \"repl\"\nstrict_prompts = [\"^db> $\"]\n\
             refused = [{word = \"exit\", reason = \"close the terminal instead\"}]\n\
             parameters = {adaptive = true, broad_quiet_milliseconds = 900, max_attempts = 7}",
        )
        .expect("parses");
        let streams = Streams::new(StreamLimits::default());
        let pool = pool_settings(&configuration.terminal, &ProcessLimits::default(), Path::new("/data"), &streams);
        assert_eq!((pool.limits.open, pool.restart), (3, Restart::Never));
        let recording = pool.recording.expect("recorded");
        assert_eq!(
            (recording.directory, recording.every, recording.maximum_bytes),
            ("/data/recordings".into(), true, 5)
        );
        assert_eq!((&pool.profiles[0].name[..], pool.profiles[0].preset), ("database", Preset::Repl));
        assert_eq!(pool.profiles[0].refused[0].word, "exit");
        let tuning = &pool.profiles[0].tuning;
        let written = (tuning.adaptive, tuning.broad_quiet_milliseconds, tuning.max_attempts);
        assert_eq!(written, (Some(true), Some(900), Some(7)));
        assert_eq!(pool.records, Some("/data/terminals".into()));
        assert!(parse("").expect("parses").terminal.recording.directory.is_none());
    }

    #[test]
    fn a_mistake_is_named_with_its_table() {
        for (text, word) in [
            ("[terminal]\nrestart = \"always\"", "on-crash"),
            ("[terminal.profile.x]\nprograms = [\"x\"]\npreset = \"fast\"", "[terminal.profile.x]"),
            ("[terminal.profile.x]\nprograms = []\npreset = \"repl\"", "programs"),
            (
                "[terminal.profile.x]\nprograms = [\"x\"]\npreset = \"repl\"\nstrict_prompts = [\"(\"]",
                "[terminal.profile.x]",
            ),
            (
                "[terminal.profile.x]\nprograms = [\"x\"]\npreset = \"repl\"\nparameters = {max_attempts = 0}",
                "[terminal.profile.x.parameters] `max_attempts`",
            ),
            ("[terminal.profile.x]\nprograms = [\"x\"]\npreset = \"repl\"\nparameters = {silence = 1}", "silence"),
            ("[terminal.limits]\nopen = 0", "open"),
            ("[stream.limits]\nstreams = 0", "streams"),
            ("[plugin.host]\nsource = \"x.wasm\"", "host"),
        ] {
            let problem = parse(text).expect_err(text);
            assert!(problem.contains(word), "{text}: {problem}");
        }
    }

    #[test]
    fn what_http_opens_is_granted_to_the_host_by_the_same_table() {
        let configuration = parse("[plugin.host.grants.terminal]\nreason = \"r\"\nshell = true").expect("parses");
        assert!(configuration.host_grants().terminal.is_some_and(|grant| grant.shell));
        assert!(configuration.plugins.is_empty() && configuration.grants_terminals());
        assert!(parse("").expect("parses").host_grants().terminal.is_none());
    }
}
