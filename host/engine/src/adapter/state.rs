//! `state`: durable entries under the calling context.

use wasmtime::component::{Resource, ResourceTableError};
use wharf_core::{Code, Error};
use wharf_state::{EntryPage, ScopePolicy, StateChange, StateEntry};

use crate::{
    bindings::wharf::plugin::{
        state::{self as wit, Host, HostBucket},
        types,
    },
    bucket::Bucket,
    guest::Guest,
};

/// A page of a scan holds about this much.
const PAGE_BYTES: u64 = 1 << 20;

impl From<StateEntry> for wit::Entry {
    fn from(entry: StateEntry) -> Self {
        Self { key: entry.key, value: entry.value, revision: entry.revision }
    }
}

impl From<wit::Change> for StateChange {
    fn from(change: wit::Change) -> Self {
        Self { key: change.key, value: change.value, if_revision: change.if_revision }
    }
}

impl From<EntryPage> for wit::Page {
    fn from(page: EntryPage) -> Self {
        Self { entries: page.entries.into_iter().map(Into::into).collect(), next: page.next }
    }
}

fn entry_bytes(entry: &StateEntry) -> u64 {
    (entry.key.len() + entry.value.len()) as u64
}

impl Guest {
    fn open_bucket(&mut self, scope: &str, name: &str) -> Result<Resource<Bucket>, Error> {
        let kind = self.call.grants().scope_kind(scope)?;
        let granted = self.call.grants().state(&self.call.plugin, kind)?;
        let bucket = Bucket {
            scope: granted.scope(self.call.context(), &self.call.plugin, kind, name.parse()?)?,
            policy: ScopePolicy::of(granted.grant(), kind),
        };
        self.table.push(bucket).map_err(|error| match error {
            ResourceTableError::Full => Error::new(
                Code::Limit,
                "this call has as many open handles as it may (limit `resource_handles`); drop some",
            ),
            other => Error::new(Code::Internal, other.to_string()),
        })
    }

    fn bucket(&self, handle: &Resource<Bucket>) -> wasmtime::Result<Bucket> {
        Ok(self.table.get(handle)?.clone())
    }
}

impl Host for Guest {}

impl HostBucket for Guest {
    fn open(&mut self, scope: String, name: String) -> wasmtime::Result<Result<Resource<Bucket>, types::Error>> {
        self.call.budget.host_call((scope.len() + name.len()) as u64)?;
        Ok(self.open_bucket(&scope, &name).map_err(types::Error::from))
    }

    async fn get_many(
        &mut self,
        handle: Resource<Bucket>,
        keys: Vec<String>,
    ) -> wasmtime::Result<Result<Vec<Option<wit::Entry>>, types::Error>> {
        self.call.budget.host_call(keys.iter().map(|key| key.len() as u64).sum())?;
        let bucket = self.bucket(&handle)?;
        self.contender.before_reading(&bucket.scope, self.call.clock.wait_until()).await;
        let room = self.call.budget.readable_bytes();
        let found = match self.call.rooms.state.get_many(&bucket.scope, &bucket.policy, &keys, room).await {
            Ok(found) => found,
            Err(error) => return Ok(Err(Error::from(error).into())),
        };
        self.call.budget.moved(found.iter().flatten().map(entry_bytes).sum())?;
        Ok(Ok(found.into_iter().map(|entry| entry.map(Into::into)).collect()))
    }

    async fn apply(
        &mut self,
        handle: Resource<Bucket>,
        changes: Vec<wit::Change>,
    ) -> wasmtime::Result<Result<Vec<u64>, types::Error>> {
        let bytes = |change: &wit::Change| (change.key.len() + change.value.as_ref().map_or(0, Vec::len)) as u64;
        self.call.budget.host_call(changes.iter().map(bytes).sum())?;
        let bucket = self.bucket(&handle)?;
        let changes = changes.into_iter().map(Into::into).collect();
        let until = self.call.clock.wait_until();
        let applied =
            self.contender.apply(&*self.call.rooms.state, &bucket.scope, &bucket.policy, changes, until).await;
        Ok(applied.map_err(|error| Error::from(error).into()))
    }

    async fn scan(
        &mut self,
        handle: Resource<Bucket>,
        prefix: String,
        after: Option<String>,
        limit: u32,
    ) -> wasmtime::Result<Result<wit::Page, types::Error>> {
        self.call.budget.host_call((prefix.len() + after.as_ref().map_or(0, String::len)) as u64)?;
        let bucket = self.bucket(&handle)?;
        // The store clamps the number of entries.
        let room = self.call.budget.readable_bytes().min(PAGE_BYTES);
        let scanned =
            self.call.rooms.state.scan(&bucket.scope, &bucket.policy, &prefix, after.as_deref(), limit, room).await;
        let page = match scanned {
            Ok(page) => page,
            Err(error) => return Ok(Err(Error::from(error).into())),
        };
        self.call.budget.moved(page.entries.iter().map(entry_bytes).sum())?;
        Ok(Ok(page.into()))
    }

    async fn usage(&mut self, handle: Resource<Bucket>) -> wasmtime::Result<Result<wit::Usage, types::Error>> {
        self.call.budget.host_call(0)?;
        let bucket = self.bucket(&handle)?;
        let usage = self.call.rooms.state.usage(&bucket.scope).await;
        Ok(usage
            .map(|usage| wit::Usage {
                entries: usage.entries,
                bytes: usage.bytes,
                quota_bytes: bucket.policy.quota_bytes,
            })
            .map_err(|error| Error::from(error).into()))
    }

    async fn expired_at(&mut self, handle: Resource<Bucket>) -> wasmtime::Result<Result<Option<String>, types::Error>> {
        self.call.budget.host_call(0)?;
        let bucket = self.bucket(&handle)?;
        let expired = self.call.rooms.state.expired_at(&bucket.scope).await;
        Ok(expired.map(|when| when.map(|when| super::time(when.into()))).map_err(|error| Error::from(error).into()))
    }

    fn drop(&mut self, handle: Resource<Bucket>) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}
