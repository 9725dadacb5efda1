//! `atomics`: numbers that many calls count up, and compare-and-swap.

use std::ops::RangeInclusive;

use wasmtime::component::{ComponentType, Lower, Resource, ResourceType};
use wharf_core::{Code, Error};
use wharf_state::StateError;

use super::open::{DRAFT, DRAFT2, StoreError, answered};
use crate::{
    bucket::{CompareAndSwap, KeyValueBucket},
    failure::Failure,
    guest::Guest,
    watch::{self, Refusal, crossing::one_of},
};

type Handle = Resource<KeyValueBucket>;
type CasHandle = Resource<CompareAndSwap>;

/// Why a swap did not happen.
#[derive(ComponentType, Lower)]
#[component(variant)]
enum CasError {
    #[component(name = "store-error")]
    Store(StoreError),
    /// Somebody else wrote. The new handle begins at what they wrote.
    #[component(name = "cas-failed")]
    Failed(CasHandle),
}

one_of!(CasError { Store(error) = 0, Failed(anew) = 1 });

impl Refusal for CasError {
    fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.code(),
            Self::Failed(_) => Code::Conflict,
        }
    }
}

pub(super) fn link(linker: &mut watch::component::Linker<Guest>) -> wasmtime::Result<()> {
    let mut atomics = linker.instance(&format!("wasi:keyvalue/atomics@{DRAFT}"))?;
    atomics.func_wrap_async("increment", |mut store, (handle, key, delta): (Handle, String, u64)| {
        Box::new(async move { answered(increment(store.data_mut(), &handle, &key, delta, u64::MIN..=u64::MAX).await) })
    })?;
    let mut atomics = linker.instance(&format!("wasi:keyvalue/atomics@{DRAFT2}"))?;
    atomics.func_wrap_async("increment", |mut store, (handle, key, delta): (Handle, String, i64)| {
        Box::new(async move { answered(increment(store.data_mut(), &handle, &key, delta, i64::MIN..=i64::MAX).await) })
    })?;
    atomics.resource("cas", ResourceType::host::<CompareAndSwap>(), |mut store, handle| {
        store.data_mut().table.delete(CasHandle::new_own(handle))?;
        Ok(())
    })?;
    atomics.func_wrap_async("[static]cas.new", |mut store, (handle, key): (Handle, String)| {
        Box::new(async move { answered(begin(store.data_mut(), &handle, key).await) })
    })?;
    atomics.func_wrap_async("[method]cas.current", |mut store, (handle,): (CasHandle,)| {
        Box::new(async move { answered(current(store.data_mut(), &handle).await) })
    })?;
    atomics.func_wrap_async("swap", |mut store, (handle, value): (CasHandle, Vec<u8>)| {
        Box::new(async move {
            match swap(store.data_mut(), handle, value).await {
                Ok(None) => Ok((Ok(()),)),
                Ok(Some(anew)) => Ok((Err(CasError::Failed(anew)),)),
                Err(Failure::Refused(error)) => Ok((Err(CasError::Store(error.into())),)),
                Err(Failure::Trap(error)) => Err(error),
            }
        })
    })
}

async fn increment<N>(
    guest: &mut Guest,
    handle: &Handle,
    key: &str,
    delta: N,
    range: RangeInclusive<N>,
) -> Result<N, Failure>
where
    N: Copy + Into<i128> + TryFrom<i128>,
{
    let call = &*guest.call;
    let bucket = &guest.table.get(handle)?.bucket;
    let values = bucket.key_values(&call.backends, call.clock.wait_until());
    let range = (*range.start()).into()..=(*range.end()).into();
    let sum = values.add(&mut guest.contender, key, delta.into(), range).await.map_err(Error::from)?;
    N::try_from(sum).map_err(|_| Error::new(Code::Internal, "the sum is out of its range").into())
}

async fn begin(guest: &mut Guest, handle: &Handle, key: String) -> Result<CasHandle, Failure> {
    let open = guest.opened_to_read(handle).await?;
    let revision = open.values().revision(&key).await?;
    guest.handle_of(CompareAndSwap { bucket: open.bucket, key, revision })
}

/// Reads the value, and a swap from now on replaces that one alone.
async fn current(guest: &mut Guest, handle: &CasHandle) -> Result<Option<Vec<u8>>, Failure> {
    let call = &*guest.call;
    let CompareAndSwap { bucket, key, revision } = guest.table.get_mut(handle)?;
    guest.contender.before_reading(&bucket.scope, call.clock.wait_until()).await;
    let values = bucket.key_values(&call.backends, call.clock.wait_until());
    let entry = values.get(key, call.budget.readable_bytes()).await?;
    *revision = entry.as_ref().map_or(0, |entry| entry.revision);
    Ok(entry.map(|entry| entry.value))
}

/// Swaps, or returns a handle that begins anew.
async fn swap(guest: &mut Guest, handle: CasHandle, value: Vec<u8>) -> Result<Option<CasHandle>, Failure> {
    let CompareAndSwap { bucket, key, revision } = guest.table.delete(handle)?;
    let call = &*guest.call;
    let values = bucket.key_values(&call.backends, call.clock.wait_until());
    match values.swap(&mut guest.contender, key.clone(), revision, value).await {
        Ok(()) => Ok(None),
        Err(StateError::Conflict { found, .. }) => {
            guest.handle_of(CompareAndSwap { bucket, key, revision: found }).map(Some)
        }
        Err(error) => Err(error.into()),
    }
}
