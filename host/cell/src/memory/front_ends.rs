//! Front ends in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use wharf_core::{
    TenantId,
    handle::Handle,
    service::{ChangedFrontEnds, ConnectTerms, FrontEndPlace, FrontEndsVersion, ShelvedFrontEnd, TenantFrontEnds},
};

use super::MemoryCell;
use crate::{FrontEnds, Incarnation, StoreUnavailable};

#[derive(Debug, Default)]
pub(super) struct FrontEndRows {
    pub(super) change: i64,
    /// By tenant and name, with the change that added each.
    rows: BTreeMap<(TenantId, String), (ShelvedFrontEnd, i64)>,
}

impl FrontEndRows {
    /// A host has ended.
    pub(super) fn ended(&mut self, host: Incarnation) {
        self.remove(|row| host_of(row) == Some(host));
    }

    fn remove(&mut self, is_gone: impl Fn(&ShelvedFrontEnd) -> bool) {
        let before = self.rows.len();
        self.rows.retain(|_, (row, _)| !is_gone(row));
        self.change += i64::from(self.rows.len() < before);
    }

    fn version(&self, tenant: &TenantId) -> FrontEndsVersion {
        let of_tenant = || self.rows.values().filter(|(row, _)| row.owner.tenant == *tenant);
        let latest = of_tenant().map(|(_, change)| *change).max().unwrap_or(0);
        FrontEndsVersion { latest, count: i64::try_from(of_tenant().count()).unwrap_or(i64::MAX) }
    }
}

fn host_of(row: &ShelvedFrontEnd) -> Option<Incarnation> {
    row.id.incarnation().map(Incarnation::from)
}

#[async_trait]
impl FrontEnds for MemoryCell {
    async fn connect(
        &self,
        front_end: &ShelvedFrontEnd,
        terms: ConnectTerms,
        host: Incarnation,
    ) -> Result<FrontEndPlace, StoreUnavailable> {
        let mut state = self.state()?;
        if !state.lives(host) {
            return Ok(FrontEndPlace::HostDead);
        }
        let ShelvedFrontEnd { owner, name, .. } = front_end;
        let key = (owner.tenant.clone(), name.clone());
        let rows = &mut state.front_ends;
        if let Some((present, _)) = rows.rows.get(&key) {
            let is_stale = host_of(present) == Some(host) && Some(present.id) != terms.present;
            let is_replaced = terms.replaces && present.owner == *owner;
            if !is_stale && !is_replaced {
                return Ok(FrontEndPlace::Named);
            }
        }
        let others = || rows.rows.iter().filter(|(other, _)| other.0 == key.0 && other.1 != key.1);
        if others().filter(|(_, (row, _))| row.owner == *owner).count() as u64 >= terms.per_client {
            return Ok(FrontEndPlace::ClientFull);
        }
        if others().count() as u64 >= terms.per_tenant {
            return Ok(FrontEndPlace::TenantFull);
        }
        rows.change += 1;
        rows.rows.insert(key, (front_end.clone(), rows.change));
        Ok(FrontEndPlace::Taken(rows.change))
    }

    async fn disconnect(&self, ids: &[Handle], host: Incarnation) -> Result<(), StoreUnavailable> {
        let mut state = self.state()?;
        state.front_ends.remove(|row| host_of(row) == Some(host) && ids.contains(&row.id));
        Ok(())
    }

    async fn changed(&self, known: &[(TenantId, FrontEndsVersion)]) -> Result<ChangedFrontEnds, StoreUnavailable> {
        let state = self.state()?;
        let rows = &state.front_ends;
        let others = known.iter().filter(|(tenant, version)| rows.version(tenant) != *version);
        let tenants = others.map(|(tenant, _)| {
            let of_tenant = rows.rows.values().filter(|(row, _)| row.owner.tenant == *tenant);
            let front_ends = of_tenant.map(|(row, _)| row.clone()).collect();
            TenantFrontEnds { tenant: tenant.clone(), version: rows.version(tenant), front_ends }
        });
        Ok(ChangedFrontEnds { change: rows.change, tenants: tenants.collect() })
    }
}
