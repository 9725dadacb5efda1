//! What the end-to-end tests share: where built things lie, hosts on fresh data
//! directories, the real binary and a bare client of it, and components that
//! no toolchain would make.
//!
//! Knows the public faces of the project only: the library `wharf`, the command,
//! and the contract. It asserts where a test could not go on otherwise.

mod artifacts;
mod attack_run;
mod attacked;
pub mod balancer;
mod binary;
mod called;
mod client;
pub mod clock;
pub mod cluster;
mod collector;
mod compiling;
mod crafted;
mod data;
mod disk;
mod fixture;
mod following;
pub mod hostile;
pub mod kills;
pub mod link;
mod oci;
mod previous;
pub mod prometheus;
mod server;
mod setup;
mod site;
mod upstream;

pub use artifacts::{bytes, component, program, with_section};
pub use attack_run::{not_on_this_machine, of_a_limit_of_memory, of_the_library_alone};
pub use attacked::{RejectedPlugin, TestedHost};
pub use binary::{Command, Finished, keep_log, start, wharf, wharf_of};
pub use client::Client;
pub use collector::{Collected, Collector};
pub use crafted::{Crafted, CraftedTool};
pub use data::Data;
pub use disk::Disk;
pub use fixture::{Fixture, Running};
pub use following::{Following, SentEvent};
pub use oci::OciRegistry;
pub use previous::previous;
pub use server::{Reply, Server, lives, replied};
pub use setup::{ISOLATED, Setup, context, found, object, viewer};
pub use site::Site;
pub use upstream::Upstream;
pub use wharf_test_support::{
    AMPLE,
    authority::{Authority, Holds},
    blocking, in_time, let_time_pass, machine, soon, until, until_async,
};
