//! Keys and values alone, over any store: what interfaces ask for that know neither scopes nor
//! revisions.
//!
//! A number is kept as decimal digits, so that people and other programs read it.

use std::{collections::HashMap, ops::RangeInclusive, str, time::Instant};

use wharf_core::{Code, Error, ScopeKey};

use crate::{
    Contender, KeyPage, MAX_PAGE_ENTRIES, ScopePolicy, StateChange, StateEntry, StateError, StateStore, rules,
};

/// The digits of a number of 128 bits, and its sign.
const MAX_NUMBER_BYTES: usize = 40;

/// Why a number was not counted up. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// The store refused it.
    #[error(transparent)]
    State(#[from] StateError),
    /// The key holds something else.
    #[error("the value of {key:?} is no whole number in decimal digits; delete it, or count under another key")]
    NotANumber {
        /// The key.
        key: String,
    },
    /// The sum is not in the range of the interface.
    #[error("the value of {key:?} would leave the range from {least} to {most}; it is still {value}")]
    OutOfRange {
        /// The key.
        key: String,
        /// What it holds.
        value: i128,
        /// The least number.
        least: i128,
        /// The greatest number.
        most: i128,
    },
}

impl From<CountError> for Error {
    fn from(error: CountError) -> Self {
        match error {
            CountError::State(error) => error.into(),
            CountError::NotANumber { .. } | CountError::OutOfRange { .. } => {
                Self::new(Code::Invalid, error.to_string())
            }
        }
    }
}

/// The keys and values of one scope, for one operation of a call.
#[derive(Clone, Copy)]
pub struct KeyValues<'s> {
    /// Where they are.
    pub store: &'s dyn StateStore,
    /// Whose they are.
    pub scope: &'s ScopeKey,
    /// The quotas and the expiry of the scope.
    pub policy: &'s ScopePolicy,
    /// When a write that waits for its turn gives up.
    pub until: Instant,
}

impl std::fmt::Debug for KeyValues<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("KeyValues").field("scope", self.scope).finish_non_exhaustive()
    }
}

impl KeyValues<'_> {
    /// The entry of a key.
    ///
    /// # Errors
    /// As [`StateStore::get_many`].
    pub async fn get(&self, key: &str, max_bytes: u64) -> Result<Option<StateEntry>, StateError> {
        Ok(self.get_many(&[key.to_owned()], max_bytes).await?.pop().flatten())
    }

    /// The entries of at most 1,000 keys, as they were at one moment.
    ///
    /// # Errors
    /// As [`StateStore::get_many`].
    pub async fn get_many(&self, keys: &[String], max_bytes: u64) -> Result<Vec<Option<StateEntry>>, StateError> {
        self.store.get_many(self.scope, self.policy, keys, max_bytes).await
    }

    /// The revision of a key, without its value; 0 where it is absent.
    ///
    /// # Errors
    /// `IllegalKey`; storage errors.
    pub async fn revision(&self, key: &str) -> Result<u64, StateError> {
        rules::check_key(key)?;
        // Of all keys that begin with a key, itself is the first.
        let page = self.store.scan_keys(self.scope, self.policy, key, None, 1, u64::MAX).await?;
        Ok(page.keys.first().filter(|(found, _)| found == key).map_or(0, |(_, revision)| *revision))
    }

    /// A page of the keys, from the first one after `after`.
    ///
    /// # Errors
    /// As [`StateStore::scan_keys`].
    pub async fn keys(&self, after: Option<&str>, max_bytes: u64) -> Result<KeyPage, StateError> {
        self.store.scan_keys(self.scope, self.policy, "", after, MAX_PAGE_ENTRIES, max_bytes).await
    }

    /// Writes at most 1,000 values, all or none. Of a key that is given twice, the last counts.
    ///
    /// # Errors
    /// As [`StateStore::apply`].
    pub async fn set_many(&self, entries: Vec<(String, Vec<u8>)>) -> Result<(), StateError> {
        self.change(entries.into_iter().map(|(key, value)| (key, Some(value))).collect()).await
    }

    /// Deletes at most 1,000 keys, all or none. A key need not exist.
    ///
    /// # Errors
    /// As [`StateStore::apply`].
    pub async fn delete_many(&self, keys: Vec<String>) -> Result<(), StateError> {
        self.change(keys.into_iter().map(|key| (key, None)).collect()).await
    }

    async fn change(&self, changes: HashMap<String, Option<Vec<u8>>>) -> Result<(), StateError> {
        let changes = changes.into_iter().map(|(key, value)| StateChange { key, value, if_revision: None });
        self.store.apply(self.scope, self.policy, changes.collect(), self.until).await.map(|_| ())
    }

    /// Writes a value if the key still has this revision, 0 where it must be absent.
    ///
    /// # Errors
    /// `Conflict` with the revision that it has; else as [`StateStore::apply`].
    pub async fn swap(
        &self,
        contender: &mut Contender,
        key: String,
        revision: u64,
        value: Vec<u8>,
    ) -> Result<(), StateError> {
        let change = StateChange { key, value: Some(value), if_revision: Some(revision) };
        contender.apply(self.store, self.scope, self.policy, vec![change], self.until).await.map(|_| ())
    }

    /// Adds to the number of a key, an absent one counting as 0, and returns the sum. However
    /// many calls do so at once, each is counted.
    ///
    /// # Errors
    /// `NotANumber`, `OutOfRange`; else as [`StateStore::apply`].
    pub async fn add(
        &self,
        contender: &mut Contender,
        key: &str,
        delta: i128,
        range: RangeInclusive<i128>,
    ) -> Result<i128, CountError> {
        loop {
            contender.before_reading(self.scope, self.until).await;
            let stored = self.get(key, u64::MAX).await?;
            let (value, revision) = match &stored {
                Some(entry) => (number(entry)?, entry.revision),
                None => (0, 0),
            };
            let sum = value.checked_add(delta).filter(|sum| range.contains(sum)).ok_or_else(|| {
                CountError::OutOfRange { key: key.to_owned(), value, least: *range.start(), most: *range.end() }
            })?;
            match self.swap(contender, key.to_owned(), revision, sum.to_string().into_bytes()).await {
                Ok(()) => return Ok(sum),
                Err(StateError::Conflict { .. }) if Instant::now() < self.until => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn number(entry: &StateEntry) -> Result<i128, CountError> {
    let digits = str::from_utf8(&entry.value).ok().filter(|digits| digits.len() <= MAX_NUMBER_BYTES);
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| CountError::NotANumber { key: entry.key.clone() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wharf_core::ScopeKind;
    use wharf_test_support::soon;

    use super::*;
    use crate::{MemoryStore, SqliteOptions, SqliteStore, WriteTurns};

    const SIGNED: RangeInclusive<i128> = i64::MIN as i128..=i64::MAX as i128;

    struct Subject {
        store: Box<dyn StateStore>,
        scope: ScopeKey,
        policy: ScopePolicy,
        turns: Arc<WriteTurns>,
    }

    impl Subject {
        fn new() -> Arc<Self> {
            Self::on(Box::<MemoryStore>::default())
        }

        fn on(store: Box<dyn StateStore>) -> Arc<Self> {
            let scope = ScopeKey {
                tenant: "local".parse().expect("legal"),
                plugin: "foreign".parse().expect("legal"),
                kind: ScopeKind::Session,
                session: "s".parse().ok(),
                assistant: None,
                thread: None,
                bucket: "main".parse().expect("legal"),
            };
            let policy = ScopePolicy { quota_bytes: 1 << 20, quota_entries: 5_000, idle_expiry: None };
            Arc::new(Self { store, scope, policy, turns: Arc::default() })
        }

        fn values(&self) -> KeyValues<'_> {
            KeyValues { store: &*self.store, scope: &self.scope, policy: &self.policy, until: soon() }
        }

        fn contender(&self) -> Contender {
            Contender::new(Arc::clone(&self.turns), "tool".into())
        }

        async fn add(&self, key: &str, delta: i128) -> Result<i128, CountError> {
            self.values().add(&mut self.contender(), key, delta, SIGNED).await
        }

        async fn value(&self, key: &str) -> Option<Vec<u8>> {
            self.values().get(key, 1 << 20).await.expect("a read").map(|entry| entry.value)
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn however_many_count_at_once_each_is_counted() {
        // Its writes wait for their thread: others read between a read and its write.
        let directory = tempfile::tempdir().expect("a directory");
        let store = SqliteStore::open(directory.path(), SqliteOptions::default()).expect("a store");
        let subject = Subject::on(Box::new(store));
        let counting: Vec<_> = (0..200)
            .map(|_| {
                let subject = Arc::clone(&subject);
                tokio::spawn(async move { subject.add("n", 2).await })
            })
            .collect();
        let mut sums = Vec::new();
        for sum in counting {
            sums.push(sum.await.expect("it does not panic").expect("counted"));
        }
        sums.sort_unstable();
        assert_eq!(sums, (1..=200).map(|n| n * 2).collect::<Vec<_>>(), "no sum comes twice");
        assert_eq!(subject.value("n").await.as_deref(), Some(&b"400"[..]));
    }

    #[tokio::test]
    async fn what_is_no_number_or_leaves_the_range_stays_as_it_is() {
        let subject = Subject::new();
        let others: [&[u8]; 6] = [b"", b"1.5", b" 1", b"one", b"\xff", &[b'0'; 41]];
        for value in others {
            subject.values().set_many(vec![("n".into(), value.into())]).await.expect("set");
            let refused = subject.add("n", 1).await.expect_err("no number");
            assert!(matches!(refused, CountError::NotANumber { .. }), "{refused}");
            assert_eq!(subject.value("n").await.as_deref(), Some(value));
        }
        for (value, delta) in [(i64::MAX, 1), (i64::MIN, -1)] {
            subject.values().set_many(vec![("n".into(), value.to_string().into_bytes())]).await.expect("set");
            let refused = subject.add("n", delta).await.expect_err("out of range");
            assert!(refused.to_string().contains(&format!("it is still {value}")), "{refused}");
        }
        subject.values().set_many(vec![("n".into(), i128::MAX.to_string().into_bytes())]).await.expect("set");
        assert!(matches!(subject.add("n", i128::MAX).await, Err(CountError::OutOfRange { .. })));
        let refused = Error::from(subject.add("", 1).await.expect_err("no key"));
        assert_eq!(refused.code, Code::Invalid);
    }

    #[tokio::test]
    async fn a_key_that_is_given_twice_is_written_once_with_its_last_value() {
        let subject = Subject::new();
        let entries = [("a", "1"), ("b", "2"), ("a", "3")].map(|(key, value)| (key.to_owned(), value.into()));
        subject.values().set_many(entries.into()).await.expect("set");
        assert_eq!((subject.value("a").await, subject.value("b").await), (Some(b"3".into()), Some(b"2".into())));
        let keys = ["a", "absent", "a"].map(str::to_owned);
        subject.values().delete_many(keys.into()).await.expect("deleted");
        assert_eq!(subject.values().keys(None, 1 << 20).await.expect("a scan").keys.len(), 1);
        let many = (0..=1_000).map(|n| (n.to_string(), Vec::new())).collect();
        assert!(matches!(subject.values().set_many(many).await, Err(StateError::TooManyChanges { given: 1_001 })));
        assert_eq!(subject.value("7").await, None, "all or none");
    }

    #[tokio::test]
    async fn a_value_is_swapped_only_if_nobody_wrote_since() {
        let subject = Subject::new();
        assert_eq!(subject.values().revision("k").await.expect("a read"), 0);
        subject.values().set_many(vec![("kk".into(), b"longer".into())]).await.expect("set");
        assert_eq!(subject.values().revision("k").await.expect("a read"), 0, "another key that begins so");
        let mut contender = subject.contender();
        subject.values().swap(&mut contender, "k".into(), 0, b"first".into()).await.expect("swapped");
        let revision = subject.values().revision("k").await.expect("a read");
        let late = subject.values().swap(&mut contender, "k".into(), 0, b"late".into()).await;
        assert!(matches!(late, Err(StateError::Conflict { found, .. }) if found == revision), "{late:?}");
        subject.values().swap(&mut contender, "k".into(), revision, b"second".into()).await.expect("swapped");
        assert_eq!(subject.value("k").await.as_deref(), Some(&b"second"[..]));
        assert!(matches!(subject.values().revision("").await, Err(StateError::IllegalKey { .. })));
    }
}
