//! Reading values of segments, as many as are wanted in one host call.

use std::collections::BTreeMap;

use crate::SearchError;
use crate::header::{Layout, Value};
use crate::index::Index;
use crate::seal;
use crate::store::{self, Store};

/// Values that were read, by segment. Sorted, since the seed of a hash map would
/// be one more host call.
#[derive(Debug, Default)]
pub(crate) struct Values {
    values: BTreeMap<(u64, Value), Vec<u8>>,
}

impl Values {
    /// A value that was asked for; nothing for one that was not.
    pub(crate) fn get(&self, layout: &Layout, value: Value) -> &[u8] {
        self.values.get(&(layout.number, value)).map_or(&[], Vec::as_slice)
    }
}

/// A key whose entry is gone: its segment was merged, or it is damage.
#[derive(Debug)]
pub(crate) struct MissingValue(pub(crate) String);

impl<S: Store> Index<S> {
    /// Reads values, each of which may be named several times.
    pub(crate) fn values<'layout>(
        &self,
        wanted: impl Iterator<Item = (&'layout Layout, Value)>,
    ) -> Result<Result<Values, MissingValue>, SearchError> {
        let mut keys = Vec::new();
        let mut parts = Vec::new();
        let mut values = Values::default();
        for (layout, value) in wanted {
            let place = (layout.number, value);
            if values.values.insert(place, Vec::new()).is_none() {
                let before = keys.len();
                keys.extend(layout.keys(&self.prefix, value));
                parts.resize(keys.len().max(before), place);
            }
        }
        if keys.is_empty() {
            return Ok(Ok(values));
        }
        let stored = store::read(&self.store, &keys)?;
        for ((key, place), stored) in keys.into_iter().zip(parts).zip(stored) {
            let Some(stored) = stored else { return Ok(Err(MissingValue(key))) };
            let part = seal::open(&key, stored).map_err(|error| error.at(&key))?;
            let value = values.values.entry(place).or_default();
            if value.is_empty() {
                *value = part;
            } else {
                value.extend_from_slice(&part);
            }
        }
        Ok(Ok(values))
    }
}
