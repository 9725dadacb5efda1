//! The plugins that all hosts of a cell have, in the database of its state.

use async_trait::async_trait;
use wharf_cell::{PluginShelf, ShelvedSet, StoreUnavailable};
use wharf_core::Digest;

use crate::PostgresCell;

/// Bytes of a piece of a component. The table takes no longer one.
const PIECE: usize = 1 << 20;

#[async_trait]
impl PluginShelf for PostgresCell {
    async fn installed(&self) -> Result<ShelvedSet, StoreUnavailable> {
        let row = self.ask_one("SELECT revision, text FROM wharf.plugin_set", &[]).await?;
        Ok(ShelvedSet { revision: row.get("revision"), text: row.get("text") })
    }

    async fn install(&self, expected: i64, text: &str, named: &[Digest]) -> Result<bool, StoreUnavailable> {
        let named: Vec<_> = named.iter().map(Digest::to_hex).collect();
        Ok(self.ask_one("SELECT wharf.install_1($1, $2, $3)", &[&expected, &text, &named]).await?.get(0))
    }

    async fn keep_component(&self, digest: &Digest, component: &[u8]) -> Result<(), StoreUnavailable> {
        let digest = digest.to_hex();
        for (piece, at) in component.chunks(PIECE).zip(0_i32..) {
            self.ask("SELECT wharf.keep_chunk_1($1, $2, $3)", &[&digest, &at, &piece]).await?;
        }
        Ok(())
    }

    async fn component(&self, digest: &Digest, limit: u64) -> Result<Option<Vec<u8>>, StoreUnavailable> {
        let digest = digest.to_hex();
        let sql = "SELECT bytes FROM wharf.component_chunk WHERE digest = $1 AND n = $2";
        let mut component = Vec::new();
        for at in 0_i32.. {
            let rows = self.ask(sql, &[&digest, &at]).await?;
            let Some(row) = rows.first() else { break };
            component.extend_from_slice(row.get::<_, &[u8]>("bytes"));
            if component.len() as u64 > limit {
                return Ok(None);
            }
        }
        Ok((!component.is_empty()).then_some(component))
    }
}
