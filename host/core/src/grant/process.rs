//! The grant of child processes: which programs, with what, and for how long.

use std::{path::PathBuf, time::Duration};

use super::{AllowedCommand, Capability, ChildGrant, Expiry, Grants, WorkspaceGrant, standing::Holder};
use crate::{Error, PluginName};

/// Child processes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessGrant {
    /// Why; for the person who reads the configuration later.
    #[schemars(regex(pattern = r"\S"))]
    pub reason: String,
    /// Until when: a day, which it still holds in UTC, or a time with its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
    /// Programs that may be started: names (`git`), which are looked for in
    /// the system's directories, or paths as the process sees them
    /// (`/usr/bin/git`). `*` stands for any characters but `/`, `?` for one;
    /// `**` at the end of a path for all that is below it, and alone for every
    /// program. A pattern without `/` stands for names alone, and what a name
    /// leads to is never a file that the plugin or its processes may write.
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
    #[schemars(range(min = 1))]
    pub maximum_concurrent: u64,
    /// Seconds after which a process is killed, however it goes.
    #[serde(default = "default_lifetime")]
    #[schemars(range(min = 1))]
    pub lifetime_seconds: u64,
    /// Whether processes have the host's network.
    #[serde(default)]
    pub network: bool,
    /// Files and directories that processes may read, beside the system's
    /// programs and libraries and their own workspace. Absolute; in a
    /// configuration also relative to its file.
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
            expires: None,
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
    holder: Holder<'g>,
    workspace: Option<&'g WorkspaceGrant>,
}

impl Grants {
    /// Checks that `plugin` may have processes at all.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn process<'g>(&'g self, plugin: &'g PluginName) -> Result<GrantedProcess<'g>, Error> {
        let (grant, holder) =
            self.standing.check(plugin, Capability::Process, self.process.as_ref(), |grant| grant.expires.as_ref())?;
        Ok(GrantedProcess { grant, holder, workspace: self.workspace.as_ref() })
    }
}

impl<'g> GrantedProcess<'g> {
    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &'g ProcessGrant {
        self.grant
    }

    pub(super) fn plugin(&self) -> &PluginName {
        self.holder.plugin
    }

    /// The same in the words that all grants of children share.
    #[must_use]
    pub fn children(&self) -> ChildGrant<'g> {
        ChildGrant {
            holder: self.holder,
            programs: &self.grant.programs,
            shell: self.grant.shell,
            environment: &self.grant.environment,
            inherited_environment: &self.grant.inherited_environment,
            lifetime_seconds: self.grant.lifetime_seconds,
            network: self.grant.network,
            readable: &self.grant.readable,
            require_containment: self.grant.require_containment,
            workspace: self.workspace,
        }
    }

    /// Checks that this program may be started. `program` is a name, or a path
    /// as the process will see it.
    ///
    /// # Errors
    /// `denied`, with what is granted.
    pub fn program<'c>(&self, program: &'c str) -> Result<AllowedCommand<'c>, Error> {
        self.children().program(program)
    }

    /// Checks that a text may be handed to a shell.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn shell<'c>(&self, text: &'c str) -> Result<AllowedCommand<'c>, Error> {
        self.children().shell_command(text)
    }

    /// Checks that the plugin may set a variable of this name.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn variable(&self, name: &str) -> Result<(), Error> {
        self.children().variable(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

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
        assert!(error.message.contains("`shell = true`"), "{error}");
        assert_eq!(granted.variable("LD_PRELOAD").expect_err("not named").code, Code::Denied);
        assert!(granted.variable("LC_ALL").is_ok());
    }

    #[test]
    fn a_program_is_allowed_by_its_name_or_its_path_and_by_no_part_of_either() {
        let plugin: PluginName = "p".parse().expect("legal");
        let grants = grants(&["git", "python3*", "/workspace/*", "/opt/tools/**"]);
        let granted = grants.process(&plugin).expect("granted");
        for allowed in ["git", "python3", "python3.11", "/workspace/build.sh", "/opt/tools/a", "/opt/tools/bin/a"] {
            assert_eq!(granted.program(allowed).expect("allowed").program(), Some(allowed));
        }
        for refused in ["gitk", "/tmp/git", "git/../sh", "sh", "", "./git", "GIT", "/workspace", "/opt/tools", "/opt"] {
            assert_eq!(granted.program(refused).expect_err(refused).code, Code::Denied);
        }
    }

    #[test]
    fn a_star_stops_at_a_slash_so_that_no_file_of_a_guest_is_named_by_it() {
        let plugin: PluginName = "p".parse().expect("legal");
        let named = |pattern: &str, program: &str| {
            let grants = grants(&[pattern]);
            grants.process(&plugin).expect("granted").program(program).is_ok()
        };
        for (pattern, program) in [
            ("git*", "git-x/.git/hooks/pre-commit"),
            ("git*", "git/x"),
            ("*", "a/b"),
            ("*", "/usr/bin/git"),
            ("?/a", "a/b/a"),
            ("/workspace/*", "/workspace/a/b"),
            ("/workspace/*/run", "/workspace/a/b/run"),
        ] {
            assert!(!named(pattern, program), "{pattern} names {program}");
        }
        for (pattern, program) in [
            ("git*", "git-upload-pack"),
            ("*", "git"),
            ("**", "git"),
            ("**", "/usr/bin/git"),
            ("/workspace/*/run", "/workspace/a/run"),
        ] {
            assert!(named(pattern, program), "{pattern} does not name {program}");
        }
    }
}
