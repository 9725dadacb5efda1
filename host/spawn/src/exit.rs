//! How a program ended, and what it left.

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself.
    Exited {
        /// What it said of its success; 0 is good.
        code: i32,
    },
    /// By a signal.
    Signaled {
        /// The system's number of it.
        signal: i32,
    },
}

/// The end of a program, which need not be that of all it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub exit: Exit,
    /// How many processes of its tree lived on at that moment. They may hold
    /// its streams open: do not wait for the end of those.
    pub descendants: u32,
}
