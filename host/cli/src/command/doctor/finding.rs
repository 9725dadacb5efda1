//! What the doctor finds, and what it advises.

/// One thing that was looked at.
pub(super) struct Finding {
    pub(super) what: &'static str,
    pub(super) says: String,
    /// What to do where it is not well.
    pub(super) advice: Option<String>,
}

impl Finding {
    pub(super) fn well(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, says: says.into(), advice: None }
    }

    pub(super) fn ill(what: &'static str, says: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what, says: says.into(), advice: Some(advice.into()) }
    }
}
