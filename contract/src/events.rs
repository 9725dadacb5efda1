//! Streams of events, and what may change of what a plugin offers.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// How the work of a stream stands.
    StreamStatus, "status" {
        /// It works.
        Processing = "processing";
        /// It writes.
        Typing = "typing";
        /// It waits for input, perhaps only for a moment.
        Ready = "ready";
        /// It is done.
        Completed = "completed";
        /// It failed.
        Error = "error";
    }
}

/// Told in place of a [`StreamStatus`]: the plugin polled its source for as long
/// as `wait_for_data` is and found nothing. No status changes by it.
pub const NOTHING_NEW: &str = "nothing-new";

words! {
    /// A list that may have become another one.
    List, "list" {
        /// The prompts.
        Prompts = "prompts";
        /// The resources of a context.
        Resources = "resources";
        /// The tools.
        Tools = "tools";
    }
}

/// The `options` of `open-stream`. `P` holds the parameters of completion
/// detection, each under its name: see [`Parameter`](crate::turn::Parameter).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "P: Deserialize<'de>"))]
pub struct StreamOptions<P> {
    /// Numbers that are to be otherwise than the preset has them.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub parameters: Option<P>,
    /// How long silence has to last before it is an end:
    /// [`Preset::Agent`](crate::turn::Preset::Agent) where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
}
