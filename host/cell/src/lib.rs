//! Many hosts that serve as one.
//!
//! The hosts of a cell share a database, which says who belongs to it ([`Members`]), which
//! host is the home of a session ([`Homes`]), which plugins all of them have ([`PluginShelf`]),
//! which front ends are connected where ([`FrontEnds`]), and which host goes on with a session of
//! the protocol ([`ProtocolSessions`]). A call that needs
//! a home is passed on to it as a whole, over HTTP/2 with certificates on both sides. Nothing here elects, gossips or agrees:
//! the database decides, by compare-and-swap.
//!
//! This crate alone knows peers. It knows no plugin and no SQL; [`Cell`] is given the stores and
//! a [`HomeHost`](wharf_core::service::HomeHost), and is a
//! [`SessionRouter`](wharf_core::service::SessionRouter).

mod cell;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
mod front_ends;
mod held;
mod homes;
mod incarnation;
mod members;
#[cfg(any(test, feature = "contract"))]
mod memory;
mod notices;
mod passed;
mod peer;
mod roster;
mod sessions;
mod settings;
mod shelf;
mod standing;
mod survey;
mod suspicion;
mod tls;
mod wire;

pub use cell::{Cell, CellStores, OtherHost, RequestHome};
pub use error::{CellError, StoreUnavailable};
pub use front_ends::FrontEnds;
pub use homes::{Claim, Claimant, FilesHere, FilesUse, Homes, SessionKey};
pub use incarnation::Incarnation;
pub use members::{Beat, HostRecord, HostReport, JoinRefused, Members, NewMember};
#[cfg(any(test, feature = "contract"))]
pub use memory::MemoryCell;
pub use notices::{NoticeBus, installed_notice};
pub use passed::{HttpDoor, PassedBody};
pub use sessions::{ProtocolSessions, SessionName};
pub use settings::{CellSettings, CellTimes, InvalidPeerAddress, PeerAddress};
pub use shelf::{PluginShelf, ShelvedSet};
pub use survey::{Found, HostLook, Opinion, Passage, Question, Survey, opinions, survey};
pub use tls::{CertificateUnfit, PeerTls, PeerTlsError, ReadCertificates};

#[cfg(test)]
mod tests;
