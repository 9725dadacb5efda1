//! Exit codes of the command, and the errors that choose one.

/// Exit code: the tool answered with an error, or the call failed.
pub(crate) const FAILED: u8 = 1;
/// Exit code: the configuration, a plugin or the data directory is not usable.
pub(crate) const UNUSABLE: u8 = 3;

/// Exit code: the command line says something that cannot be.
pub(crate) const MISUSED: u8 = 2;

/// Marks an error as a misuse of the command.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misused(pub(crate) String);

/// Marks an error that the operator has to mend.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unusable(pub(crate) String);

impl Unusable {
    /// An error that the operator has to mend, in its words and those of its causes.
    pub(crate) fn of(error: &dyn std::error::Error) -> Self {
        Self(wharf::with_causes(error))
    }
}

/// The exit code of an error.
pub(crate) fn code(error: &anyhow::Error) -> u8 {
    match error {
        error if error.is::<Unusable>() => UNUSABLE,
        error if error.is::<Misused>() => MISUSED,
        _ => FAILED,
    }
}
