//! The front ends that are connected at the hosts of a cell, in the database of the state.

use async_trait::async_trait;
use tokio_postgres::Row;
use wharf_cell::{FrontEnds, Incarnation, StoreUnavailable};
use wharf_core::{
    TenantId,
    handle::Handle,
    service::{
        ChangedFrontEnds, ConnectTerms, FrontEndPlace, FrontEndsVersion, ShelvedFrontEnd, TenantFrontEnds,
        front_end::FrontEndOwner,
    },
};

use crate::{
    PostgresCell,
    cell::{kept, odd},
};

const CONNECT: &str = "SELECT outcome, change FROM wharf.connect_front_end_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
/// A tenant without front ends that had some is one row without a name. The change is read in the
/// same moment as the rows.
const CHANGED: &str = "SELECT c.front_ends AS change, k.tenant, n.latest, n.count, f.name, f.id, f.client, f.tools
    FROM wharf.cell c
    LEFT JOIN (unnest($1::text[], $2::bigint[], $3::bigint[]) AS k (tenant, latest, count)
        CROSS JOIN LATERAL (SELECT coalesce(max(o.revision), 0) AS latest, count(*) AS count
            FROM wharf.front_end o WHERE o.tenant = k.tenant COLLATE \"C\") n)
        ON n.latest <> k.latest OR n.count <> k.count
    LEFT JOIN wharf.front_end f ON f.tenant = k.tenant COLLATE \"C\"
    ORDER BY k.tenant COLLATE \"C\", f.name";

#[async_trait]
impl FrontEnds for PostgresCell {
    async fn connect(
        &self,
        front_end: &ShelvedFrontEnd,
        terms: ConnectTerms,
        host: Incarnation,
    ) -> Result<FrontEndPlace, StoreUnavailable> {
        let ShelvedFrontEnd { id, owner: FrontEndOwner { tenant, client }, name, tools } = front_end;
        let ConnectTerms { replaces, present, per_client, per_tenant } = terms;
        let (tenant, id, present) = (tenant.as_str(), id.to_string(), present.map(|present| present.to_string()));
        let (life, per_client, per_tenant) = (host.to_i64(), kept(per_client), kept(per_tenant));
        let row = self
            .ask_one(
                CONNECT,
                &[&tenant, name, &id, client, &life, tools, &replaces, &present, &per_client, &per_tenant],
            )
            .await?;
        match row.get("outcome") {
            "taken" => Ok(FrontEndPlace::Taken(row.get("change"))),
            "named" => Ok(FrontEndPlace::Named),
            "client" => Ok(FrontEndPlace::ClientFull),
            "tenant" => Ok(FrontEndPlace::TenantFull),
            "dead" => Ok(FrontEndPlace::HostDead),
            _ => odd(),
        }
    }

    async fn disconnect(&self, ids: &[Handle], host: Incarnation) -> Result<(), StoreUnavailable> {
        let ids: Vec<_> = ids.iter().map(Handle::to_string).collect();
        self.ask("SELECT wharf.disconnect_front_ends_1($1, $2)", &[&ids, &host.to_i64()]).await.map(drop)
    }

    async fn changed(&self, known: &[(TenantId, FrontEndsVersion)]) -> Result<ChangedFrontEnds, StoreUnavailable> {
        let names: Vec<_> = known.iter().map(|(tenant, _)| tenant.as_str()).collect();
        let latest: Vec<_> = known.iter().map(|(_, version)| version.latest).collect();
        let counts: Vec<_> = known.iter().map(|(_, version)| version.count).collect();
        let rows = self.ask(CHANGED, &[&names, &latest, &counts]).await?;
        let change = rows.first().map_or(0, |row| row.get("change"));
        let mut tenants: Vec<TenantFrontEnds> = Vec::new();
        for row in rows {
            let Some(name) = row.get::<_, Option<&str>>("tenant") else { continue };
            let Ok(tenant) = name.parse::<TenantId>() else { return odd() };
            if tenants.last().is_none_or(|last| last.tenant != tenant) {
                let version = FrontEndsVersion { latest: row.get("latest"), count: row.get("count") };
                tenants.push(TenantFrontEnds { tenant, version, front_ends: Vec::new() });
            }
            let (Some(last), Some(name)) = (tenants.last_mut(), row.get::<_, Option<String>>("name")) else { continue };
            let Some(front_end) = of_row(&row, &last.tenant, name) else { return odd() };
            last.front_ends.push(front_end);
        }
        Ok(ChangedFrontEnds { change, tenants })
    }
}

fn of_row(row: &Row, tenant: &TenantId, name: String) -> Option<ShelvedFrontEnd> {
    let owner = FrontEndOwner { tenant: tenant.clone(), client: row.get("client") };
    Some(ShelvedFrontEnd { id: row.get::<_, &str>("id").parse().ok()?, owner, name, tools: row.get("tools") })
}
