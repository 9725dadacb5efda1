//! What a client sees, in both eras of the protocol: raw lines in, raw lines
//! out, over streams in memory.

mod asked;
mod asking;
mod changes;
mod endings;
mod endpoint;
mod eras;
mod events;
mod hostile;
mod memory;
mod named_tools;
mod offers;
mod outliving;
mod read_once;
mod shelf;
mod support;
mod watching;
