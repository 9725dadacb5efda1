//! Why one signature is no evidence.

/// Why one signature is no evidence.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// What is wrong and, where that helps, what to do.
    pub(crate) reason: String,
    pub(crate) cause: Cause,
}

/// What another attempt could change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Nothing: it is no evidence, whatever it is over.
    Unusable,
    /// The signature is over other bytes, as far as can be told: perhaps the manifest.
    OtherBytes,
    /// The key that it was checked by is not the signer's.
    OtherKey,
}

impl Refusal {
    pub(crate) fn unusable(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), cause: Cause::Unusable }
    }

    pub(crate) fn other_bytes(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), cause: Cause::OtherBytes }
    }

    pub(crate) fn other_key(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), cause: Cause::OtherKey }
    }

    /// Which of the refusals by two keys tells more: one by a key that may be the signer's.
    pub(crate) fn or(self, later: Self) -> Self {
        if later.cause == Cause::OtherKey || self.cause == Cause::OtherBytes { self } else { later }
    }
}
