//! What all hosts of a cluster have, and the copy of it on a data directory.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use wharf_core::{Digest, PluginName};

use super::{AddedError, AddedPlugins, InstalledChange, InstalledSet, MAX_FILE_BYTES, Receipt};

/// The set that all hosts of a cluster have, with what was written down of each plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SharedSet {
    #[serde(flatten)]
    set: InstalledSet,
    receipts: BTreeMap<PluginName, Receipt>,
}

/// Whether a copy takes the place of a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaterCopy {
    /// It stays: somebody has copied meanwhile.
    Stays,
    /// It goes: the cluster may be another one.
    Goes,
}

impl SharedSet {
    /// Reads the text of a set. An empty one is of a cluster to which nothing was added.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let shared: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(Self { set: shared.set.checked()?, ..shared })
    }

    /// The text of it; nothing where it is longer than any host reads.
    pub(crate) fn text(&self) -> Option<String> {
        let text = serde_json::to_string(self).ok()?;
        (text.len() as u64 <= MAX_FILE_BYTES).then_some(text)
    }

    pub(crate) fn apply(&mut self, change: InstalledChange<'_>) -> Result<bool, AddedError> {
        let changed = self.set.apply(change)?;
        if let Some((receipt, _)) = change.kept() {
            self.receipts.insert(receipt.name.clone(), receipt.clone());
        }
        self.receipts.retain(|name, _| self.set.plugins.contains_key(name));
        Ok(changed)
    }

    /// The tables that all hosts have.
    pub(crate) fn tables(&self) -> &str {
        &self.set.tables
    }

    pub(crate) fn set_tables(&mut self, tables: &str) {
        self.set.tables = tables.to_owned();
    }

    /// The components that it names.
    pub(crate) fn components(&self) -> HashSet<Digest> {
        self.set.plugins.values().copied().collect()
    }
}

impl AddedPlugins {
    /// Keeps a component that no set names yet.
    pub(crate) fn keep_component(&self, digest: &Digest, component: &[u8]) -> Result<(), AddedError> {
        let _lock = self.lock()?;
        self.write_component(digest, component)
    }

    /// Puts what a cluster has in the place of what is here. Nothing is changed where components
    /// are missing that are not `absent` everywhere: it returns those.
    ///
    /// # Errors
    /// [`AddedError::BeforeCluster`] where plugins were added here by another way.
    pub(crate) fn copy(
        &self,
        shared: &SharedSet,
        revision: i64,
        absent: &HashSet<Digest>,
        later: LaterCopy,
    ) -> Result<Vec<Digest>, AddedError> {
        let mut missing = Vec::new();
        self.change(|set| {
            if set.copy_of.is_none() && !set.is_empty() {
                return Err(AddedError::BeforeCluster { directory: self.directory.clone() });
            }
            if later == LaterCopy::Stays && set.copy_of.is_some_and(|present| present > revision) {
                return Ok(());
            }
            let needed = shared.components();
            let is_missing = |digest: &&Digest| !absent.contains(digest) && !self.has_component(digest);
            missing.extend(needed.iter().filter(is_missing).copied());
            if missing.is_empty() {
                for receipt in shared.receipts.values() {
                    self.write_receipt(receipt)?;
                }
                *set = InstalledSet { copy_of: Some(revision), ..shared.set.clone() };
            }
            Ok(())
        })?;
        Ok(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::receipt, *};

    fn added(name: &str, component: &'static [u8]) -> (Receipt, &'static [u8]) {
        (receipt(name, component), component)
    }

    fn shared(plugins: &[(Receipt, &'static [u8])]) -> SharedSet {
        let mut shared = SharedSet::default();
        for (receipt, component) in plugins {
            shared.apply(InstalledChange::Add { receipt, component }).expect("added");
        }
        SharedSet::read(&shared.text().expect("short")).expect("as it was written")
    }

    fn copied(here: &AddedPlugins, shared: &SharedSet, revision: i64) -> Vec<Digest> {
        here.copy(shared, revision, &HashSet::new(), LaterCopy::Stays).expect("copied")
    }

    #[test]
    fn a_copy_is_taken_once_all_its_components_are_there() {
        let data = tempfile::tempdir().expect("a directory");
        let here = AddedPlugins::of(data.path());
        let set = shared(&[added("one", b"first"), added("two", b"second")]);
        let missing = copied(&here, &set, 1);
        assert_eq!(missing.len(), 2);
        assert!(here.list().expect("read").is_empty(), "nothing is changed before");
        for component in [b"first".as_slice(), b"second"] {
            here.keep_component(&Digest::of(component), component).expect("kept");
        }
        assert!(copied(&here, &set, 1).is_empty());
        assert_eq!(here.list().expect("read").len(), 2);
        assert_eq!(here.receipt(&"one".parse().expect("legal")).expect("read"), Some(receipt("one", b"first")));
        let fewer = shared(&[added("two", b"second")]);
        assert!(copied(&here, &fewer, 3).is_empty());
        assert_eq!(here.list().expect("read").len(), 1);
        assert!(copied(&here, &set, 2).is_empty(), "an earlier one that comes late");
        assert_eq!(here.list().expect("read").len(), 1);
        assert!(here.component(&Digest::of(b"first"), 100).is_err(), "what no set names is removed");
    }

    #[test]
    fn a_component_that_nobody_has_keeps_no_other_one_away() {
        let data = tempfile::tempdir().expect("a directory");
        let here = AddedPlugins::of(data.path());
        let set = shared(&[added("one", b"first"), added("two", b"second")]);
        here.keep_component(&Digest::of(b"first"), b"first").expect("kept");
        let absent = HashSet::from([Digest::of(b"second")]);
        assert!(here.copy(&set, 1, &absent, LaterCopy::Stays).expect("copied").is_empty());
        assert_eq!(here.list().expect("read").len(), 2);
        assert!(here.component(&Digest::of(b"first"), 100).is_ok());
    }

    #[test]
    fn what_was_added_before_is_never_lost_for_a_copy() {
        let data = tempfile::tempdir().expect("a directory");
        let here = AddedPlugins::of(data.path());
        let (receipt, component) = added("mine", b"own");
        here.apply(InstalledChange::Add { receipt: &receipt, component }).expect("added");
        let copying = here.copy(&SharedSet::default(), 1, &HashSet::new(), LaterCopy::Goes);
        assert!(matches!(copying, Err(AddedError::BeforeCluster { .. })), "{copying:?}");
        assert_eq!(here.list().expect("read").len(), 1);
        here.apply(InstalledChange::Remove(&receipt.name)).expect("removed");
        assert!(here.copy(&SharedSet::default(), 1, &HashSet::new(), LaterCopy::Goes).is_ok());
    }

    #[test]
    fn what_another_version_wrote_is_not_guessed_at() {
        let text = shared(&[added("one", b"first")]).text().expect("short");
        assert!(SharedSet::read(&text.replace("\"format\":1", "\"format\":2")).is_err());
        assert!(SharedSet::read("{}").is_err() && SharedSet::read("").is_ok());
    }
}
