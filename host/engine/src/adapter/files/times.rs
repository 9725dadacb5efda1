//! The functions that tell when a file was changed: a guest that writes one reads a clock so.

use std::time::Duration;

use wasmtime::StoreContextMut;
use wasmtime_wasi::p2::{
    FsResult,
    bindings::{
        clocks::wall_clock::Datetime,
        filesystem::types::{DescriptorStat, HostDescriptor as _, PathFlags},
    },
};

use super::descriptors::{DescriptorHandle, returned};
use crate::{coarse::ClockResolution, guest::Guest, watch::component::LinkerInstance};

type GuestStore<'s, 'g> = &'s mut StoreContextMut<'g, Guest>;

pub(super) fn link(types: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    types.func_wrap_async_untold("[method]descriptor.stat", |mut store, (handle,)| {
        Box::new(async move { returned(stat(&mut store, handle).await) })
    })?;
    types.func_wrap_async_untold("[method]descriptor.stat-at", |mut store, parameters| {
        Box::new(async move { returned(stat_at(&mut store, parameters).await) })
    })
}

async fn stat(store: GuestStore<'_, '_>, handle: DescriptorHandle) -> FsResult<DescriptorStat> {
    let guest = store.data_mut();
    let stat = guest.filesystem_of_counted_call().stat(handle).await?;
    Ok(as_shown(guest, stat))
}

async fn stat_at(
    store: GuestStore<'_, '_>,
    (handle, flags, path): (DescriptorHandle, PathFlags, String),
) -> FsResult<DescriptorStat> {
    let guest = store.data_mut();
    let stat = guest.filesystem_of_counted_call().stat_at(handle, flags, path).await?;
    Ok(as_shown(guest, stat))
}

/// With its times as the guest's clocks would have shown them.
fn as_shown(guest: &Guest, mut stat: DescriptorStat) -> DescriptorStat {
    let Some(coarse) = &guest.call.coarse else { return stat };
    let times =
        [&mut stat.data_access_timestamp, &mut stat.data_modification_timestamp, &mut stat.status_change_timestamp];
    for time in times.into_iter().flatten() {
        *time = floor(coarse.resolution(), *time);
    }
    stat
}

fn floor(resolution: ClockResolution, time: Datetime) -> Datetime {
    let floored = resolution.floor(Duration::new(time.seconds, time.nanoseconds));
    Datetime { seconds: floored.as_secs(), nanoseconds: floored.subsec_nanos() }
}
