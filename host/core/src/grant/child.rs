//! What a grant of children says, whichever capability they are for: which
//! programs, with what, and what they may reach. The checks are here once.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use wildmatch::WildMatch;

use super::{
    expiry::Expiry,
    standing::Holder,
    workspace::{Access, WorkspaceGrant},
};
use crate::Error;

/// What is granted of children, whichever capability they are for: the whole of
/// a grant of terminals, and most of a grant of processes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChildGrant {
    /// Why; for the person who reads the configuration later.
    #[schemars(regex(pattern = r"\S"))]
    pub reason: String,
    /// Until when: a day, which it still holds in UTC, or a time with its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
    /// Programs that may be started: names (`git`), which are looked for in
    /// the system's directories, or paths as the program sees them
    /// (`/usr/bin/git`). `*` stands for any characters but `/`, `?` for one;
    /// `**` at the end of a path for all that is below it, and alone for every
    /// program. A pattern without `/` stands for names alone, and what a name
    /// leads to is never a file that the plugin or its programs may write. Some
    /// interactive programs start others when they are told to (`!ls`).
    #[serde(default)]
    pub programs: Vec<String>,
    /// Whether a shell may be started, or handed a text. It starts any program
    /// that its containment shows, whatever `programs` says.
    #[serde(default)]
    pub shell: bool,
    /// Names of variables that the plugin may set; `*` and `?` as above. Some
    /// (`LD_PRELOAD`, `GIT_SSH_COMMAND`, `PYTHONSTARTUP`) make a program run what they say.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Names of variables that are taken over from the host's own environment,
    /// where they are set there.
    #[serde(default)]
    pub inherited_environment: Vec<String>,
    /// Seconds after which a process is killed and a terminal is closed, however
    /// it goes.
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

impl ChildGrant {
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

/// Proof that a plugin may have children, and the checks of what is asked for.
#[derive(Debug, Clone, Copy)]
pub struct GrantedChildren<'g> {
    pub(super) holder: Holder<'g>,
    pub(super) grant: &'g ChildGrant,
    /// What the same plugin may do with files, if it may.
    pub(super) workspace: Option<&'g WorkspaceGrant>,
}

/// Proof that this may be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedCommand<'c>(CommandKind<'c>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum CommandKind<'c> {
    Program(&'c str),
    Shell(&'c str),
    Interactive,
}

impl<'c> AllowedCommand<'c> {
    /// The program, unless it is for a shell.
    #[must_use]
    pub fn program(&self) -> Option<&'c str> {
        match self.0 {
            CommandKind::Program(program) => Some(program),
            CommandKind::Shell(_) | CommandKind::Interactive => None,
        }
    }

    /// The text for the shell. Without one, and without a program, it is a
    /// shell that reads what is typed.
    #[must_use]
    pub fn shell_text(&self) -> Option<&'c str> {
        match self.0 {
            CommandKind::Shell(text) => Some(text),
            CommandKind::Program(_) | CommandKind::Interactive => None,
        }
    }
}

impl<'g> GrantedChildren<'g> {
    /// Names of variables that are taken over from the host's own environment.
    #[must_use]
    pub fn inherited_environment(&self) -> &'g [String] {
        &self.grant.inherited_environment
    }

    /// How long a child that starts now may run: no longer than the grant holds.
    #[must_use]
    pub fn lifetime(&self) -> Duration {
        self.holder.lasting(Duration::from_secs(self.grant.lifetime_seconds))
    }

    /// Whether children have the host's network.
    #[must_use]
    pub fn network(&self) -> bool {
        self.grant.network
    }

    /// What children may read beside the system and their workspace.
    #[must_use]
    pub fn readable(&self) -> &'g [PathBuf] {
        &self.grant.readable
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
        self.grant.require_containment
    }

    /// Checks that the plugin may set a variable of this name.
    ///
    /// # Errors
    /// `denied`, naming the line of configuration that would allow it.
    pub fn variable(&self, name: &str) -> Result<(), Error> {
        if self.grant.environment.iter().any(|pattern| WildMatch::new(pattern).matches(name)) {
            return Ok(());
        }
        let what = format!("may not set the variable `{}`", shown(name));
        Err(self.holder.beyond(what, addition(name, "environment")))
    }

    pub(super) fn program<'c>(&self, program: &'c str) -> Result<AllowedCommand<'c>, Error> {
        if self.grant.programs.iter().any(|pattern| names(pattern, program)) {
            return Ok(AllowedCommand(CommandKind::Program(program)));
        }
        let granted = match &self.grant.programs[..] {
            [] => "no program is granted".to_owned(),
            patterns => format!("granted are {}", patterns.join(", ")),
        };
        let what = format!("may not start the program `{}` ({granted})", shown(program));
        Err(self.holder.beyond(what, addition(program, "programs")))
    }

    pub(super) fn shell_command<'c>(&self, text: &'c str) -> Result<AllowedCommand<'c>, Error> {
        self.any_shell().map(|()| AllowedCommand(CommandKind::Shell(text)))
    }

    pub(super) fn interactive_shell(&self) -> Result<AllowedCommand<'static>, Error> {
        self.any_shell().map(|()| AllowedCommand(CommandKind::Interactive))
    }

    fn any_shell(&self) -> Result<(), Error> {
        if self.grant.shell {
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
