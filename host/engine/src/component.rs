//! A component's bytes and what names them.

use std::borrow::Cow;

use wharf_core::Digest;

use crate::{
    packed::{unpack, unpacked_size},
    prepared::PreparedComponent,
};

/// The bytes of a component, not looked at yet, and their digest.
#[derive(Debug, Clone)]
pub struct Component {
    bytes: ComponentBytes,
    digest: Digest,
    prepared: Option<PreparedComponent>,
    exports_functions: bool,
}

#[derive(Debug, Clone)]
enum ComponentBytes {
    Plain(Cow<'static, [u8]>),
    /// As [`crate::pack`] leaves them.
    Packed(&'static [u8]),
}

impl Component {
    /// Takes bytes and makes their digest, which takes a millisecond for each
    /// few megabytes.
    #[must_use]
    pub fn new(bytes: impl Into<Cow<'static, [u8]>>) -> Self {
        let bytes = bytes.into();
        Self {
            digest: Digest::of(&bytes),
            bytes: ComponentBytes::Plain(bytes),
            prepared: None,
            exports_functions: false,
        }
    }

    /// Takes packed bytes that are part of the program ([`crate::pack`]), and the digest of
    /// what they come to, which was made with them.
    ///
    /// The digest decides which compiled code runs: a wrong one runs another
    /// component's.
    #[must_use]
    pub const fn of_program(packed: &'static [u8], digest: Digest) -> Self {
        Self { bytes: ComponentBytes::Packed(packed), digest, prepared: None, exports_functions: false }
    }

    /// The same with what was made of it when the program was built.
    ///
    /// It is run as it is: it must have been made of this component, by this library.
    #[must_use]
    pub fn with_prepared(self, prepared: PreparedComponent) -> Self {
        Self { prepared: Some(prepared), ..self }
    }

    /// Has each function that it exports be a tool where `exports_functions` says so, instead of those
    /// that it lists by the contract: so a component that was made for another host becomes a plugin.
    /// What was said before stays.
    #[must_use]
    pub fn with_functions(self, exports_functions: bool) -> Self {
        Self { exports_functions: self.exports_functions || exports_functions, ..self }
    }

    pub(crate) const fn exports_functions(&self) -> bool {
        self.exports_functions
    }

    pub(crate) const fn prepared(&self) -> Option<&PreparedComponent> {
        self.prepared.as_ref()
    }

    /// What names it.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Its bytes. Those of the program are unpacked each time, so that they stay in memory no
    /// longer than somebody reads them.
    #[must_use]
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.bytes {
            ComponentBytes::Plain(bytes) => Cow::Borrowed(bytes),
            ComponentBytes::Packed(packed) => Cow::Owned(unpack(packed)),
        }
    }

    /// How many bytes it has.
    #[must_use]
    pub fn size(&self) -> u64 {
        match &self.bytes {
            ComponentBytes::Plain(bytes) => bytes.len() as u64,
            ComponentBytes::Packed(packed) => unpacked_size(packed) as u64,
        }
    }
}
