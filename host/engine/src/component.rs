//! A component's bytes and what names them.

use std::borrow::Cow;

use wharf_core::Digest;

use crate::prepared::PreparedComponent;

/// The bytes of a component, not looked at yet, and their digest.
#[derive(Debug, Clone)]
pub struct Component {
    bytes: Cow<'static, [u8]>,
    digest: Digest,
    prepared: Option<PreparedComponent>,
}

impl Component {
    /// Takes bytes and makes their digest, which takes a millisecond for each
    /// few megabytes.
    #[must_use]
    pub fn new(bytes: impl Into<Cow<'static, [u8]>>) -> Self {
        let bytes = bytes.into();
        Self { digest: Digest::of(&bytes), bytes, prepared: None }
    }

    /// Takes bytes whose digest is known, because they are part of the program
    /// and it was made with them.
    ///
    /// The digest decides which compiled code runs: a wrong one runs another
    /// component's.
    #[must_use]
    pub const fn with_digest(bytes: &'static [u8], digest: Digest) -> Self {
        Self { bytes: Cow::Borrowed(bytes), digest, prepared: None }
    }

    /// The same with what was made of it when the program was built.
    ///
    /// It is run as it is: it must have been made of this component, by this library.
    #[must_use]
    pub fn with_prepared(self, prepared: PreparedComponent) -> Self {
        Self { prepared: Some(prepared), ..self }
    }

    pub(crate) const fn prepared(&self) -> Option<&PreparedComponent> {
        self.prepared.as_ref()
    }

    /// What names it.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
