//! The columns that name scopes, and scopes made of them.

use tokio_postgres::Row;
use wharf_core::{ScopeKey, ScopeKind};

/// Matches the rows of `wharf.scope s` by the parts of a name, which are $1 of the statement.
macro_rules! named {
    () => {
        "s.tenant = ($1::text[])[1] AND s.plugin = ($1)[2] AND s.kind = ($1)[3] AND s.session = ($1)[4]
            AND s.assistant = ($1)[5] AND s.thread = ($1)[6] AND s.bucket = ($1)[7]"
    };
}
pub(crate) use named;

/// A stored name that no call could have written.
#[derive(Debug, thiserror::Error)]
#[error("the state's database names a scope that cannot be: {0}")]
pub(crate) struct IllegalName(String);

/// The scope that seven columns from `first` on name.
pub(crate) fn scope(row: &Row, first: usize) -> Result<ScopeKey, IllegalName> {
    Ok(ScopeKey {
        tenant: id(row, first)?,
        plugin: id(row, first + 1)?,
        kind: kind(row, first + 2)?,
        session: optional(row, first + 3)?,
        assistant: optional(row, first + 4)?,
        thread: optional(row, first + 5)?,
        bucket: id(row, first + 6)?,
    })
}

pub(crate) fn id<T>(row: &Row, column: usize) -> Result<T, IllegalName>
where
    T: std::str::FromStr<Err: std::error::Error>,
{
    row.get::<_, &str>(column).parse().map_err(|error: T::Err| IllegalName(error.to_string()))
}

pub(crate) fn kind(row: &Row, column: usize) -> Result<ScopeKind, IllegalName> {
    let stored = row.get::<_, &str>(column);
    ScopeKind::from_word(stored).ok_or_else(|| IllegalName(format!("no scope is called {stored:?}")))
}

fn optional<T>(row: &Row, column: usize) -> Result<Option<T>, IllegalName>
where
    T: std::str::FromStr<Err: std::error::Error>,
{
    if row.get::<_, &str>(column).is_empty() { Ok(None) } else { id(row, column).map(Some) }
}
