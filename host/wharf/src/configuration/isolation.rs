//! `[isolation]`: where plugins run.

use serde::Deserialize;
use wharf_engine::{IsolationConfig, WorkersBy};

/// The most processes that wait for a first call.
const MOST_AHEAD: u64 = 64;

/// `[isolation]`, as it is written.
#[derive(Debug, Clone, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenIsolation {
    /// Where plugins run: `thread` (in the host itself) or `process` (in processes that reach
    /// nothing but a socket to the host; Linux). `thread` where absent.
    level: IsolationLevel,
    /// With `level = "process"`, what has a process of its own: each `tenant`, or each `plugin` of
    /// each tenant. `tenant` where absent.
    by: Option<By>,
    /// With `level = "process"`, how many processes are started before a call needs them, from 0
    /// to 64; 1 where absent.
    #[schemars(range(max = 64))]
    ahead: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum IsolationLevel {
    #[default]
    Thread,
    Process,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum By {
    Tenant,
    Plugin,
}

impl WrittenIsolation {
    /// How plugins are isolated in processes; nothing where they run in the host.
    pub(super) fn check(self) -> Result<Option<IsolationConfig>, String> {
        let Self { level, by, ahead } = self;
        if level == IsolationLevel::Thread {
            return match (by, ahead) {
                (None, None) => Ok(None),
                _ => {
                    Err("[isolation] `by` and `ahead` hold for processes: write `level = \"process\"`, too".to_owned())
                }
            };
        }
        if !cfg!(target_os = "linux") {
            return Err("[isolation] `level = \"process\"` needs Linux; write \"thread\"".to_owned());
        }
        let ahead = ahead.unwrap_or(1);
        if ahead > MOST_AHEAD {
            return Err(format!("[isolation] `ahead` must be from 0 to {MOST_AHEAD}, not {ahead}"));
        }
        let by = match by {
            None | Some(By::Tenant) => WorkersBy::Tenant,
            Some(By::Plugin) => WorkersBy::Plugin,
        };
        Ok(Some(IsolationConfig { by, ahead }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Configuration;

    fn read(text: &str) -> Result<Option<IsolationConfig>, String> {
        Configuration::parse(text, "/base".as_ref())
            .map(|configuration| configuration.isolation)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn plugins_run_in_the_host_unless_it_says_processes() {
        for text in ["", "[isolation]", "[isolation]\nlevel = \"thread\""] {
            assert_eq!(read(text), Ok(None), "{text}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processes_are_by_tenant_or_by_plugin() {
        let process = |rest: &str| read(&format!("[isolation]\nlevel = \"process\"\n{rest}"));
        assert_eq!(process(""), Ok(Some(IsolationConfig::default())));
        let by_plugin = IsolationConfig { by: WorkersBy::Plugin, ahead: 0 };
        assert_eq!(process("by = \"plugin\"\nahead = 0"), Ok(Some(by_plugin)));
        for (rest, told) in [("ahead = 65", "from 0 to 64"), ("by = \"session\"", "tenant")] {
            let refused = process(rest).expect_err(rest);
            assert!(refused.contains(told), "{refused}");
        }
    }

    #[test]
    fn what_holds_for_processes_alone_is_refused_without_them() {
        let refused = read("[isolation]\nahead = 2").expect_err("without processes");
        assert!(refused.contains("level = \"process\""), "{refused}");
    }
}
