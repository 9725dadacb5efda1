//! The `wharf` command: reads what was asked, calls the library, prints.
#![expect(clippy::print_stderr, reason = "a command-line tool: printing is what it is for")]

#[macro_use]
mod print;

mod bytes;
#[cfg_attr(not(feature = "postgres"), path = "cluster_shelf/absent.rs")]
mod cluster_shelf;
mod command;
mod configuration_edit;
mod exit;
mod global;
mod hosts;
mod listing;
mod operated;
mod output_file;
mod own_terminal;
mod profile;
mod progress;
mod replaced_file;
mod session;
mod signature;
mod tables;

use std::process::ExitCode;

#[cfg(not(asan))]
use mimalloc::MiMalloc;
use wharf::with_causes;

// Calls allocate on one thread of the runtime and free on another. The system's allocator
// makes those threads wait for each other. An app that embeds the library keeps its own.
// AddressSanitizer brings one that notices what is read or written outside of what was allocated.
#[cfg(not(asan))]
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// What the runtime of AddressSanitizer asks the program. It looks for leaks by tracing the process, which a host that has
/// confined itself does not allow.
#[cfg(asan)]
#[expect(unsafe_code, reason = "the runtime finds it by this name")]
#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const std::ffi::c_char {
    c"detect_leaks=0".as_ptr()
}

fn main() -> ExitCode {
    if let Some(code) = command::play() {
        return code;
    }
    match command::Wharf::read().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", with_causes(error.as_ref()));
            ExitCode::from(exit::code(&error))
        }
    }
}
