//! How a host call ended, by what it returned.

use wharf_core::{Code, audit::AuditOutcome};

use super::weight::Weight;

/// What a host call returns to the guest.
pub(crate) trait Returned: Weight {
    /// How the call ended.
    fn outcome(&self) -> AuditOutcome;
}

/// What a host function tells a guest instead of what it was asked for.
pub(crate) trait Refusal {
    /// Why.
    fn code(&self) -> Code;
}

impl<T: Weight, E: Refusal> Returned for (Result<T, E>,) {
    fn outcome(&self) -> AuditOutcome {
        self.0.as_ref().map_or_else(|refusal| AuditOutcome::Failed(refusal.code()), |_| AuditOutcome::Ok)
    }
}

macro_rules! cannot_fail {
    ($($returned:ty),*) => {
        $(impl Returned for $returned {
            fn outcome(&self) -> AuditOutcome {
                AuditOutcome::Ok
            }
        })*
    };
}

cannot_fail!((), (u64,), (String,), (Option<String>,));
