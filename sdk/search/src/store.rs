//! [`Store`]: the little that an index needs of the state of a plugin.
//!
//! It knows nothing of what is stored.

use wharf_sdk::{Bucket, Call, Change, Entry, ErrorCode, ToolError};

/// Keys that one host call takes.
pub(crate) const KEYS_PER_CALL: usize = 1_000;

/// Entries that an index lives in. [`CallStore`] is the one for plugins.
pub trait Store {
    /// The entries of at most 1,000 keys, in the order of `keys`.
    ///
    /// # Errors
    /// `limit` where the values are too much for one call: the index asks for
    /// fewer then. Any other error ends what the index does.
    fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError>;

    /// Makes all changes or none.
    ///
    /// # Errors
    /// `conflict` where a revision is not the expected one.
    fn apply(&self, changes: Vec<Change>) -> Result<(), ToolError>;

    /// Called after each attempt that met somebody else's change, with the
    /// number of attempts so far. Waits, and says whether to try again.
    fn wait_to_retry(&self, attempts: u32) -> bool;
}

/// The bucket of a call. It stops trying while there is time to answer.
#[derive(Debug, Clone, Copy)]
pub struct CallStore<'call> {
    call: &'call Call,
    bucket: &'call Bucket<'call>,
}

impl<'call> CallStore<'call> {
    /// A store of the entries of `bucket`, which `call` opened.
    #[must_use]
    pub fn new(call: &'call Call, bucket: &'call Bucket<'call>) -> Self {
        Self { call, bucket }
    }
}

impl Store for CallStore<'_> {
    fn get_many(&self, keys: &[&str]) -> Result<Vec<Option<Entry>>, ToolError> {
        self.bucket.get_many(keys)
    }

    fn apply(&self, changes: Vec<Change>) -> Result<(), ToolError> {
        self.bucket.apply(changes).map(drop)
    }

    fn wait_to_retry(&self, attempts: u32) -> bool {
        self.call.wait_to_retry(attempts)
    }
}

/// The values of any number of keys, in as few calls as the store allows.
pub(crate) fn read(store: &impl Store, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, ToolError> {
    let mut values = Vec::with_capacity(keys.len());
    for part in keys.chunks(KEYS_PER_CALL) {
        read_part(store, part, &mut values)?;
    }
    Ok(values)
}

fn read_part(store: &impl Store, keys: &[String], values: &mut Vec<Option<Vec<u8>>>) -> Result<(), ToolError> {
    let borrowed: Vec<&str> = keys.iter().map(String::as_str).collect();
    match store.get_many(&borrowed) {
        Ok(entries) => {
            values.extend(entries.into_iter().map(|entry| entry.map(|entry| entry.value)));
            Ok(())
        }
        Err(error) if error.code == ErrorCode::Limit && keys.len() > 1 => {
            let (first, second) = keys.split_at(keys.len() / 2);
            read_part(store, first, values)?;
            read_part(store, second, values)
        }
        Err(error) => Err(error),
    }
}
