//! The running hosts on the data directory: asked, or told that something has changed.

use std::{path::Path, process::ExitCode};

use anyhow::Result;
use serde_json::{Value, json};
use wharf::{PluginName, ServedPlugins};

use super::{FAILED, Unusable, runtime};

/// What each of them answered.
pub(super) struct Hosts(Vec<Result<ServedPlugins, String>>);

impl Hosts {
    /// Their plugins as they are.
    pub(super) fn asked(data: &Path) -> Result<Self> {
        Self::each(data, false)
    }

    /// All are told to look again, and have done so.
    pub(super) fn tell(data: &Path) -> Result<Self> {
        Self::each(data, true)
    }

    fn each(data: &Path, reload: bool) -> Result<Self> {
        let running = wharf::running_hosts(data)
            .map_err(|error| Unusable(format!("cannot look for hosts in {}: {error}", data.display())))?;
        if running.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let answers = runtime()?.block_on(async {
            let mut asking = tokio::task::JoinSet::new();
            for host in running {
                asking.spawn(async move { if reload { host.reload().await } else { host.plugins().await } });
            }
            asking.join_all().await
        });
        Ok(Self(answers.into_iter().map(|answer| answer.map_err(|error| wharf::with_causes(&error))).collect()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn served(&self) -> impl Iterator<Item = &ServedPlugins> {
        self.0.iter().filter_map(|answer| answer.as_ref().ok())
    }

    /// Whether any of them knows this plugin.
    pub(super) fn know(&self, name: &PluginName) -> bool {
        self.of(name).next().is_some()
    }

    /// What became of this plugin in each.
    pub(super) fn of(&self, name: &PluginName) -> impl Iterator<Item = &Value> {
        let is_it = move |plugin: &&Value| plugin["name"].as_str() == Some(name.as_str());
        self.served().filter_map(move |served| served.plugins.iter().find(is_it))
    }

    /// What became of a plugin, or of the request, in each.
    pub(super) fn to_json(&self, name: Option<&PluginName>) -> Value {
        let one = |answer: &Result<ServedPlugins, String>| match answer {
            Err(error) => json!({ "error": error }),
            Ok(served) => {
                let is_it = |plugin: &&Value| name.is_some_and(|name| plugin["name"].as_str() == Some(name.as_str()));
                json!({
                    "plugin": served.plugins.iter().find(is_it), "changed": served.changed,
                    "problem": served.problem,
                })
            }
        };
        self.0.iter().map(one).collect()
    }

    /// Says which have not done what they were told.
    pub(super) fn print_problems(&self) {
        for answer in &self.0 {
            match answer {
                Err(error) => eprintln!("a running host has not taken this: {}", wharf::text::line(error, 512)),
                Ok(ServedPlugins { problem: Some(problem), .. }) => {
                    let problem = wharf::text::line(problem, 512);
                    eprintln!("a running host goes by the configuration before: {problem}");
                }
                Ok(_) => {}
            }
        }
    }

    /// Whether all have done what they were told.
    pub(super) fn code(&self) -> ExitCode {
        if self.0.iter().all(Result::is_ok) { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
    }
}
