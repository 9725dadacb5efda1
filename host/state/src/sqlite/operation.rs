//! Decides whether an operation happens: the writer by beginning it, or the caller by
//! giving up, whichever comes first.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

/// Open until the operation is begun or abandoned; never both.
#[derive(Debug, Default)]
pub(super) struct OperationState(AtomicU8);

const OPEN: u8 = 0;
const BEGUN: u8 = 1;
const ABANDONED: u8 = 2;

impl OperationState {
    /// Also true for an operation that had begun before: after a rollback it begins again.
    pub(super) fn begin(&self) -> bool {
        let before = self.0.compare_exchange(OPEN, BEGUN, Ordering::AcqRel, Ordering::Acquire);
        matches!(before, Ok(_) | Err(BEGUN))
    }

    pub(super) fn abandon(&self) -> bool {
        self.0.compare_exchange(OPEN, ABANDONED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.0.load(Ordering::Acquire) == ABANDONED
    }
}

/// Abandons the operation when the caller's future is dropped.
#[derive(Debug, Default)]
pub(super) struct AbandonOnDrop(pub(super) Arc<OperationState>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_begun_or_abandoned_and_never_both() {
        let state = OperationState::default();
        assert!(state.abandon());
        assert!(state.is_abandoned());
        assert!(!state.begin());

        let state = OperationState::default();
        assert!(state.begin());
        assert!(!state.abandon());
        assert!(state.begin(), "it begins again after a rollback");
        assert!(!state.is_abandoned());
    }

    #[test]
    fn a_caller_that_goes_away_abandons_what_has_not_begun() {
        let waiting = AbandonOnDrop::default();
        let state = Arc::clone(&waiting.0);
        drop(waiting);
        assert!(!state.begin());
    }
}
