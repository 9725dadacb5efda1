//! `state`: durable entries under the calling context.

use wasmtime::component::Resource;
use wharf_core::Error;
use wharf_state::{EntryPage, ScopePolicy, StateChange, StateEntry};

use super::text;
use crate::{
    bindings::wharf::plugin::state::{self as wit, Host, HostBucket},
    bucket::Bucket,
    failure::Failure,
    guest::Guest,
    watch::weigh,
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

weigh! {
    wit::Change { key, value | if_revision };
    wit::Entry { key, value | revision };
    // Its entries fill what a read may return. The key beside them is free, so that a read
    // that fits never ends the call.
    wit::Page { entries | next };
    wit::Usage { | entries, bytes, quota_bytes };
}

impl Host for Guest {}

impl HostBucket for Guest {
    fn open(&mut self, scope: String, name: String) -> Result<Resource<Bucket>, Failure> {
        let call = &*self.call;
        let kind = call.grants().scope_kind(&scope)?;
        let granted = call.grants().state(&call.plugin, kind)?;
        let bucket = Bucket {
            scope: granted.scope(call.context(), &call.plugin, kind, name.parse().map_err(Error::from)?)?,
            policy: ScopePolicy::of(granted.grant(), kind),
        };
        self.handle_of(bucket)
    }

    async fn get_many(
        &mut self,
        handle: Resource<Bucket>,
        keys: Vec<String>,
    ) -> Result<Vec<Option<wit::Entry>>, Failure> {
        let call = &*self.call;
        let Bucket { scope, policy } = self.table.get(&handle)?.clone();
        self.contender.before_reading(&scope, call.clock.wait_until()).await;
        let found = call.backends.state.get_many(&scope, &policy, &keys, call.budget.readable_bytes()).await?;
        Ok(found.into_iter().map(|entry| entry.map(Into::into)).collect())
    }

    async fn apply(&mut self, handle: Resource<Bucket>, changes: Vec<wit::Change>) -> Result<Vec<u64>, Failure> {
        let call = &*self.call;
        let Bucket { scope, policy } = self.table.get(&handle)?.clone();
        let changes = changes.into_iter().map(Into::into).collect();
        let (store, until) = (&*call.backends.state, call.clock.wait_until());
        Ok(self.contender.apply(store, &scope, &policy, changes, until).await?)
    }

    async fn scan(
        &mut self,
        handle: Resource<Bucket>,
        prefix: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::Page, Failure> {
        let call = &*self.call;
        let Bucket { scope, policy } = self.table.get(&handle)?.clone();
        // The store clamps the number of entries.
        let room = call.budget.readable_bytes().min(PAGE_BYTES);
        let page = call.backends.state.scan(&scope, &policy, &prefix, after.as_deref(), limit, room).await?;
        Ok(page.into())
    }

    async fn usage(&mut self, handle: Resource<Bucket>) -> Result<wit::Usage, Failure> {
        let call = &*self.call;
        let Bucket { scope, policy } = self.table.get(&handle)?.clone();
        let usage = call.backends.state.usage(&scope).await?;
        Ok(wit::Usage { entries: usage.entries, bytes: usage.bytes, quota_bytes: policy.quota_bytes })
    }

    async fn expired_at(&mut self, handle: Resource<Bucket>) -> Result<Option<String>, Failure> {
        let call = &*self.call;
        let Bucket { scope, .. } = self.table.get(&handle)?.clone();
        Ok(call.backends.state.expired_at(&scope).await?.map(|when| text::time(when.into())))
    }

    fn drop(&mut self, handle: Resource<Bucket>) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}
