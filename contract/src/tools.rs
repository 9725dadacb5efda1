//! What stands in the `meta` of tools and of their answers.

use crate::words::words;

/// Of a tool, a prompt or a resource: a name for people.
pub const TITLE: &str = "title";

/// Of a tool, a part of an answer or a resource: the hints that the Model
/// Context Protocol defines.
pub const ANNOTATIONS: &str = "annotations";

/// Of a tool: how many milliseconds of wall-clock time a call may need.
pub const TIMEOUT_MILLISECONDS: &str = "timeoutMilliseconds";

/// Of a part of an answer: makes it an embedded resource of this address.
pub const URI: &str = "uri";

/// Of an answer: what is needed of the caller first, an object with
/// [`REQUESTS`] and perhaps [`STATE`](crate::caller::STATE).
pub const INPUT_REQUIRED: &str = "inputRequired";

/// In [`INPUT_REQUIRED`]: what is asked for, by names of the plugin's. Each has
/// a `method`, an [`InputMethod`], and `params`, as the Model Context Protocol
/// defines them.
pub const REQUESTS: &str = "requests";

words! {
    /// What a call can ask of its caller before it answers.
    InputMethod, "method" {
        /// A person fills a form, or goes to an address.
        Elicitation = "elicitation/create";
        /// The client's model answers.
        Sampling = "sampling/createMessage";
        /// The client tells the folders that it works in.
        Roots = "roots/list";
    }
}

impl InputMethod {
    /// The capability that a client declares where it can be asked so: a member
    /// of [`CAPABILITIES`](crate::caller::CAPABILITIES).
    #[must_use]
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }
}
