//! What the interfaces of `wasi:keyvalue` share: versions, the error, and open buckets.

use std::sync::Arc;

use wasmtime::component::{ComponentType, Lower, Resource};
use wharf_core::{Code, Error, text};
use wharf_state::KeyValues;

use crate::{
    adapter::types::MAX_MESSAGE_BYTES,
    bucket::{Bucket, KeyValueBucket},
    call::ActiveCall,
    failure::Failure,
    guest::Guest,
    watch::{Refusal, crossing::one_of},
};

/// The version with numbers as cursors.
pub(super) const DRAFT: &str = "0.2.0-draft";
/// The version with texts as cursors, and compare-and-swap.
pub(super) const DRAFT2: &str = "0.2.0-draft2";
/// The versions that are offered.
pub(crate) const VERSIONS: &[&str] = &[DRAFT, DRAFT2];

/// The error of the draft. Its text begins with the code of the contract.
#[derive(Debug, ComponentType, Lower)]
#[component(variant)]
pub(super) enum StoreError {
    #[component(name = "no-such-store")]
    NoSuchStore,
    #[component(name = "access-denied")]
    AccessDenied,
    #[component(name = "other")]
    Other(String),
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match error.code {
            Code::NotFound => Self::NoSuchStore,
            Code::Denied => Self::AccessDenied,
            _ => Self::Other(text::cut(&error.to_string(), MAX_MESSAGE_BYTES).to_owned()),
        }
    }
}

one_of!(StoreError { NoSuchStore = 0, AccessDenied = 1, Other(text) = 2 });

impl Refusal for StoreError {
    fn code(&self) -> Code {
        match self {
            Self::NoSuchStore => Code::NotFound,
            Self::AccessDenied => Code::Denied,
            // The host wrote it.
            Self::Other(text) => Code::from_guest(text.split(':').next().unwrap_or_default()),
        }
    }
}

/// What a function of the draft returns: one result.
pub(super) type Answered<T> = (Result<T, StoreError>,);

/// The guest gets a refusal, and a trap ends its call.
pub(super) fn answered<T>(outcome: Result<T, Failure>) -> wasmtime::Result<Answered<T>> {
    match outcome {
        Ok(value) => Ok((Ok(value),)),
        Err(Failure::Refused(error)) => Ok((Err(error.into()),)),
        Err(Failure::Trap(error)) => Err(error),
    }
}

/// An open bucket, apart from the guest: no borrow of a guest may last over a wait.
pub(super) struct OpenBucket {
    pub(super) call: Arc<ActiveCall>,
    pub(super) bucket: Bucket,
}

impl OpenBucket {
    /// Its keys and values, for one operation.
    pub(super) fn values(&self) -> KeyValues<'_> {
        self.bucket.key_values(&self.call.backends, self.call.clock.wait_until())
    }
}

pub(super) async fn set_many(
    open: Result<OpenBucket, Failure>,
    entries: Vec<(String, Vec<u8>)>,
) -> Result<(), Failure> {
    Ok(open?.values().set_many(entries).await?)
}

pub(super) async fn delete_many(open: Result<OpenBucket, Failure>, keys: Vec<String>) -> Result<(), Failure> {
    Ok(open?.values().delete_many(keys).await?)
}

impl Guest {
    /// The bucket of a handle.
    pub(super) fn opened(&self, handle: &Resource<KeyValueBucket>) -> Result<OpenBucket, Failure> {
        Ok(OpenBucket { call: Arc::clone(&self.call), bucket: self.table.get(handle)?.bucket.clone() })
    }

    /// The same for a read, which waits where calls of this tool write in turns what they read.
    pub(super) async fn opened_to_read(&mut self, handle: &Resource<KeyValueBucket>) -> Result<OpenBucket, Failure> {
        let open = self.opened(handle)?;
        self.contender.before_reading(&open.bucket.scope, open.call.clock.wait_until()).await;
        Ok(open)
    }
}
