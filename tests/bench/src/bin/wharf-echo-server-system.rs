//! The server without Wasm over HTTP, with the system's allocator.
#![expect(clippy::print_stderr, reason = "it says where it listens")]

#[expect(dead_code, reason = "it has no Wasm")]
#[path = "../bare.rs"]
mod bare;
#[expect(dead_code, reason = "what is over HTTP, this uses")]
#[path = "../echo_server.rs"]
mod echo_server;

fn main() -> anyhow::Result<()> {
    echo_server::serve_http()
}
