//! What a request says, read before a route does anything with it.

pub(crate) mod body;
pub(crate) mod context;
pub(crate) mod headers;
pub(crate) mod parameters;
pub(crate) mod resume;
