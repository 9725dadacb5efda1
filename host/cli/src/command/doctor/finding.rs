//! What the doctor finds, and what it advises.

use serde::Serialize;

/// One thing that was looked at. Programs read its members by these names.
#[derive(Serialize)]
pub(super) struct Finding {
    pub(super) what: &'static str,
    pub(super) level: Level,
    pub(super) says: String,
    /// What to do where it is not well, unless `says` says it.
    pub(super) advice: Option<String>,
}

/// How well it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// Something that the operator should know, and that works.
    Warning,
    /// Something that the configuration asks for does not work.
    Error,
}

impl Level {
    /// How a line begins.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "! ",
            Self::Error => "!!",
        }
    }
}

impl Finding {
    pub(super) fn well(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, level: Level::Ok, says: says.into(), advice: None }
    }

    pub(super) fn doubtful(what: &'static str, says: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what, level: Level::Warning, says: says.into(), advice: Some(advice.into()) }
    }

    pub(super) fn ill(what: &'static str, says: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what, level: Level::Error, says: says.into(), advice: Some(advice.into()) }
    }
}
