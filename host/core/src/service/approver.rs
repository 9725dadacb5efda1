//! What a running call asks a person for before its host does it.
//!
//! The engine asks this trait; it knows neither the rules nor how people are asked.

use std::{pin::Pin, sync::Arc};

use crate::{CommandLine, Error, Origin, origin::OriginRules};

/// What a plugin asks its host to do, checked against its grants.
#[derive(Debug, Clone, Copy)]
pub enum GuardedAct<'a> {
    /// Starts a process or a terminal.
    Start(&'a CommandLine<'a>),
    /// Sends a page to an address.
    Open {
        /// Where it leads.
        origin: &'a Origin,
        /// The whole address.
        address: &'a str,
    },
    /// Sends an HTTP request.
    Request {
        /// Where it goes.
        origin: &'a Origin,
        /// `GET https://example.com/path`.
        request: &'a str,
    },
}

/// A wait until a person allows it. Fails with `denied` where they refuse, or say nothing in time;
/// with `limit` where too many calls wait; with `cancelled`. Dropping it takes the question back.
pub type Approving<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;

/// Who is asked about what one running call wants.
pub trait Approver: Send + Sync {
    /// What the host has to wait for before it does this; nothing where nobody has to be asked.
    fn approve<'a>(&'a self, act: GuardedAct<'a>) -> Option<Approving<'a>>;

    /// Which origins a person has to allow, for a page that outlives the call.
    fn origin_rules(&self) -> Arc<dyn OriginRules>;
}
