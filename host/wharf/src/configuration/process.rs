//! `[process]` and `[workspace]`: what holds for child processes and the files of
//! sessions.

use std::{path::Path, time::Duration};

use schemars::Schema;
use serde::Deserialize;
use serde_json::{Value, json};
use wharf_core::{Grants, PluginName, ProcessLimits, grant::GrantClock};
use wharf_process::{ProcessSettings, output::OutputLimits};

use super::{limits::WrittenLimits, polls::PollGuidance};

/// `[process]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenProcess {
    /// Limits of processes and of the files of sessions.
    #[schemars(schema_with = "super::limits::of_processes")]
    pub(super) limits: WrittenLimits,
    /// Advice for callers that poll too often.
    pub(super) polls: PollGuidance,
    /// What has to contain processes and terminals, whatever a grant says: where it
    /// does not work, they are refused.
    pub(super) required: Option<RequiredContainment>,
}

/// What has to contain processes and terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = with_former_word)]
#[non_exhaustive]
pub enum RequiredContainment {
    /// Namespaces: what a program is not shown is not there.
    #[serde(alias = "bubblewrap")]
    Namespaces,
}

/// Adds to the schema the word by which namespaces were asked for before.
fn with_former_word(schema: &mut Schema) {
    if let Some(Value::Array(words)) = schema.get_mut("oneOf") {
        let said = "The former word for `namespaces`.";
        words.push(json!({"type": "string", "const": "bubblewrap", "description": said}));
    }
}

/// `[workspace]`.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WorkspaceSettings {
    /// Seconds after which a workspace that nobody used is removed with all its
    /// files; 0 for never.
    pub expiry_seconds: u64,
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self { expiry_seconds: 30 * 24 * 3600 }
    }
}

impl WorkspaceSettings {
    /// After how long without use a workspace expires.
    #[must_use]
    pub fn expiry(&self) -> Option<Duration> {
        (self.expiry_seconds > 0).then(|| Duration::from_secs(self.expiry_seconds))
    }
}

/// What the configuration sets for the processes of the host.
pub(crate) fn settings(limits: &ProcessLimits, polls: &PollGuidance, clock: GrantClock) -> ProcessSettings {
    ProcessSettings {
        running_per_session: usize::try_from(limits.running_per_session).unwrap_or(usize::MAX),
        ended_per_session: usize::try_from(limits.ended_per_session).unwrap_or(usize::MAX),
        tombstone_lifetime: Duration::from_secs(limits.tombstone_seconds),
        output: OutputLimits { kept_bytes: limits.output_kept_bytes, total_bytes: limits.output_total_bytes },
        lifetime: Duration::from_secs(limits.lifetime_seconds),
        longest_wait: Duration::from_millis(limits.wait_milliseconds),
        polls: polls.rules(),
        limits: limits.clone(),
        clock,
        ..ProcessSettings::default()
    }
}

/// The same with paths that begin where the configuration is.
pub(super) fn with_absolute_paths(mut grants: Grants, base: &Path) -> Grants {
    let readable = grants.process.iter_mut().flat_map(|process| &mut process.children.readable);
    let readable = readable.chain(grants.terminal.iter_mut().flat_map(|terminal| &mut terminal.readable));
    let exchange = grants.workspace.iter_mut().flat_map(|workspace| &mut workspace.exchange);
    for path in readable.chain(exchange.map(|folder| &mut folder.path)) {
        *path = base.join(&*path);
    }
    grants
}

/// Checks what a grant names.
pub(super) fn check_grants(name: &PluginName, grants: &Grants) -> Result<(), String> {
    if let Some(process) = &grants.process {
        let table = format!("[plugin.{name}.grants.process]");
        if process.maximum_concurrent == 0 || process.children.lifetime_seconds == 0 {
            return Err(format!("{table} `maximum_concurrent` and `lifetime_seconds` must be at least 1"));
        }
    }
    if let Some(terminal) = &grants.terminal {
        let table = format!("[plugin.{name}.grants.terminal]");
        if terminal.lifetime_seconds == 0 {
            return Err(format!("{table} `lifetime_seconds` must be at least 1"));
        }
    }
    if let Some(workspace) = &grants.workspace {
        let table = format!("[plugin.{name}.grants.workspace]");
        let mut names = std::collections::BTreeSet::new();
        for folder in &workspace.exchange {
            let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
            let special = matches!(folder.name.as_str(), "." | "..");
            if !(1..=64).contains(&folder.name.len()) || !folder.name.bytes().all(legal) || special {
                return Err(format!("{table} the name of an exchange folder is 1 to 64 bytes of [A-Za-z0-9._-]"));
            }
            if !names.insert(&folder.name) {
                return Err(format!("{table} two exchange folders are called `{}`", folder.name));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{super::Configuration, *};

    fn parse(text: &str) -> Result<Configuration, String> {
        Configuration::parse(text, Path::new("/etc/wharf")).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_grant_that_names_what_cannot_be_is_refused_where_it_is_written() {
        let grant = |text: &str| parse(&format!("[plugin.x]\nsource = \"x.wasm\"\n{text}"));
        for (text, word) in [
            ("[plugin.x.grants.process]\nreason = \"r\"\nmaximum_concurrent = 0", "at least 1"),
            ("[plugin.x.grants.process]\nreason = \" \"", "reason"),
            ("[plugin.x.grants.process]\nreason = \"r\"\nshel = true", "shel"),
            ("[plugin.x.grants.workspace]\nreason = \"r\"\nexchange = [{name = \"a/b\", path = \"/x\"}]", "1 to 64"),
            ("[plugin.x.grants.workspace]\nreason = \"r\"\nexchange = [{name = \"..\", path = \"/x\"}]", "1 to 64"),
            (
                "[plugin.x.grants.workspace]\nreason = \"r\"\nexchange = [{name = \"a\", path = \"/x\"}, \
                 {name = \"a\", path = \"/y\"}]",
                "two",
            ),
            ("[process.polls]\nthreshold = 0", "threshold"),
            ("[process.limits]\nopen_files = 0", "open_files"),
        ] {
            let problem = grant(text).expect_err(text);
            assert!(problem.contains(word), "{text}: {problem}");
        }
        let whole = "[plugin.x.grants.process]\nreason = \"r\"\nshell = true\nrequire_containment = false\n\
                     [plugin.x.grants.workspace]\nreason = \"r\"\naccess = \"read\"";
        let configuration = grant(whole).expect("parses");
        let plugin = &configuration.plugins[&"x".parse::<PluginName>().expect("legal")];
        let grants = plugin.grants.as_ref().expect("granted");
        assert!(grants.process.as_ref().is_some_and(|process| {
            let children = &process.children;
            !children.require_containment && children.programs.is_empty()
        }));
    }
}
