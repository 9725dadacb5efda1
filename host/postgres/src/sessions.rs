//! Sessions of the protocol that outlive their hosts, in the database of the state.

use async_trait::async_trait;
use wharf_cell::{Incarnation, ProtocolSessions, SessionName, StoreUnavailable};
use wharf_core::service::ShelvedSession;

use crate::PostgresCell;

#[async_trait]
impl ProtocolSessions for PostgresCell {
    async fn begin(
        &self,
        name: &SessionName,
        session: &ShelvedSession,
        host: Incarnation,
    ) -> Result<(), StoreUnavailable> {
        let ShelvedSession { owner, parameters, settings } = session;
        let sql =
            "INSERT INTO wharf.protocol_session VALUES ($1, $2, $3, $4, wharf.now_1(), $5) ON CONFLICT DO NOTHING";
        self.ask(sql, &[&name.to_hex(), owner, parameters, &host.to_i64(), settings]).await.map(drop)
    }

    async fn adopt(&self, name: &SessionName, host: Incarnation) -> Result<Option<Incarnation>, StoreUnavailable> {
        let row = self.ask_one("SELECT wharf.adopt_session_1($1, $2)", &[&name.to_hex(), &host.to_i64()]).await?;
        Ok(row.get::<_, Option<i64>>(0).and_then(Incarnation::from_i64))
    }

    async fn read(&self, name: &SessionName, host: Incarnation) -> Result<Option<ShelvedSession>, StoreUnavailable> {
        let sql = "SELECT owner, parameters, settings FROM wharf.protocol_session WHERE name = $1 AND incarnation = $2";
        let rows = self.ask(sql, &[&name.to_hex(), &host.to_i64()]).await?;
        Ok(rows.first().map(|row| ShelvedSession {
            owner: row.get("owner"),
            parameters: row.get("parameters"),
            settings: row.get("settings"),
        }))
    }

    async fn set(&self, name: &SessionName, settings: &str, host: Incarnation) -> Result<(), StoreUnavailable> {
        let sql = "UPDATE wharf.protocol_session SET settings = $3 WHERE name = $1 AND incarnation = $2";
        self.ask(sql, &[&name.to_hex(), &host.to_i64(), &settings]).await.map(drop)
    }

    async fn end(&self, name: &SessionName, host: Incarnation) -> Result<bool, StoreUnavailable> {
        let sql = "DELETE FROM wharf.protocol_session WHERE name = $1 AND incarnation = $2 RETURNING true";
        Ok(!self.ask(sql, &[&name.to_hex(), &host.to_i64()]).await?.is_empty())
    }
}
