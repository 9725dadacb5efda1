//! Programs for which it is another time than for everybody else, as on a machine whose clock is wrong.

use std::path::PathBuf;

use wharf_test_support::unpacked::library;

use crate::{Command, artifacts::target};

/// What tells programs another time. Their clock that counts from the start of the machine stays right:
/// a span has its length on a machine whose clock is wrong, too.
#[derive(Debug)]
pub struct WrongClock {
    library: PathBuf,
}

impl WrongClock {
    /// Nothing where there is no libfaketime, which says so.
    #[must_use]
    pub fn find() -> Option<Self> {
        let library = library("faketime", "faketime/libfaketimeMT.so.1", &target())?;
        Some(Self { library })
    }

    /// A command for which it is so many seconds later than it is, or earlier where it is negative.
    ///
    /// # Panics
    /// Where the path of the library is no text.
    #[must_use]
    pub fn ahead(&self, seconds: i64, command: Command) -> Command {
        command
            .env("LD_PRELOAD", self.library.to_str().expect("text"))
            .env("FAKETIME", &format!("{seconds:+}s"))
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            // A killed program would leave what its copies share.
            .env("FAKETIME_DISABLE_SHM", "1")
    }
}
