//! Which clients may ask, and for how much.

pub(crate) mod allowed;
pub(crate) mod client;
pub(crate) mod clients;
pub(crate) mod console;
pub(crate) mod factory;
pub(crate) mod guard;
pub(crate) mod guesses;
pub(crate) mod issued;
pub(crate) mod protected_resource;
mod requester;

pub(crate) use requester::{of_client, requester, stranger};
