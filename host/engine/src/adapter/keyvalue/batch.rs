//! `batch`: many keys at once, each time as a whole.

use wasmtime::component::Resource;
use wharf_state::StateEntry;

use super::open::{DRAFT, DRAFT2, VERSIONS, answered, delete_many, set_many};
use crate::{
    bucket::KeyValueBucket,
    failure::Failure,
    guest::Guest,
    watch::{self, weight::Weight as _},
};

type Handle = Resource<KeyValueBucket>;

pub(super) fn link(linker: &mut watch::component::Linker<Guest>) -> wasmtime::Result<()> {
    for version in VERSIONS {
        let mut batch = linker.instance(&format!("wasi:keyvalue/batch@{version}"))?;
        batch.func_wrap_async("set-many", |mut store, (handle, entries): (Handle, Vec<(String, Vec<u8>)>)| {
            Box::new(async move { answered(set_many(store.data_mut().opened(&handle), entries).await) })
        })?;
        batch.func_wrap_async("delete-many", |mut store, (handle, keys): (Handle, Vec<String>)| {
            Box::new(async move { answered(delete_many(store.data_mut().opened(&handle), keys).await) })
        })?;
    }
    let mut batch = linker.instance(&format!("wasi:keyvalue/batch@{DRAFT}"))?;
    batch.func_wrap_async("get-many", |mut store, (handle, keys): (Handle, Vec<String>)| {
        Box::new(async move {
            let found = get_many(store.data_mut(), &handle, &keys).await;
            let pair = |entry: StateEntry| (entry.key, entry.value);
            answered(found.map(|found| found.into_iter().map(|entry| entry.map(pair)).collect::<Vec<_>>()))
        })
    })?;
    let mut batch = linker.instance(&format!("wasi:keyvalue/batch@{DRAFT2}"))?;
    batch.func_wrap_async("get-many", |mut store, (handle, keys): (Handle, Vec<String>)| {
        Box::new(async move {
            let found = get_many(store.data_mut(), &handle, &keys).await;
            let value = |entry: Option<StateEntry>| entry.map(|entry| entry.value);
            answered(found.map(|found| keys.into_iter().zip(found.into_iter().map(value)).collect::<Vec<_>>()))
        })
    })
}

async fn get_many(guest: &mut Guest, handle: &Handle, keys: &Vec<String>) -> Result<Vec<Option<StateEntry>>, Failure> {
    let open = guest.opened_to_read(handle).await?;
    // The keys are returned as well.
    let room = open.call.budget.readable_bytes().saturating_sub(keys.weight());
    Ok(open.values().get_many(keys, room).await?)
}
