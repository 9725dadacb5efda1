//! How a host call ended, by what it returned.

use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wharf_core::{Code, audit::AuditOutcome};

use crate::bindings::wharf::plugin::types;

/// What a host call returned to the guest.
pub(crate) trait Answered {
    fn outcome(&self) -> AuditOutcome;
}

impl<T> Answered for (Result<T, types::Error>,) {
    fn outcome(&self) -> AuditOutcome {
        match &self.0 {
            Ok(_) => AuditOutcome::Ok,
            // The host wrote the word; those that are unknown are a defect.
            Err(error) => AuditOutcome::Failed(Code::from_guest(&error.code)),
        }
    }
}

impl<T> Answered for (Result<T, ErrorCode>,) {
    fn outcome(&self) -> AuditOutcome {
        let Err(error) = &self.0 else { return AuditOutcome::Ok };
        AuditOutcome::Failed(match error {
            ErrorCode::Access | ErrorCode::NotPermitted | ErrorCode::ReadOnly => Code::Denied,
            ErrorCode::NoEntry => Code::NotFound,
            ErrorCode::Exist => Code::Conflict,
            ErrorCode::Quota | ErrorCode::InsufficientSpace | ErrorCode::InsufficientMemory => Code::Limit,
            ErrorCode::Io => Code::Unavailable,
            _ => Code::Invalid,
        })
    }
}

macro_rules! cannot_fail {
    ($($returned:ty),*) => {
        $(impl Answered for $returned {
            fn outcome(&self) -> AuditOutcome {
                AuditOutcome::Ok
            }
        })*
    };
}

cannot_fail!((), (bool,), (u32,), (u64,), (f64,), (String,), (Option<String>,), (Vec<String>,));
