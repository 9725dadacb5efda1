//! The running hosts on the data directory: asked, or told that something has changed.

use std::{io::Write as _, path::Path, process::ExitCode};

use anyhow::Result;
use serde_json::{Value, json};
use wharf::{
    PluginName,
    control::{ControlError, RunningHost, ServedPlugins, running_hosts},
};

use crate::{
    exit::{FAILED, Unusable},
    global::{Global, runtime},
    listing::Listing,
    print::{self, print_json},
};

/// Those that run on this data directory.
pub(crate) fn running(data: &Path) -> Result<Vec<RunningHost>, Unusable> {
    running_hosts(data).map_err(|error| Unusable(format!("cannot look for hosts in {}: {error}", data.display())))
}

/// What they have of one kind, all of them together.
pub(crate) struct HostEntries {
    hosts: usize,
    pub(crate) entries: Vec<Value>,
}

impl HostEntries {
    /// Asks each for its own. One that does not answer is passed over with a warning.
    pub(crate) fn ask(
        global: &Global,
        list: impl AsyncFn(&RunningHost) -> Result<Vec<Value>, ControlError>,
    ) -> Result<Self> {
        let running = running(&global.data(&global.configuration()?)?)?;
        let entries = runtime()?.block_on(async {
            let mut entries = Vec::new();
            for host in &running {
                match list(host).await {
                    Ok(listed) => entries.extend(listed),
                    Err(error) => tracing::warn!("a host does not answer: {}", wharf::with_causes(&error)),
                }
            }
            entries
        });
        Ok(Self { hosts: running.len(), entries })
    }

    /// Prints them, as one JSON object under `name` or as a table; `none` is said where there are none.
    pub(crate) fn print(
        &self,
        json: bool,
        name: &str,
        none: &str,
        table: impl FnOnce(&[Value]) -> Listing,
    ) -> Result<ExitCode> {
        if json {
            print_json(&json!({"hosts": self.hosts, name: self.entries}))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = print::listing();
        if self.entries.is_empty() {
            let none = if self.hosts == 0 { "No host serves on this data directory" } else { none };
            writeln!(out, "{none}.")?;
        } else {
            write!(out, "{}", table(&self.entries))?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What each of them answered.
pub(crate) struct HostAnswers(Vec<Result<ServedPlugins, ControlError>>);

impl HostAnswers {
    /// Their plugins as they are.
    pub(crate) fn ask(data: &Path) -> Result<Self> {
        Self::each(data, false)
    }

    /// What they have made of it once each has looked again.
    pub(crate) fn reload(data: &Path) -> Result<Self> {
        Self::each(data, true)
    }

    fn each(data: &Path, reload: bool) -> Result<Self> {
        let running = running(data)?;
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
        Ok(Self(answers))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn served(&self) -> impl Iterator<Item = &ServedPlugins> {
        self.0.iter().filter_map(|answer| answer.as_ref().ok())
    }

    /// Whether any of them knows this plugin.
    pub(crate) fn know(&self, name: &PluginName) -> bool {
        self.of(name).next().is_some()
    }

    /// What became of this plugin in each.
    pub(crate) fn of(&self, name: &PluginName) -> impl Iterator<Item = &Value> {
        let is_it = move |plugin: &&Value| plugin["name"].as_str() == Some(name.as_str());
        self.served().filter_map(move |served| served.plugins.iter().find(is_it))
    }

    /// What became of a plugin, or of the request, in each.
    pub(crate) fn to_json(&self, name: Option<&PluginName>) -> Value {
        let one = |answer: &Result<ServedPlugins, ControlError>| match answer {
            Err(error) => json!({ "error": wharf::with_causes(error) }),
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
    pub(crate) fn print_problems(&self) {
        for answer in &self.0 {
            match answer {
                Err(error) => eprintln!(
                    "a running host has not taken this: {}",
                    wharf::text::line(&wharf::with_causes(error), 512)
                ),
                Ok(ServedPlugins { problem: Some(problem), .. }) => {
                    let problem = wharf::text::line(problem, 512);
                    eprintln!("a running host goes by the configuration before: {problem}");
                }
                Ok(_) => {}
            }
        }
    }

    /// Whether all have done what they were told.
    pub(crate) fn code(&self) -> ExitCode {
        if self.0.iter().all(Result::is_ok) { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
    }
}
