//! The grant of terminals: which interactive programs, with what, and for how
//! long.

use std::path::PathBuf;

use super::{AllowedCommand, Capability, ChildGrant, Expiry, Grants, WorkspaceGrant, standing::Holder};
use crate::{Error, PluginName};

/// Interactive programs in terminals.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalGrant {
    /// Why; for the person who reads the configuration later.
    #[schemars(regex(pattern = r"\S"))]
    pub reason: String,
    /// Until when: a day, which it still holds in UTC, or a time with its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
    /// Programs that may be started: names (`python3`), which are looked for in
    /// the system's directories, or paths as the program sees them
    /// (`/usr/bin/python3`). `*` stands for any characters but `/`, `?` for one;
    /// `**` at the end of a path for all that is below it, and alone for every
    /// program. A pattern without `/` stands for names alone, and what a name
    /// leads to is never a file that the plugin or its programs may write. Some
    /// interactive programs start others when they are told to (`!ls`).
    #[serde(default)]
    pub programs: Vec<String>,
    /// Whether a shell may be started. It starts any program that its
    /// containment shows, whatever `programs` says.
    #[serde(default)]
    pub shell: bool,
    /// Names of variables that the plugin may set; `*` and `?` as above. Some
    /// (`LD_PRELOAD`, `PYTHONSTARTUP`) make a program run what they say.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Names of variables that are taken over from the host's own environment,
    /// where they are set there.
    #[serde(default)]
    pub inherited_environment: Vec<String>,
    /// Seconds after which a terminal is closed, however it is used.
    #[serde(default = "default_lifetime")]
    #[schemars(range(min = 1))]
    pub lifetime_seconds: u64,
    /// Whether programs have the host's network.
    #[serde(default)]
    pub network: bool,
    /// Files and directories that programs may read, beside the system's
    /// programs and libraries and their own workspace. Absolute; in a
    /// configuration also relative to its file.
    #[serde(default)]
    pub readable: Vec<PathBuf>,
    /// Whether a program that cannot be contained is refused. Without it,
    /// programs may do all that the user of the host may.
    #[serde(default = "yes")]
    pub require_containment: bool,
}

fn default_lifetime() -> u64 {
    24 * 3600
}
fn yes() -> bool {
    true
}

impl TerminalGrant {
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
            lifetime_seconds: default_lifetime(),
            network: false,
            readable: Vec::new(),
            require_containment: true,
        }
    }
}

/// Proof that a plugin may have terminals. The way to a
/// [`super::TerminalOwner`].
#[derive(Debug)]
pub struct GrantedTerminal<'g> {
    grant: &'g TerminalGrant,
    holder: Holder<'g>,
    workspace: Option<&'g WorkspaceGrant>,
}

impl Grants {
    /// Checks that `plugin` may have terminals at all.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn terminal<'g>(&'g self, plugin: &'g PluginName) -> Result<GrantedTerminal<'g>, Error> {
        let (grant, holder) = self
            .standing
            .check(plugin, Capability::Terminal, self.terminal.as_ref(), |grant| grant.expires.as_ref())?;
        Ok(GrantedTerminal { grant, holder, workspace: self.workspace.as_ref() })
    }
}

impl<'g> GrantedTerminal<'g> {
    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &'g TerminalGrant {
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
    /// as the program will see it.
    ///
    /// # Errors
    /// `denied`, with what is granted.
    pub fn program<'c>(&self, program: &'c str) -> Result<AllowedCommand<'c>, Error> {
        self.children().program(program)
    }

    /// Checks that the shell of this machine may be started, to read what is
    /// typed.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn shell(&self) -> Result<AllowedCommand<'static>, Error> {
        self.children().interactive_shell()
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
    use crate::{Code, Context};

    #[test]
    fn a_grant_of_processes_opens_no_terminal_and_a_refusal_names_its_own_table() {
        let plugin: PluginName = "p".parse().expect("legal");
        let process = crate::ProcessGrant { shell: true, ..crate::ProcessGrant::with_reason("a test") };
        let mut grants = Grants { process: Some(process), ..Grants::default() };
        let error = grants.terminal(&plugin).expect_err("nothing is granted");
        assert_eq!(error.code, Code::Denied);
        assert!(error.message.contains("[plugin.p.grants.terminal]"), "{error}");
        grants.terminal =
            Some(TerminalGrant { programs: vec!["python3*".into()], ..TerminalGrant::with_reason("a test") });
        let granted = grants.terminal(&plugin).expect("granted");
        assert_eq!(granted.program("python3.11").expect("allowed").program(), Some("python3.11"));
        for error in [
            granted.shell().expect_err("no shell"),
            granted.program("bash").expect_err("not named"),
            granted.variable("PS1").expect_err("not named"),
        ] {
            assert_eq!(error.code, Code::Denied);
            assert!(error.message.contains("[plugin.p.grants.terminal]"), "{error}");
        }
    }

    #[test]
    fn each_assistant_of_a_session_owns_terminals_of_its_own() {
        let plugin: PluginName = "p".parse().expect("legal");
        let grants = Grants { terminal: Some(TerminalGrant::with_reason("a test")), ..Grants::default() };
        let granted = grants.terminal(&plugin).expect("granted");
        let plain = Context::new("local".parse().expect("legal"), "s".parse().expect("legal"));
        let assisted = Context { assistant: Some("a".parse().expect("legal")), ..plain.clone() };
        assert_eq!(granted.owner(&plain), granted.owner(&plain));
        assert_ne!(granted.owner(&plain), granted.owner(&assisted));
        assert_eq!(granted.workspace(&plain), granted.workspace(&assisted));
    }
}
