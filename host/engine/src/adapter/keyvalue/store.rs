//! `store`: buckets, and one key at a time.

use wasmtime::component::{ComponentType, Lower, Resource, ResourceType};
use wharf_core::{Code, Error};
use wharf_state::{KeyPage, ScopePolicy};

use super::open::{DRAFT, DRAFT2, OpenBucket, VERSIONS, answered, delete_many, set_many};
use crate::{
    bucket::{Bucket, KeyValueBucket, NumberedCursors},
    failure::Failure,
    guest::Guest,
    watch::{
        self,
        component::LinkerInstance,
        crossing::{Crossing, Incoming, Malformed},
        weight::Weight,
    },
};

/// The buckets of the draft have this name in the scope that a guest opens.
const BUCKET: &str = "wasi-keyvalue";
/// A page of keys holds about this much.
const PAGE_BYTES: u64 = 1 << 20;

/// A page of keys.
#[derive(ComponentType, Lower)]
#[component(record)]
struct KeyResponse<C> {
    #[component(name = "keys")]
    keys: Vec<String>,
    #[component(name = "cursor")]
    cursor: Option<C>,
}

impl<C> Weight for KeyResponse<C> {
    /// The keys fill what a read may return. The cursor is free, so that a read that fits never
    /// ends the call.
    fn weight(&self) -> u64 {
        self.keys.weight()
    }
}

impl<C: Crossing> Crossing for KeyResponse<C> {
    fn write(&self, out: &mut Vec<u8>) {
        self.keys.write(out);
        self.cursor.write(out);
    }

    fn read(from: &mut Incoming<'_>) -> Result<Self, Malformed> {
        Ok(Self { keys: Crossing::read(from)?, cursor: Crossing::read(from)? })
    }
}

type Handle = Resource<KeyValueBucket>;

pub(super) fn link(linker: &mut watch::component::Linker<Guest>) -> wasmtime::Result<()> {
    for version in VERSIONS {
        link_common(&mut linker.instance(&format!("wasi:keyvalue/store@{version}"))?)?;
    }
    let mut store = linker.instance(&format!("wasi:keyvalue/store@{DRAFT}"))?;
    store.func_wrap_async("[method]bucket.list-keys", |mut store, (handle, cursor): (Handle, Option<u64>)| {
        Box::new(async move { answered(list_by_number(store.data_mut(), &handle, cursor).await) })
    })?;
    let mut store = linker.instance(&format!("wasi:keyvalue/store@{DRAFT2}"))?;
    store.func_wrap_async("[method]bucket.list-keys", |mut store, (handle, cursor): (Handle, Option<String>)| {
        Box::new(async move { answered(list(store.data_mut().opened(&handle), cursor.as_deref()).await) })
    })
}

/// Links what the versions have in common.
fn link_common(store: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    store.resource("bucket", ResourceType::host::<KeyValueBucket>(), |mut store, handle| {
        store.data_mut().table.delete(Handle::new_own(handle))?;
        Ok(())
    })?;
    store.func_wrap("open", |mut store, (identifier,): (String,)| answered(open(store.data_mut(), &identifier)))?;
    store.func_wrap_async("[method]bucket.get", |mut store, (handle, key): (Handle, String)| {
        Box::new(async move { answered(get(store.data_mut(), &handle, &key).await) })
    })?;
    store.func_wrap_async("[method]bucket.set", |mut store, (handle, key, value): (Handle, String, Vec<u8>)| {
        Box::new(async move {
            let open = store.data_mut().opened(&handle);
            answered(set_many(open, vec![(key, value)]).await)
        })
    })?;
    store.func_wrap_async("[method]bucket.delete", |mut store, (handle, key): (Handle, String)| {
        Box::new(async move { answered(delete_many(store.data_mut().opened(&handle), vec![key]).await) })
    })?;
    store.func_wrap_async("[method]bucket.exists", |mut store, (handle, key): (Handle, String)| {
        Box::new(async move { answered(exists(store.data_mut().opened(&handle), &key).await) })
    })
}

/// A bucket is named as its scope is; the empty name means `default`.
fn open(guest: &mut Guest, identifier: &str) -> Result<Handle, Failure> {
    let call = &*guest.call;
    let word = if identifier.is_empty() { "default" } else { identifier };
    let kind = call.grants().scope_kind(word).map_err(|unknown| Error { code: Code::NotFound, ..unknown })?;
    let granted = call.grants().state(&call.plugin, kind).inspect_err(|denied| {
        // The error of the draft has no room for the line that would allow it.
        if call.budget.log_line() {
            tracing::warn!(plugin = %call.plugin, "{denied}");
        }
    })?;
    let bucket = Bucket {
        scope: granted.scope(call.context(), &call.plugin, kind, BUCKET.parse().map_err(Error::from)?)?,
        policy: ScopePolicy::of(granted.grant(), kind),
    };
    guest.handle_of(KeyValueBucket { bucket, cursors: NumberedCursors::default() })
}

async fn get(guest: &mut Guest, handle: &Handle, key: &str) -> Result<Option<Vec<u8>>, Failure> {
    let open = guest.opened_to_read(handle).await?;
    let entry = open.values().get(key, open.call.budget.readable_bytes()).await?;
    Ok(entry.map(|entry| entry.value))
}

async fn exists(open: Result<OpenBucket, Failure>, key: &str) -> Result<bool, Failure> {
    Ok(open?.values().revision(key).await? != 0)
}

async fn list_by_number(guest: &mut Guest, handle: &Handle, cursor: Option<u64>) -> Result<KeyResponse<u64>, Failure> {
    let cursors = &guest.table.get(handle)?.cursors;
    let after = cursor.map(|number| cursors.end(number)).transpose()?.map(str::to_owned);
    let KeyResponse { keys, cursor } = list(guest.opened(handle), after.as_deref()).await?;
    let cursors = &mut guest.table.get_mut(handle)?.cursors;
    Ok(KeyResponse { keys, cursor: cursor.map(|end| cursors.number(end)) })
}

async fn list(open: Result<OpenBucket, Failure>, after: Option<&str>) -> Result<KeyResponse<String>, Failure> {
    let open = open?;
    let room = open.call.budget.readable_bytes().min(PAGE_BYTES);
    let KeyPage { keys, next } = open.values().keys(after, room).await?;
    Ok(KeyResponse { keys: keys.into_iter().map(|(key, _)| key).collect(), cursor: next })
}
