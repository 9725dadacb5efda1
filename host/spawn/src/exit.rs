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

/// The system's name of a signal, such as `SIGSEGV`; nothing where it has none.
#[must_use]
pub fn signal_name(number: i32) -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    return nix::sys::signal::Signal::try_from(number).ok().map(nix::sys::signal::Signal::as_str);
    #[cfg(not(target_os = "linux"))]
    return None.filter(|_| number > 0);
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
