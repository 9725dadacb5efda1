//! The grant of child processes: which programs, with what, and for how long.

use std::{path::PathBuf, time::Duration};

use wildmatch::WildMatch;

use super::{Grants, denied};
use crate::{Code, Error, PluginName};

/// Child processes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessGrant {
    /// Why, for whoever reads the configuration later.
    pub reason: String,
    /// Programs that may be started: names (`git`), which are looked for in
    /// the system's directories, or paths as the process sees them
    /// (`/usr/bin/git`). `*` stands for any characters, `?` for one.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Whether texts may be handed to a shell. A shell starts any program that
    /// its containment shows, whatever `programs` says.
    #[serde(default)]
    pub shell: bool,
    /// Names of variables that the plugin may set; `*` and `?` as above. Some
    /// (`LD_PRELOAD`, `GIT_SSH_COMMAND`) make a program run what they say.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Names of variables that are taken over from the host's own environment,
    /// where they are set there.
    #[serde(default)]
    pub inherited_environment: Vec<String>,
    /// Processes of the plugin that a session may have starting or running.
    #[serde(default = "default_maximum_concurrent")]
    pub maximum_concurrent: u64,
    /// Seconds after which a process is killed, however it goes.
    #[serde(default = "default_lifetime")]
    pub lifetime_seconds: u64,
    /// Whether processes have the host's network.
    #[serde(default)]
    pub network: bool,
    /// Files and directories that processes may read, beside the system's
    /// programs and libraries and their own workspace. Absolute paths.
    #[serde(default)]
    pub readable: Vec<PathBuf>,
    /// Whether a process that cannot be contained is refused. Without it,
    /// processes may do all that the user of the host may.
    #[serde(default = "yes")]
    pub require_containment: bool,
}

fn default_maximum_concurrent() -> u64 {
    20
}
fn default_lifetime() -> u64 {
    24 * 3600
}
fn yes() -> bool {
    true
}

impl ProcessGrant {
    /// No program, no shell, and every other default.
    #[must_use]
    pub fn with_reason(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            programs: Vec::new(),
            shell: false,
            environment: Vec::new(),
            inherited_environment: Vec::new(),
            maximum_concurrent: default_maximum_concurrent(),
            lifetime_seconds: default_lifetime(),
            network: false,
            readable: Vec::new(),
            require_containment: true,
        }
    }

    /// How long a process may run.
    #[must_use]
    pub fn lifetime(&self) -> Duration {
        Duration::from_secs(self.lifetime_seconds)
    }
}

/// Proof that a plugin may have processes. The way to an [`super::Owner`].
#[derive(Debug)]
pub struct GrantedProcess<'g> {
    grant: &'g ProcessGrant,
    plugin: &'g PluginName,
}

/// Proof that this may be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedCommand<'c>(Command<'c>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Command<'c> {
    Program(&'c str),
    Shell(&'c str),
}

impl<'c> AllowedCommand<'c> {
    /// The program, unless it is a text for the shell.
    #[must_use]
    pub fn program(&self) -> Option<&'c str> {
        match self.0 {
            Command::Program(program) => Some(program),
            Command::Shell(_) => None,
        }
    }

    /// The text for the shell, unless it is a program.
    #[must_use]
    pub fn shell_text(&self) -> Option<&'c str> {
        match self.0 {
            Command::Program(_) => None,
            Command::Shell(text) => Some(text),
        }
    }
}

impl Grants {
    /// Checks that `plugin` may have processes at all.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn process<'g>(&'g self, plugin: &'g PluginName) -> Result<GrantedProcess<'g>, Error> {
        let grant = self.process.as_ref().ok_or_else(|| denied(plugin, "process"))?;
        Ok(GrantedProcess { grant, plugin })
    }
}

impl<'g> GrantedProcess<'g> {
    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &'g ProcessGrant {
        self.grant
    }

    pub(super) fn plugin(&self) -> &PluginName {
        self.plugin
    }

    /// Checks that this program may be started. `program` is a name, or a path
    /// as the process will see it.
    ///
    /// # Errors
    /// `denied`, with what is granted.
    pub fn program<'c>(&self, program: &'c str) -> Result<AllowedCommand<'c>, Error> {
        if self.grant.programs.iter().any(|pattern| WildMatch::new(pattern).matches(program)) {
            return Ok(AllowedCommand(Command::Program(program)));
        }
        let granted = match self.grant.programs.as_slice() {
            [] => "no program is".to_owned(),
            patterns => format!("granted are {}", patterns.join(", ")),
        };
        Err(self.refused(&format!("the program `{}` is not granted; {granted}", shown(program)), "programs"))
    }

    /// Checks that a text may be handed to a shell.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn shell<'c>(&self, text: &'c str) -> Result<AllowedCommand<'c>, Error> {
        if self.grant.shell {
            return Ok(AllowedCommand(Command::Shell(text)));
        }
        Err(self.refused("no shell is granted", "shell"))
    }

    /// Checks that the plugin may set a variable of this name.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn variable(&self, name: &str) -> Result<(), Error> {
        if self.grant.environment.iter().any(|pattern| WildMatch::new(pattern).matches(name)) {
            return Ok(());
        }
        Err(self.refused(&format!("the variable `{}` may not be set", shown(name)), "environment"))
    }

    fn refused(&self, what: &str, line: &str) -> Error {
        Error::new(
            Code::Denied,
            format!("{what}; to allow it, change `{line}` under [plugin.{}.grants.process] in wharf.toml", self.plugin),
        )
    }
}

fn shown(text: &str) -> String {
    crate::text::line(text, 128)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(programs: &[&str]) -> Grants {
        let mut process = ProcessGrant::with_reason("a test");
        process.programs = programs.iter().map(|program| (*program).to_owned()).collect();
        process.environment = vec!["LC_*".to_owned()];
        Grants { process: Some(process), ..Grants::default() }
    }

    #[test]
    fn what_is_not_named_is_denied_with_the_line_that_would_allow_it() {
        let plugin: PluginName = "p".parse().expect("legal");
        let error = Grants::default().process(&plugin).expect_err("nothing is granted");
        assert_eq!(error.code, Code::Denied);
        assert!(error.message.contains("[plugin.p.grants.process]"), "{error}");
        let grants = grants(&["git"]);
        let granted = grants.process(&plugin).expect("granted");
        let error = granted.shell("true").expect_err("no shell");
        assert!(error.message.contains("`shell`"), "{error}");
        assert_eq!(granted.variable("LD_PRELOAD").expect_err("not named").code, Code::Denied);
        assert!(granted.variable("LC_ALL").is_ok());
    }

    #[test]
    fn a_program_is_allowed_by_its_name_or_its_path_and_by_no_part_of_either() {
        let plugin: PluginName = "p".parse().expect("legal");
        let grants = grants(&["git", "python3*", "/workspace/*"]);
        let granted = grants.process(&plugin).expect("granted");
        for allowed in ["git", "python3", "python3.11", "/workspace/build.sh"] {
            assert_eq!(granted.program(allowed).expect("allowed").program(), Some(allowed));
        }
        for refused in ["gitk", "/tmp/git", "git/../sh", "sh", "", "./git", "GIT", "/workspace"] {
            assert_eq!(granted.program(refused).expect_err(refused).code, Code::Denied);
        }
    }
}
