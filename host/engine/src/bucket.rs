//! The host's side of a guest's handle to a bucket.

use wharf_core::ScopeKey;
use wharf_state::ScopePolicy;

/// An open bucket: the proof that its scope was granted to this call.
#[derive(Debug, Clone)]
#[expect(unreachable_pub, reason = "the generated bindings re-export it within this crate")]
pub struct Bucket {
    pub(crate) scope: ScopeKey,
    pub(crate) policy: ScopePolicy,
}
