//! What an author of plugins needs beside a host: the folder of a new plugin ([`Scaffold`]), and
//! its component, built by the tools of its language ([`Project`]).
//!
//! Everything here runs with the rights of the author: their compilers and their own code. It
//! opens no plugin and knows nothing of hosts.

mod building;
mod capability;
mod error;
mod kit;
mod language;
mod metadata;
mod scaffold;
mod template;
mod watching;

pub use building::{BuiltComponent, Coverage, CoveredFile, Project};
pub use capability::PluginCapability;
pub use error::AuthorError;
pub use language::Language;
pub use scaffold::{Scaffold, ScaffoldedPlugin};
pub use watching::SourceWatch;
