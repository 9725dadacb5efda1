//! The terminal plugin: conversations with interactive programs.
//!
//! - `limits` says how much of everything one call takes and answers.
//! - `following` waits for a turn and tells the client meanwhile what comes.
//! - `output` makes text for a model of what a program printed: cut, with the
//!   way to the rest.
//! - `tools` are the functions that a model calls.
//!
//! When a turn is over, what runs and what may be reached, the host decides.

mod following;
mod limits;
mod output;
mod tools;

use tools::closing::close_terminal;
use tools::keys::send_keys;
use tools::listing::list_terminals;
use tools::reading::{read_output, read_screen};
use tools::resizing::resize;
use tools::sending::send_message;
use tools::starting::start_terminal;
use tools::waiting::{cancel_turn, wait_for_turn};

wharf_sdk::plugin!(
    start_terminal,
    send_message,
    wait_for_turn,
    cancel_turn,
    send_keys,
    read_screen,
    read_output,
    resize,
    list_terminals,
    close_terminal,
);

wharf_sdk::reasons!(
    events = "tells the client what comes while a turn runs",
    terminal = "starts the programs that it is told to talk to, types and reads what they print",
);
