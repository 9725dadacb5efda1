//! The servers without Wasm and with bare wasmtime, with the allocator of the `wharf` command: what of a figure is
//! the allocator's, and what is the host's.
#![expect(clippy::print_stderr, reason = "it says where it listens")]

#[expect(dead_code, reason = "what compiles, the benchmark uses")]
#[path = "../bare.rs"]
mod bare;
#[path = "../echo_server.rs"]
mod echo_server;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        None => echo_server::serve(None),
        Some(how) if how == "--http" => echo_server::serve_http(),
        Some(how) if how == "--bare" => {
            let code = arguments.next().context("--bare needs a file of compiled code")?;
            echo_server::serve(Some(Path::new(&code)))
        }
        Some(how) => bail!("{} is neither --http nor --bare", how.display()),
    }
}
