//! Which part of the calling context keys stored state.

use crate::words::words;

words! {
    /// Which part of the context keys a bucket; the narrowest first.
    Scope, "scope" {
        /// This session, assistant and thread.
        Thread = "thread";
        /// This session.
        Session = "session";
        /// This assistant, in all its sessions.
        Assistant = "assistant";
        /// Every call of this plugin by this tenant.
        Plugin = "plugin";
        /// The one of these that the operator chose in `[plugin.NAME]
        /// default_scope`; the session where nothing is chosen.
        Default = "default";
    }
}
