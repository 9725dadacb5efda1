//! Compiled code that workers map: a sealed file in memory, so that all of them share it and none
//! can change it.

use std::{
    fs::File,
    io::{self, Write as _},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create},
    mm::{MprotectFlags, mprotect},
};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Code of a component.
#[derive(Debug)]
pub(crate) struct CodeFile {
    /// No other has it.
    id: u64,
    file: File,
    bytes: u64,
    exports_functions: bool,
}

impl CodeFile {
    pub(crate) fn new(code: &[u8], exports_functions: bool) -> io::Result<Self> {
        let mut file = File::from(memfd_create("wharf-code", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
        file.write_all(code)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL)?;
        Ok(Self { id: NEXT.fetch_add(1, Relaxed), file, bytes: code.len() as u64, exports_functions })
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the component's exported functions are its tools.
    pub(crate) fn exports_functions(&self) -> bool {
        self.exports_functions
    }
}

/// Makes mapped code executable, which the runtime does by itself for memory of its own alone.
#[derive(Debug)]
pub(crate) struct MappedCode;

impl wasmtime::CustomCodeMemory for MappedCode {
    fn required_alignment(&self) -> usize {
        rustix::param::page_size()
    }

    fn publish_executable(&self, code: *const u8, length: usize) -> wasmtime::Result<()> {
        protect(code, length, MprotectFlags::READ | MprotectFlags::EXEC)
    }

    fn unpublish_executable(&self, code: *const u8, length: usize) -> wasmtime::Result<()> {
        protect(code, length, MprotectFlags::READ)
    }
}

#[expect(unsafe_code, reason = "the runtime's interface for code that it did not map")]
fn protect(code: *const u8, length: usize, flags: MprotectFlags) -> wasmtime::Result<()> {
    // SAFETY: the runtime names pages of code that it was given.
    unsafe { mprotect(code.cast_mut().cast(), length, flags) }.map_err(wasmtime::Error::new)
}
