//! How to connect the clients that people have.

use std::path::Path;

/// Prints the command for each client, with the path of this build.
pub(super) fn print(wharf: &Path) {
    print!(
        r"
Connect your own client (build it for speed first: cargo build --release -p wharf-cli)

   {} connect cursor

   or claude-code, claude-desktop, codex, gemini, vscode, zed. It writes the client's own file, shows what changes and
   keeps what was there; with --print it prints what belongs there, and writes nothing.

   The tools that run commands and change files are off there. With --profile developer behind it they are on, contained
   and without a network; `wharf doctor` says whether that works on this machine.

",
        wharf.display()
    );
}
