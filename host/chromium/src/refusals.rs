//! The latest refusals of a page's proxy, which explain why something was not loaded.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use wharf_core::Code;
use wharf_webview::{DeniedConnection, FailureKind};

/// How many are remembered.
const MOST: usize = 64;

/// Refusals, the latest one at the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProxyRefusals(Arc<Mutex<VecDeque<DeniedConnection>>>);

impl ProxyRefusals {
    /// Remembers one.
    pub(crate) fn add(&self, refused: DeniedConnection) {
        let mut kept = self.0.lock();
        if kept.len() == MOST {
            kept.pop_front();
        }
        kept.push_back(refused);
    }

    /// The latest refusal of a target that `is_meant` accepts: its reason, and whether
    /// the policy gave it.
    pub(crate) fn find(&self, is_meant: impl Fn(&str) -> bool) -> Option<(FailureKind, String)> {
        let kept = self.0.lock();
        let meant = kept.iter().rev().find(|refused| is_meant(&refused.target))?;
        let kind = if meant.reason.code == Code::Denied { FailureKind::Denied } else { FailureKind::Network };
        Some((kind, meant.reason.message.clone()))
    }
}
