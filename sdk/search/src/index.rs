//! [`Index`]: adding and deleting documents, in one atomic step with whatever
//! else the plugin changes.

use std::collections::BTreeMap;

use wharf_sdk::{Change, ErrorCode, ToolError};

use crate::bytes::wide;
use crate::documents::{self, Description, Descriptions, SHARED};
use crate::header::{self, Header};
use crate::segment::{Terms, Written};
use crate::store::{self, KEYS_PER_CALL, Store};
use crate::{Analysis, Bm25, SearchError};

/// Bytes of one atomic step. The host ends a call that moves more than 4 MiB at
/// once, so this stays well below.
pub(crate) const STEP_BYTES: usize = 3_500_000;
/// Bytes of the text of one document, and of all that are added at once: what
/// the memory of a guest takes well.
const DOCUMENT_BYTES: usize = 1024 * 1024;
const TEXT_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of a label.
const LABEL_BYTES: usize = 512;
/// Bytes of a prefix.
const PREFIX_BYTES: usize = 128;

/// How an index understands words, and weighs them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Settings {
    /// What makes words the same.
    pub analysis: Analysis,
    /// The constants of the scores; they may change from search to search.
    pub bm25: Bm25,
}

/// A document to be found.
#[derive(Debug, Clone, Copy)]
pub struct Document<'text> {
    /// What it is found by. It is not stored: the plugin keeps it where it
    /// wants to. At most 1 MiB; a longer text is better found in parts.
    pub text: &'text str,
    /// What a hit returns, so that the plugin knows it again: at most 512 bytes.
    pub label: &'text str,
}

/// A document of an index. Never given twice within one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(pub u64);

/// What an index holds now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Documents, deleted ones not counted.
    pub documents: u64,
    /// Words of these documents.
    pub words: u64,
    /// Segments that a search looks into.
    pub segments: usize,
}

/// A search index under a prefix of a store's keys.
#[derive(Debug)]
pub struct Index<S> {
    pub(crate) store: S,
    pub(crate) prefix: String,
    pub(crate) settings: Settings,
}

impl<S: Store> Index<S> {
    /// The index under `prefix`, at most 128 bytes; nothing is read or written
    /// yet. No other key of the store may begin with the prefix.
    ///
    /// # Errors
    /// [`SearchError::InvalidSettings`].
    pub fn new(store: S, prefix: &str, settings: Settings) -> Result<Self, SearchError> {
        if prefix.len() > PREFIX_BYTES {
            return Err(SearchError::InvalidSettings("the prefix of a search index has at most 128 bytes"));
        }
        settings.bm25.check()?;
        Ok(Self { store, prefix: prefix.to_owned(), settings })
    }

    /// Adds documents and makes the changes that `own` returns for their ids,
    /// all of it or nothing, and returns the ids. `own` may run several times,
    /// each time with other ids. Up to some thousand documents, or a few
    /// megabytes of text, fit one step.
    ///
    /// # Errors
    /// As [`Index::replace`].
    pub fn add(
        &self,
        documents: &[Document<'_>],
        own: impl FnMut(&[DocumentId]) -> Result<Vec<Change>, ToolError>,
    ) -> Result<Vec<DocumentId>, SearchError> {
        self.replace(&[], documents, own)
    }

    /// Deletes documents together with what `own` changes. Ids that are not
    /// there any more are passed over.
    ///
    /// # Errors
    /// As [`Index::replace`].
    pub fn delete(
        &self,
        ids: &[DocumentId],
        mut own: impl FnMut() -> Result<Vec<Change>, ToolError>,
    ) -> Result<(), SearchError> {
        self.replace(ids, &[], |_| own()).map(drop)
    }

    /// Deletes `old` and adds `new` in one step with what `own` changes.
    ///
    /// # Errors
    /// [`SearchError::TooLarge`] where it does not fit one step;
    /// [`SearchError::Contended`] where others change the index without end;
    /// [`SearchError::Store`] where the store refuses, `own` fails, or a
    /// revision that `own` expects is not there. Nothing was changed then.
    pub fn replace(
        &self,
        old: &[DocumentId],
        new: &[Document<'_>],
        mut own: impl FnMut(&[DocumentId]) -> Result<Vec<Change>, ToolError>,
    ) -> Result<Vec<DocumentId>, SearchError> {
        let addition = self.prepare(new)?;
        let mut attempts = 0;
        loop {
            let (mut header, revision) = self.header()?;
            let mut changes = self.bury(&mut header, old)?;
            let ids = self.place(&mut header, &addition, &mut changes)?;
            changes.extend(own(&ids)?);
            if changes.is_empty() {
                return Ok(ids);
            }
            match self.commit(&header, revision, changes) {
                Ok(()) => {
                    // The change is made, whatever becomes of this: the next
                    // one tries again.
                    let _untidy = self.tidy_up(&header);
                    return Ok(ids);
                }
                Err(SearchError::Store(error)) if error.code == ErrorCode::Conflict => {
                    // If the header is as it was, an entry of the plugin is not.
                    if self.header()?.1 == revision {
                        return Err(error.into());
                    }
                }
                Err(error) => return Err(error),
            }
            attempts += 1;
            if !self.store.wait_to_retry(attempts) {
                return Err(SearchError::Contended { attempts });
            }
        }
    }

    /// What the index holds now.
    ///
    /// # Errors
    /// [`SearchError::Store`], [`SearchError::Corrupt`].
    pub fn statistics(&self) -> Result<Statistics, SearchError> {
        let (header, _) = self.header()?;
        let Header { documents, words, segments, .. } = header;
        Ok(Statistics { documents, words, segments: segments.len() })
    }

    pub(crate) fn header_key(&self) -> String {
        format!("{}h", self.prefix)
    }

    /// The header and its revision.
    pub(crate) fn header(&self) -> Result<(Header, u64), SearchError> {
        let key = self.header_key();
        let stored = self.settings.analysis.stored();
        let Some(entry) = self.store.get_many(&[&key])?.pop().flatten() else { return Ok((Header::new(stored), 0)) };
        let header = Header::decode(&key, &entry.value)?;
        if header.analysis != stored {
            return Err(SearchError::OtherAnalysis);
        }
        Ok((header, entry.revision))
    }

    /// Makes the changes while the header has this revision.
    pub(crate) fn commit(&self, header: &Header, revision: u64, mut changes: Vec<Change>) -> Result<(), SearchError> {
        let bytes = header.encode();
        within("bytes of the header of a search index", bytes.len(), header::LARGEST_BYTES)?;
        changes.push(Change::put(self.header_key(), bytes).if_revision(revision));
        within("changed entries", changes.len(), KEYS_PER_CALL)?;
        let size = |change: &Change| change.key.len() + change.value.as_ref().map_or(0, Vec::len);
        within("changed bytes", changes.iter().map(size).sum(), STEP_BYTES)?;
        Ok(self.store.apply(changes)?)
    }

    /// All that does not depend on where the documents come to lie.
    fn prepare(&self, documents: &[Document<'_>]) -> Result<Option<Addition>, SearchError> {
        within("bytes of text", documents.iter().map(|document| document.text.len()).sum(), TEXT_BYTES)?;
        let mut terms = Terms::default();
        let mut descriptions = Descriptions::new();
        let mut words = 0;
        for (number, document) in (0..).zip(documents) {
            within("bytes of a label", document.label.len(), LABEL_BYTES)?;
            within("bytes of one document", document.text.len(), DOCUMENT_BYTES)?;
            let mut found = Vec::new();
            self.settings.analysis.each(document.text, |token| {
                found.push((token.term, token.position));
                true
            });
            let count = terms.add_document(number, found);
            words += u64::from(count);
            descriptions.insert(number, Description { words: count, label: document.label.to_owned() });
        }
        Ok((!documents.is_empty()).then(|| Addition { written: terms.write(), descriptions, words }))
    }

    /// Puts the new documents after all others.
    fn place(
        &self,
        header: &mut Header,
        addition: &Option<Addition>,
        changes: &mut Vec<Change>,
    ) -> Result<Vec<DocumentId>, SearchError> {
        let Some(Addition { written, descriptions, words }) = addition else { return Ok(Vec::new()) };
        let first = header.next_document;
        let count = wide(descriptions.len());
        // Checked, since what is stored may name any number.
        let room = first.checked_add(count).and_then(|end| end.checked_next_multiple_of(SHARED));
        let Some((next, segment)) = room.zip(header.next_segment.checked_add(1)) else {
            return Err(SearchError::Corrupt { key: self.header_key(), problem: "its numbers are used up" });
        };
        let mut shared: BTreeMap<String, (u64, Descriptions)> = BTreeMap::new();
        for (number, description) in descriptions {
            let entry = shared.entry(documents::key(&self.prefix, first + number)).or_default();
            entry.1.insert(first + number, description.clone());
        }
        changes.extend(shared.into_iter().map(|(key, (_, described))| Change::put(key, documents::encode(&described))));
        let number = header.next_segment;
        changes.extend(written.entries(&self.prefix, number).map(|(key, value)| Change::put(key, value.clone())));
        header.segments.push(written.describe(number, first, first + count - 1, count));
        (header.next_document, header.next_segment) = (next, segment);
        header.documents = header.documents.saturating_add(count);
        header.words = header.words.saturating_add(*words);
        Ok((first..first + count).map(DocumentId).collect())
    }

    /// Marks documents as deleted and forgets their descriptions.
    fn bury(&self, header: &mut Header, ids: &[DocumentId]) -> Result<Vec<Change>, SearchError> {
        let mut numbers: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for DocumentId(number) in ids {
            numbers.entry(number / SHARED).or_default().push(*number);
        }
        within("entries of documents to delete", numbers.len(), KEYS_PER_CALL - 1)?;
        let keys: Vec<String> = numbers.keys().map(|shared| documents::key(&self.prefix, shared * SHARED)).collect();
        let mut changes = Vec::new();
        if keys.is_empty() {
            return Ok(changes);
        }
        let values = store::read(&self.store, &keys)?;
        for ((key, numbers), value) in keys.into_iter().zip(numbers.into_values()).zip(values) {
            let Some(value) = value else { continue };
            let any = numbers.first().copied().unwrap_or_default();
            let mut described = documents::decode(any, &value).map_err(|error| error.at(&key))?;
            let before = described.len();
            for number in numbers {
                let Some(description) = described.remove(&number) else { continue };
                let segment = header.segment_of(number);
                let dead = segment.map(|segment| &mut segment.dead);
                let place = dead.and_then(|dead| dead.binary_search(&number).err().map(|place| (dead, place)));
                let Some((dead, place)) = place else {
                    return Err(SearchError::Corrupt { key, problem: "it describes a document that no segment has" });
                };
                dead.insert(place, number);
                header.documents = header.documents.saturating_sub(1);
                header.words = header.words.saturating_sub(u64::from(description.words));
            }
            if described.is_empty() {
                changes.push(Change::delete(key));
            } else if described.len() < before {
                changes.push(Change::put(key, documents::encode(&described)));
            }
        }
        Ok(changes)
    }
}

/// Documents that are ready to be placed.
struct Addition {
    written: Written,
    /// By their place among the new ones.
    descriptions: Descriptions,
    words: u64,
}

fn within(what: &'static str, size: usize, limit: usize) -> Result<(), SearchError> {
    if size <= limit { Ok(()) } else { Err(SearchError::TooLarge { what, size, limit }) }
}
