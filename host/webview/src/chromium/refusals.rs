//! What the proxy of a page refused lately, to say why something was not loaded.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use crate::DeniedConnection;

/// As many are remembered.
const MOST: usize = 64;

/// What was refused, the last one at the end.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusals(Arc<Mutex<VecDeque<DeniedConnection>>>);

impl Refusals {
    /// Remembers one.
    pub(super) fn add(&self, refused: DeniedConnection) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST {
            kept.pop_front();
        }
        kept.push_back(refused);
    }

    /// Why the last one was refused that is meant.
    pub(super) fn find(&self, is_meant: impl Fn(&str) -> bool) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().rev().find(|refused| is_meant(&refused.target)).map(|refused| refused.reason.message.clone())
    }
}
