//! Reading, changing and writing in one step, though others write meanwhile:
//! optimistic, with bounded retry.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ErrorCode;
use crate::state::{Bucket, Change, Entry};
use crate::{Call, ToolError};

/// How often a change is tried. With the pauses between, only a store that
/// somebody else keeps changing without end uses it up.
const ATTEMPTS: u32 = 500;

/// The longest pause between two attempts.
const LONGEST_PAUSE_MILLISECONDS: u64 = 32;

/// Where less time than this is left, the tool should answer rather than try.
const RESERVE: Duration = Duration::from_millis(250);

impl Call {
    /// To be called after each attempt at a change that met somebody else's
    /// (`conflict`), with the number of attempts so far. Waits as long as is good
    /// for all calls that try, and says whether to try again: not after hundreds of
    /// attempts, nor where the time that is left is for the answer.
    /// [`Bucket::update`] and [`Bucket::transact`] do so themselves.
    #[must_use]
    pub fn wait_to_retry(&self, attempts: u32) -> bool {
        let pause = pause_after(attempts);
        if attempts >= ATTEMPTS || self.remaining() < pause + RESERVE {
            return false;
        }
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        true
    }
}

impl Bucket<'_> {
    /// Changes the value of one key: reads it (its default where absent), lets
    /// `change` work on it, writes it back if nobody else wrote meanwhile, and
    /// else begins anew. It returns what `change` returned.
    ///
    /// `change` may run several times, each time on the value as it is then.
    /// Where it fails, nothing is written.
    ///
    /// # Errors
    /// What `change` fails with; `conflict` where others write so often that it
    /// never came through; and as [`Bucket::get_many`] and [`Bucket::apply`].
    pub fn update<T, R>(
        &self,
        key: &str,
        mut change: impl FnMut(&mut T) -> Result<R, ToolError>,
    ) -> Result<R, ToolError>
    where
        T: Default + Serialize + DeserializeOwned,
    {
        self.transact(&[key], |entries| {
            let entry = entries.first().and_then(Option::as_ref);
            let mut value: T = entry.map(Entry::json).transpose()?.unwrap_or_default();
            let result = change(&mut value)?;
            Ok((vec![Change::put_json(key, &value)?], result))
        })
    }

    /// The same for several keys at once: `attempt` sees their entries and says
    /// what to change. A change of one of `keys` that names no revision is made
    /// only while that key is as `attempt` saw it; other keys are written as
    /// they stand. Without any change nothing is written.
    ///
    /// # Errors
    /// As [`Bucket::update`].
    pub fn transact<R>(
        &self,
        keys: &[&str],
        mut attempt: impl FnMut(&[Option<Entry>]) -> Result<(Vec<Change>, R), ToolError>,
    ) -> Result<R, ToolError> {
        let mut tried = 0;
        loop {
            let entries = self.get_many(keys)?;
            let (mut changes, result) = attempt(&entries)?;
            if changes.is_empty() {
                return Ok(result);
            }
            expect_unchanged(&mut changes, keys, &entries);
            match self.apply(changes) {
                Ok(_) => return Ok(result),
                Err(error) if error.code == ErrorCode::Conflict => {}
                Err(error) => return Err(error),
            }
            tried += 1;
            if !self.call.wait_to_retry(tried) {
                return Err(ToolError::conflict(format!(
                    "others changed the same entries during each of {tried} attempts; nothing was changed"
                )));
            }
        }
    }
}

fn expect_unchanged(changes: &mut [Change], keys: &[&str], entries: &[Option<Entry>]) {
    for change in changes.iter_mut().filter(|change| change.if_revision.is_none()) {
        if let Some(position) = keys.iter().position(|key| *key == change.key) {
            let seen = entries.get(position).and_then(Option::as_ref);
            change.if_revision = Some(seen.map_or(0, |entry| entry.revision));
        }
    }
}

/// The first retry is immediate, since a single rival is the usual case. Later
/// ones wait for a random time that grows: contenders that all retry at once
/// only make each other fail.
fn pause_after(tried: u32) -> Duration {
    if tried < 2 {
        return Duration::ZERO;
    }
    let longest = 1_u64.checked_shl(tried - 1).unwrap_or(u64::MAX).min(LONGEST_PAUSE_MILLISECONDS);
    Duration::from_millis(1 + RandomState::new().hash_one(tried) % longest)
}
