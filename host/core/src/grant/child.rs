//! What a grant of children says, whichever capability they are for: which
//! programs, with what, and what they may reach. The checks are here once.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use wildmatch::WildMatch;

use super::{Access, WorkspaceGrant, standing::Holder};
use crate::Error;

/// What was granted of children, and the checks of what is asked for.
#[derive(Debug, Clone, Copy)]
pub struct ChildGrant<'g> {
    pub(super) holder: Holder<'g>,
    pub(super) programs: &'g [String],
    pub(super) shell: bool,
    pub(super) environment: &'g [String],
    pub(super) inherited_environment: &'g [String],
    pub(super) lifetime_seconds: u64,
    pub(super) network: bool,
    pub(super) readable: &'g [PathBuf],
    pub(super) require_containment: bool,
    /// What the same plugin may do with files, if it may.
    pub(super) workspace: Option<&'g WorkspaceGrant>,
}

/// Proof that this may be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedCommand<'c>(Command<'c>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Command<'c> {
    Program(&'c str),
    Shell(&'c str),
    Interactive,
}

impl<'c> AllowedCommand<'c> {
    /// The program, unless it is for a shell.
    #[must_use]
    pub fn program(&self) -> Option<&'c str> {
        match self.0 {
            Command::Program(program) => Some(program),
            Command::Shell(_) | Command::Interactive => None,
        }
    }

    /// The text for the shell. Without one, and without a program, it is a
    /// shell that reads what is typed.
    #[must_use]
    pub fn shell_text(&self) -> Option<&'c str> {
        match self.0 {
            Command::Shell(text) => Some(text),
            Command::Program(_) | Command::Interactive => None,
        }
    }
}

impl<'g> ChildGrant<'g> {
    /// Names of variables that are taken over from the host's own environment.
    #[must_use]
    pub fn inherited_environment(&self) -> &'g [String] {
        self.inherited_environment
    }

    /// How long a child that starts now may run: no longer than the grant holds.
    #[must_use]
    pub fn lifetime(&self) -> Duration {
        self.holder.lasting(Duration::from_secs(self.lifetime_seconds))
    }

    /// Whether children have the host's network.
    #[must_use]
    pub fn network(&self) -> bool {
        self.network
    }

    /// What children may read beside the system and their workspace.
    #[must_use]
    pub fn readable(&self) -> &'g [PathBuf] {
        self.readable
    }

    /// Folders of the host in which the plugin itself may write, beside the
    /// workspace.
    pub fn writable_folders(&self) -> impl Iterator<Item = &'g Path> {
        let folders = self.workspace.into_iter().flat_map(|workspace| &workspace.exchange);
        folders.filter(|folder| folder.access == Access::Write).map(|folder| folder.path.as_path())
    }

    /// Whether a child that cannot be contained is refused.
    #[must_use]
    pub fn requires_containment(&self) -> bool {
        self.require_containment
    }

    /// Checks that the plugin may set a variable of this name.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn variable(&self, name: &str) -> Result<(), Error> {
        if self.environment.iter().any(|pattern| WildMatch::new(pattern).matches(name)) {
            return Ok(());
        }
        let what = format!("may not set the variable `{}`", shown(name));
        Err(self.holder.beyond(what, addition(name, "environment")))
    }

    pub(super) fn program<'c>(&self, program: &'c str) -> Result<AllowedCommand<'c>, Error> {
        if self.programs.iter().any(|pattern| names(pattern, program)) {
            return Ok(AllowedCommand(Command::Program(program)));
        }
        let granted = match self.programs {
            [] => "no program is granted".to_owned(),
            patterns => format!("granted are {}", patterns.join(", ")),
        };
        let what = format!("may not start the program `{}` ({granted})", shown(program));
        Err(self.holder.beyond(what, addition(program, "programs")))
    }

    pub(super) fn shell_command<'c>(&self, text: &'c str) -> Result<AllowedCommand<'c>, Error> {
        self.any_shell().map(|()| AllowedCommand(Command::Shell(text)))
    }

    pub(super) fn interactive_shell(&self) -> Result<AllowedCommand<'static>, Error> {
        self.any_shell().map(|()| AllowedCommand(Command::Interactive))
    }

    fn any_shell(&self) -> Result<(), Error> {
        if self.shell {
            return Ok(());
        }
        Err(self.holder.beyond("may not start a shell".to_owned(), "set `shell = true`".to_owned()))
    }
}

/// Whether a pattern stands for a program, part of a path by part: a `*` that
/// reached over a `/` would stand for files that a guest has put somewhere.
fn names(pattern: &str, program: &str) -> bool {
    let mut parts = program.split('/');
    let mut patterns = pattern.split('/').peekable();
    while let Some(pattern) = patterns.next() {
        let Some(part) = parts.next() else { return false };
        if pattern == "**" && patterns.peek().is_none() {
            return true;
        }
        if !WildMatch::new(pattern).matches(part) {
            return false;
        }
    }
    parts.next().is_none()
}

/// The order to add a name to a list of patterns. Guests choose what they ask
/// for: one that asks for `*`, or for what reads otherwise in a file than on a
/// screen, gets no line that somebody may copy.
fn addition(wanted: &str, key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'/' | b'@');
    if (1..=SHOWN_BYTES).contains(&wanted.len()) && wanted.bytes().all(plain) {
        format!("add \"{wanted}\" to `{key}`")
    } else {
        format!("change `{key}`")
    }
}

const SHOWN_BYTES: usize = 128;

fn shown(text: &str) -> String {
    crate::text::line(text, SHOWN_BYTES)
}
