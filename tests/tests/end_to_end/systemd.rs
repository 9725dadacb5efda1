//! A host as a service of systemd, which these tests play: what it is told, and the sockets that it
//! passes.

mod manager;
mod sockets;
mod told;
