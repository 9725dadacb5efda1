//! Components that were compiled and asked ahead, when the program was built that carries them.
//!
//! Such a program compiles nothing at its first start. What it carries holds for the settings of
//! the runtime, the processor and the rules of metadata that were in force then; the names say
//! for which, and what is named otherwise is made anew. It is part of the program and trusted as
//! its code is. Nothing prepared is ever read from elsewhere.

use std::{fmt, io::Write};

use crate::packed::pack;

/// What was made of a component, with the names under which a cache would keep it.
#[derive(Clone, Copy)]
pub struct PreparedComponent {
    /// The name of the code.
    pub code_name: &'static str,
    /// Code for the runtime, packed ([`crate::pack`]).
    pub code: &'static [u8],
    /// The name of the metadata.
    pub metadata_name: &'static str,
    /// What the plugin lists, as a cache would keep it.
    pub metadata: &'static [u8],
}

impl fmt::Debug for PreparedComponent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PreparedComponent").field("code", &self.code_name).finish_non_exhaustive()
    }
}

/// The same, just made.
pub struct NewlyPrepared {
    pub(crate) code_name: String,
    pub(crate) code: Vec<u8>,
    pub(crate) metadata_name: String,
    pub(crate) metadata: Vec<u8>,
}

impl NewlyPrepared {
    /// Writes it for a build script: four lines (the digest of the component, the name of the
    /// code, the name of the metadata, the bytes of the metadata), then the metadata, then the
    /// code, packed.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, digest: wharf_core::Digest, mut to: impl Write) -> std::io::Result<()> {
        let Self { code_name, code, metadata_name, metadata } = self;
        write!(to, "{digest}\n{code_name}\n{metadata_name}\n{}\n", metadata.len())?;
        to.write_all(metadata)?;
        to.write_all(&pack(code)?)
    }
}
