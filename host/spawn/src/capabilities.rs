//! The abilities of this machine to contain and limit children, in words for
//! people.
//!
//! Knows nothing of requests.

use std::fmt;

/// The mechanism that contains a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxMechanism {
    /// A sandbox of namespaces: a file that it does not show does not exist for the child.
    Namespaces,
    /// Landlock and a filter of system calls: they refuse access to a file that the sandbox
    /// does not show, but the child can see that it exists and its size.
    Landlock,
}

impl SandboxMechanism {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
        }
    }
}

/// Why this machine lacks an ability, in words for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MissingAbility(pub String);

/// The processes that [`crate::ChildLimits::processes`] counts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessLimitScope {
    /// The processes of each tree.
    Tree,
    /// The processes of each contained tree of another user than root;
    /// trees of root have no limit.
    TreeOfAnotherUser,
    /// All processes of the same user, so a tree may get fewer
    /// when others grow; trees of root have no limit.
    User,
    /// None: this system enforces no [`crate::ChildLimits`] at all.
    Nothing,
}

/// The result of the last probe of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The mechanism that contains children here, tried with a real program; else
    /// what is missing.
    pub containment: Result<SandboxMechanism, MissingAbility>,
    /// Whether a program really ran in namespaces of its own; else the reason why not.
    pub namespaces: Result<(), MissingAbility>,
    /// Whether Landlock offers every right that containment needs; else what is missing.
    pub landlock: Result<(), MissingAbility>,
    /// The version of Landlock whose rights the kernel has, up to the last one that containment
    /// needs, 6; 0 without Landlock.
    pub landlock_version: u32,
    /// Whether children can run as another user: the host is root.
    pub another_user: bool,
    /// The processes that the limit on processes counts together.
    pub process_limit: ProcessLimitScope,
    /// Whether a control group limits the memory of each tree as a whole; else the limit
    /// is for each process by itself.
    pub memory_of_trees: bool,
    /// Whether users may make user namespaces.
    pub user_namespaces: bool,
    /// Whether the kernel has seccomp filters.
    pub seccomp: bool,
    /// Whether processes can be watched by descriptor.
    pub pidfd: bool,
    /// Whether the operator accepts namespaces alone, whatever a grant says.
    pub namespaces_required: bool,
    /// Whether a missing containment lasts until the operator allows one: the system forbids
    /// or lacks what it needs. The spawner soon tries again what failed or did not answer.
    pub settled: bool,
    /// Abilities that work in part, in words for people, each with a remedy.
    pub warnings: Vec<String>,
}

impl fmt::Display for Capabilities {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.containment {
            Ok(SandboxMechanism::Namespaces) => writeln!(formatter, "containment: namespaces work")?,
            Ok(SandboxMechanism::Landlock) => writeln!(formatter, "containment: Landlock and seccomp work")?,
            Err(missing) => writeln!(formatter, "containment: none, {missing}")?,
        }
        let word = |there| if there { "yes" } else { "no" };
        writeln!(formatter, "children as another user: {}", word(self.another_user))?;
        let processes = match self.process_limit {
            ProcessLimitScope::Tree => "of each tree",
            ProcessLimitScope::TreeOfAnotherUser => "of each contained tree that does not run as root",
            ProcessLimitScope::User => "counted with all that the same user runs, not for root",
            ProcessLimitScope::Nothing => "none",
        };
        writeln!(formatter, "limit on processes: {processes}")?;
        let memory = match self.process_limit {
            ProcessLimitScope::Nothing => "none",
            _ if self.memory_of_trees => "of each tree",
            _ => "of each process",
        };
        writeln!(formatter, "limit on memory: {memory}")?;
        writeln!(formatter, "user namespaces: {}", word(self.user_namespaces))?;
        writeln!(formatter, "seccomp filters: {}", word(self.seccomp))?;
        write!(formatter, "process descriptors: {}", word(self.pidfd))?;
        for warning in &self.warnings {
            write!(formatter, "\nwarning: {warning}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
impl Capabilities {
    /// Of a machine that lacks nothing.
    pub(crate) fn whole() -> Self {
        Self {
            containment: Ok(SandboxMechanism::Namespaces),
            namespaces: Ok(()),
            landlock: Ok(()),
            landlock_version: 6,
            another_user: true,
            process_limit: ProcessLimitScope::Tree,
            memory_of_trees: true,
            user_namespaces: true,
            seccomp: true,
            pidfd: true,
            namespaces_required: false,
            settled: true,
            warnings: Vec::new(),
        }
    }
}
