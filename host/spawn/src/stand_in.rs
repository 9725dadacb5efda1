//! Programs that play the part of others, as the cases of a plugin want it.
//!
//! A stand-in changes which file is run, and with which arguments. The grant was checked for
//! the program that was named; streams, limits, containment and user are those that it would
//! have had. Knows nothing of cases and scripts.

use std::{ffi::OsString, fmt, path::PathBuf, sync::Arc};

use wharf_core::{Error, grant::AllowedCommand};

use crate::policy::PolicyError;

/// Says which program plays the part of another.
pub trait StandIns: Send + Sync + 'static {
    /// The program to run instead of this one; none where it is to run itself. A shell is the
    /// program `sh`, with the arguments `-c` and its text where it has one.
    ///
    /// Called by the thread that starts the program, so it must not block.
    ///
    /// # Errors
    /// Why the program may not run at all. The plugin gets the error as it is.
    fn stand_in(&self, program: &str, arguments: &[String]) -> Result<Option<StandIn>, Error>;
}

/// A program that plays the part of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandIn {
    /// Absolute path of the program, on the host and for the child alike.
    pub program: PathBuf,
    /// Its arguments, its own name not included.
    pub arguments: Vec<OsString>,
    /// Files and directories that it reads, the program itself among them.
    pub readable: Vec<PathBuf>,
}

/// The stand-ins of a spawner; most have none.
#[derive(Clone, Default)]
pub(crate) struct ChosenStandIns(Option<Arc<dyn StandIns>>);

impl fmt::Debug for ChosenStandIns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ChosenStandIns").field(&self.0.is_some()).finish()
    }
}

impl ChosenStandIns {
    pub(crate) fn new(stand_ins: Arc<dyn StandIns>) -> Self {
        Self(Some(stand_ins))
    }

    pub(crate) fn find(
        &self,
        command: &AllowedCommand<'_>,
        arguments: &[String],
    ) -> Result<Option<StandIn>, PolicyError> {
        let Some(stand_ins) = &self.0 else { return Ok(None) };
        let found = match (command.program(), command.shell_text()) {
            (Some(program), _) => stand_ins.stand_in(program, arguments),
            (None, Some(text)) => stand_ins.stand_in("sh", &["-c".to_owned(), text.to_owned()]),
            (None, None) => stand_ins.stand_in("sh", &[]),
        };
        found.map_err(|source| PolicyError::Refused { source })
    }
}
