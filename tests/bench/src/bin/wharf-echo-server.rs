//! The server without Wasm, with the allocator of the `wharf` command: what of a figure is
//! the allocator's, and what is the host's.
#![expect(clippy::print_stderr, reason = "it says where it listens")]

#[path = "../echo_server.rs"]
mod echo_server;

use anyhow::Result;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("--http") => echo_server::serve_http(),
        _ => echo_server::serve(),
    }
}
