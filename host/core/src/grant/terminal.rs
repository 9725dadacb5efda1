//! The grant of terminals: which interactive programs, with what, and for how
//! long.

use super::child::{AllowedCommand, ChildGrant, GrantedChildren};
use crate::{Error, PluginName};

/// Interactive programs in terminals: all that a grant of children says.
pub type TerminalGrant = ChildGrant;

/// Proof that a plugin may have terminals. The way to a
/// [`super::TerminalOwner`].
#[derive(Debug)]
pub struct GrantedTerminal<'g>(pub(super) GrantedChildren<'g>);

impl<'g> GrantedTerminal<'g> {
    /// What was granted.
    #[must_use]
    pub fn grant(&self) -> &'g TerminalGrant {
        self.0.grant
    }

    pub(super) fn plugin(&self) -> &PluginName {
        self.0.holder.plugin
    }

    /// The same in the words that all grants of children share.
    #[must_use]
    pub fn children(&self) -> GrantedChildren<'g> {
        self.0
    }

    /// Checks that this program may be started. `program` is a name, or a path
    /// as the program will see it.
    ///
    /// # Errors
    /// `denied`, with what is granted.
    pub fn program<'c>(&self, program: &'c str) -> Result<AllowedCommand<'c>, Error> {
        self.0.program(program)
    }

    /// Checks that the shell of this machine may be started, to read what is
    /// typed.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn shell(&self) -> Result<AllowedCommand<'static>, Error> {
        self.0.interactive_shell()
    }

    /// Checks that the plugin may set a variable of this name.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn variable(&self, name: &str) -> Result<(), Error> {
        self.0.variable(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Context, Grants};

    #[test]
    fn a_grant_of_processes_opens_no_terminal_and_a_refusal_names_its_own_table() {
        let plugin: PluginName = "p".parse().expect("legal");
        let process = crate::ProcessGrant::of(ChildGrant { shell: true, ..ChildGrant::with_reason("a test") });
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
