//! The end of a program: its exit, and the processes that outlived it.

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildExit {
    /// By itself.
    Exited {
        /// Its exit code; 0 for success.
        code: i32,
    },
    /// By a signal.
    Signaled {
        /// The system's number of the signal.
        signal: i32,
    },
}

/// The system's name of a signal, such as `SIGSEGV`; none for an unknown number.
#[must_use]
pub fn signal_name(number: i32) -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    return nix::sys::signal::Signal::try_from(number).ok().map(nix::sys::signal::Signal::as_str);
    #[cfg(not(target_os = "linux"))]
    return None.filter(|_| number > 0);
}

/// The end of a program, which processes that it started may outlive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildEnd {
    /// How it ended.
    pub exit: ChildExit,
    /// The number of processes of its tree that lived on at that moment. They may hold
    /// its streams open: do not wait for the end of the streams.
    pub descendants: u32,
}
