//! How far the scripts of a session have come.

/// The thread on which a session's scripts run, one after the other. Each gets a
/// number; those up to `over` have ended, or wait for something and let others run.
#[derive(Debug, Default)]
pub(crate) struct ScriptThread {
    pub(crate) last: u64,
    pub(crate) over: u64,
}
