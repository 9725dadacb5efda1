//! One transaction of the operator's, whose calls block.

use tokio::runtime::Runtime;
use tokio_postgres::{Client, IsolationLevel, Portal, Row, Transaction, types::ToSql};
use wharf_state::StateError;

use crate::error::{Effect, storage_error};

pub(super) struct Session<'c> {
    runtime: &'c Runtime,
    transaction: Transaction<'c>,
    effect: Effect,
}

impl<'c> Session<'c> {
    /// Sees one state of the database, which does not change meanwhile.
    pub(super) fn snapshot(runtime: &'c Runtime, client: &'c mut Client) -> Result<Self, StateError> {
        let begin = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
        let effect = Effect::None;
        let transaction = runtime.block_on(begin.start()).map_err(|error| storage_error(error, effect))?;
        Ok(Self { runtime, transaction, effect })
    }

    /// May write; undone unless it is committed.
    pub(super) fn writing(runtime: &'c Runtime, client: &'c mut Client) -> Result<Self, StateError> {
        let effect = Effect::Change;
        let transaction = runtime.block_on(client.transaction()).map_err(|error| storage_error(error, effect))?;
        Ok(Self { runtime, transaction, effect })
    }

    fn failed(&self, error: tokio_postgres::Error) -> StateError {
        storage_error(error, self.effect)
    }

    pub(super) fn query(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StateError> {
        self.runtime.block_on(self.transaction.query(sql, parameters)).map_err(|error| self.failed(error))
    }

    pub(super) fn query_one(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Row, StateError> {
        self.runtime.block_on(self.transaction.query_one(sql, parameters)).map_err(|error| self.failed(error))
    }

    pub(super) fn execute(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<u64, StateError> {
        self.runtime.block_on(self.transaction.execute(sql, parameters)).map_err(|error| self.failed(error))
    }

    /// A query whose rows come in parts.
    pub(super) fn bind(&self, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Portal, StateError> {
        self.runtime.block_on(self.transaction.bind(sql, parameters)).map_err(|error| self.failed(error))
    }

    /// The next rows of such a query, `most` of them; empty at its end.
    pub(super) fn next(&self, portal: &Portal, most: i32) -> Result<Vec<Row>, StateError> {
        self.runtime.block_on(self.transaction.query_portal(portal, most)).map_err(|error| self.failed(error))
    }

    pub(super) fn commit(self) -> Result<(), StateError> {
        self.runtime.block_on(self.transaction.commit()).map_err(|error| storage_error(error, self.effect))
    }
}
