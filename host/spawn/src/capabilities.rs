//! What this machine offers for containing and limiting children, in words for
//! people.
//!
//! Knows nothing of what a request asks for.

use std::fmt;

/// What keeps a child in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contained {
    /// Namespaces: what the child is not shown is not there.
    Bubblewrap,
    /// Landlock and a filter of system calls: what the child is not shown is
    /// refused; that it is there, and how large it is, can be seen.
    Landlock,
}

/// How far [`crate::Limits::processes`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessLimit {
    /// For each tree exactly.
    Tree,
    /// Exactly for each contained tree that runs as another user than root;
    /// those of root are not limited.
    TreeOfAnotherUser,
    /// Counted with all that the same user has running, so a tree may get fewer
    /// when others grow; those of root are not limited.
    User,
}

/// What was found when it was last tried.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// What contains children here, tried with a real program; if nothing does,
    /// what is missing.
    pub containment: Result<Contained, String>,
    /// A program really ran in bubblewrap; if not, why.
    pub bubblewrap: Result<(), String>,
    /// Whether bubblewrap is installed, be it broken.
    pub bubblewrap_is_there: bool,
    /// Landlock offers what is needed; if not, what is missing.
    pub landlock: Result<(), String>,
    /// Children can run as another user: the host is root.
    pub another_user: bool,
    /// How far the limit on processes holds.
    pub process_limit: ProcessLimit,
    /// Memory is limited for each tree as a whole, by a control group; else for
    /// each process by itself.
    pub memory_of_trees: bool,
    /// Users may make user namespaces.
    pub user_namespaces: bool,
    /// The kernel has seccomp filters.
    pub seccomp: bool,
    /// Processes can be watched by descriptor.
    pub pidfd: bool,
    /// Whether the operator accepts nothing but bubblewrap, whatever a grant says.
    pub bubblewrap_required: bool,
    /// Whether what contains nothing is not installed or not offered. Where it is
    /// and failed or did not answer, it is tried again soon.
    pub settled: bool,
    /// What works here only in part, in words for people, with what to do.
    pub warnings: Vec<String>,
}

impl fmt::Display for Capabilities {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.containment {
            Ok(Contained::Bubblewrap) => writeln!(formatter, "containment: bubblewrap works")?,
            Ok(Contained::Landlock) => writeln!(formatter, "containment: Landlock and seccomp work")?,
            Err(missing) => writeln!(formatter, "containment: none, {missing}")?,
        }
        let word = |there| if there { "yes" } else { "no" };
        writeln!(formatter, "children as another user: {}", word(self.another_user))?;
        let processes = match self.process_limit {
            ProcessLimit::Tree => "of each tree",
            ProcessLimit::TreeOfAnotherUser => "of each contained tree that does not run as root",
            ProcessLimit::User => "counted with all that the same user runs, not for root",
        };
        writeln!(formatter, "limit on processes: {processes}")?;
        writeln!(formatter, "limit on memory: of each {}", if self.memory_of_trees { "tree" } else { "process" })?;
        writeln!(formatter, "user namespaces: {}", word(self.user_namespaces))?;
        writeln!(formatter, "seccomp filters: {}", word(self.seccomp))?;
        write!(formatter, "process descriptors: {}", word(self.pidfd))?;
        for warning in &self.warnings {
            write!(formatter, "\nwarning: {warning}")?;
        }
        Ok(())
    }
}
