//! One step of a sweep, which hosts and operators ask for alike.

use tokio_postgres::{Row, types::ToSql};
use wharf_state::{TOMBSTONE_LIFETIME, duration_milliseconds};

/// $1 the moment until which scopes are due, $2 the scopes of a step, $3 for how long an expired
/// scope is remembered, $4 whether $1 counts even where the database's clock says less.
pub(crate) const STEP: &str = "SELECT scopes, bytes, more FROM wharf.sweep_1(
    CASE WHEN $4 THEN $1 ELSE least($1, wharf.now_1()) END, $2, $3)";
/// Scopes that one step expires.
const SCOPES: i32 = 64;

/// What a step is asked to do.
pub(crate) struct SweepRequest {
    passed: i64,
    lifetime: i64,
    is_own_time: bool,
}

impl SweepRequest {
    pub(crate) fn new(passed: i64, is_own_time: bool) -> Self {
        Self { passed, lifetime: duration_milliseconds(TOMBSTONE_LIFETIME), is_own_time }
    }

    pub(crate) fn parameters(&self) -> [&(dyn ToSql + Sync); 4] {
        [&self.passed, &SCOPES, &self.lifetime, &self.is_own_time]
    }
}

/// What a step did.
pub(crate) struct SweepStep {
    pub(crate) scopes: u64,
    pub(crate) bytes: u64,
    pub(crate) more: bool,
}

impl From<Row> for SweepStep {
    fn from(row: Row) -> Self {
        let count = |column| row.get::<_, i64>(column).cast_unsigned();
        Self { scopes: count("scopes"), bytes: count("bytes"), more: row.get("more") }
    }
}
