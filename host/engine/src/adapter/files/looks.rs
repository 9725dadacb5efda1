//! The functions that look at what is open or named, or set its times: WASI's own, on handles that
//! come from ours.

use wasmtime_wasi::p2::bindings::filesystem::types::{Advice, HostDescriptor as _, NewTimestamp, PathFlags};

use super::descriptors::{DescriptorHandle, returned};
use crate::{guest::Guest, watch::component::LinkerInstance};

/// Links functions under their names in WASI.
macro_rules! of_wasi {
    ($types:ident, $($name:literal, $function:ident($($parameter:ident: $type:ty),*);)*) => {
        $($types.func_wrap_async_untold(
            concat!("[method]descriptor.", $name),
            |mut store, (handle, $($parameter),*): (DescriptorHandle, $($type),*)| {
                Box::new(async move {
                    let mut wasi = store.data_mut().filesystem_of_counted_call();
                    returned(wasi.$function(handle, $($parameter),*).await)
                })
            },
        )?;)*
    };
}

pub(super) fn link(types: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    of_wasi! { types,
        "advise", advise(offset: u64, length: u64, advice: Advice);
        "sync-data", sync_data();
        "get-flags", get_flags();
        "get-type", get_type();
        "set-times", set_times(accessed: NewTimestamp, modified: NewTimestamp);
        "read", read(length: u64, offset: u64);
        "sync", sync();
        "set-times-at", set_times_at(flags: PathFlags, path: String, accessed: NewTimestamp, modified: NewTimestamp);
        "readlink-at", readlink_at(path: String);
        "remove-directory-at", remove_directory_at(path: String);
        "metadata-hash", metadata_hash();
        "metadata-hash-at", metadata_hash_at(flags: PathFlags, path: String);
    }
    types.func_wrap_async_untold(
        "[method]descriptor.is-same-object",
        |mut store, (handle, other): (DescriptorHandle, DescriptorHandle)| {
            Box::new(async move {
                let mut wasi = store.data_mut().filesystem_of_counted_call();
                Ok((wasi.is_same_object(handle, other).await?,))
            })
        },
    )
}
