//! How a host call ended, by its return value.

use wharf_core::{Code, audit::AuditOutcome};

use super::{crossing::Crossing, weight::Weight};

/// A return value of a host function.
pub(crate) trait Returned: Weight + Crossing {
    /// How the call ended.
    fn outcome(&self) -> AuditOutcome;
}

/// An error of a host function, as the guest gets it.
pub(crate) trait Refusal {
    /// Its code.
    fn code(&self) -> Code;
}

impl<T: Weight + Crossing, E: Refusal + Crossing> Returned for (Result<T, E>,) {
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
