//! What the host adds to a request's `meta`.

/// The prefix of member names that belong to the host: no caller can set them.
pub const OWN_PREFIX: &str = "dev.wharf/";

/// What was given to the round of input before: an object with [`RESPONSES`]
/// and [`STATE`].
pub const INPUT: &str = "dev.wharf/input";

/// Of the client, an object with [`CAPABILITIES`].
pub const CLIENT: &str = "dev.wharf/client";

/// In [`INPUT`]: what the caller said, by the names of the requests.
pub const RESPONSES: &str = "responses";

/// In [`INPUT`]: the state of the round before, unchanged, where it had one.
pub const STATE: &str = "state";

/// In [`CLIENT`]: what the client declared that it may be asked for.
pub const CAPABILITIES: &str = "capabilities";
