//! Why there is no browser, and what to do.

use std::{io, path::PathBuf};

use wharf_spawn::SpawnError;

/// Why the browser cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChromiumError {
    /// None of the known programs is installed.
    #[error(
        "there is no Chromium here: install one (on Debian the package `chromium-headless-shell`), or name it as `program` \
         under [webview] in wharf.toml"
    )]
    NotFound,
    /// The program that was named is not there.
    #[error("{} is no program; name a Chromium as `program` under [webview] in wharf.toml", program.display())]
    NoProgram {
        /// What was named.
        program: PathBuf,
    },
    /// The browser's own sandbox does not work here.
    #[error(
        "Chromium cannot use its own sandbox here ({reason}); allow unprivileged user namespaces on this machine, or, for pages \
         that you trust, say `sandbox = false` under [webview] in wharf.toml"
    )]
    Sandbox {
        /// In the browser's words.
        reason: String,
    },
    /// Its directory cannot be made, or the browser's user cannot reach it.
    #[error("{} cannot hold the browser's profile: {problem}", directory.display())]
    Directory {
        /// Where it was to be.
        directory: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// It ended before it answered.
    #[error("the browser ended while it started ({said}); where the machine is busy, try again")]
    Ended {
        /// The last of what it wrote.
        said: String,
    },
    /// It does not answer.
    #[error("the browser did not answer while it started; try again, or name another one as `program` under [webview]")]
    Silent,
    /// All browsers that there may be have pages.
    #[error(
        "all {browsers} browsers of this host have pages of other tenants (limit `browsers` under [webview.limits]); try \
         again later"
    )]
    Full {
        /// How many there may be.
        browsers: u64,
    },
    /// It crashed too often.
    #[error(
        "the browser crashed {crashes} times within {seconds} s, and is not started again before that time is over"
    )]
    Crashing {
        /// How often.
        crashes: u64,
        /// In which time.
        seconds: u64,
    },
    /// The host is about to end.
    #[error("the host is shutting down and starts no browser")]
    ShuttingDown,
    /// The program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The system refused something.
    #[error("cannot {action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl ChromiumError {
    /// The error for `map_err` after an attempt to do `action`.
    pub(crate) fn system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { action, source }
    }
}
