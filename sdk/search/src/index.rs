//! [`Index`]: adding and deleting documents, in one atomic step with whatever
//! else the plugin changes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use wharf_sdk::{Change, ErrorCode, ToolError};

use crate::bytes::wide;
use crate::header::{self, Header};
use crate::payload::{self, Group, Payloads};
use crate::seal::{self, seal};
use crate::segment::{FinishedSegment, Terms};
use crate::store::{self, KEYS_PER_CALL, Store};
use crate::{Analysis, Bm25, SearchError};

/// Bytes of one atomic step where nothing else is set. The host ends a call
/// that moves more than 4 MiB at once by default, so this stays well below.
const STEP_BYTES: usize = 3_500_000;
/// What a step may be set to.
const STEP_RANGE: RangeInclusive<usize> = 64 * 1024..=60 * 1024 * 1024;
/// Bytes of the text of one document, and of all that are added at once: what
/// the memory of a guest takes well.
const DOCUMENT_BYTES: usize = 1024 * 1024;
const TEXT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes that a hit returns.
const STORED_BYTES: usize = 64 * 1024;
/// Bytes of what documents that share an entry store.
const ENTRY_BYTES: usize = 1_000_000;
/// Tags of a document, and bytes of each.
const DOCUMENT_TAGS: usize = 16;
const TAG_BYTES: usize = 128;
/// Bytes of a prefix.
const PREFIX_BYTES: usize = 128;

/// How an index understands words, and weighs them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexSettings {
    /// What makes words the same.
    pub analysis: Analysis,
    /// The constants of the scores; they may change from search to search.
    pub bm25: Bm25,
    /// Bytes of one atomic step, 64 KiB to 60 MiB: below the limit
    /// `host_call_bytes` of the plugin, whose default 3,500,000 fits.
    pub step_bytes: usize,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self { analysis: Analysis::default(), bm25: Bm25::default(), step_bytes: STEP_BYTES }
    }
}

/// A document to be found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Document<'a> {
    /// What it is found by: at most 1 MiB; a longer text is better found in
    /// parts. It is not stored but for its words.
    pub text: &'a str,
    /// What a search may be narrowed to, compared byte by byte. Tags are never
    /// scored, and the words of a query do not find them. At most 16 of 128
    /// bytes.
    pub tags: &'a [&'a str],
    /// What a hit returns: at most 64 KiB. Often it is the text.
    pub stored: &'a [u8],
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
    pub(crate) settings: IndexSettings,
}

impl<S: Store> Index<S> {
    /// The index under `prefix`, at most 128 bytes; nothing is read or written
    /// yet. No other key of the store may begin with the prefix.
    ///
    /// # Errors
    /// [`SearchError::InvalidSettings`].
    pub fn new(store: S, prefix: &str, settings: IndexSettings) -> Result<Self, SearchError> {
        if prefix.len() > PREFIX_BYTES {
            return Err(SearchError::InvalidSettings("the prefix of a search index has at most 128 bytes"));
        }
        settings.bm25.check()?;
        if !STEP_RANGE.contains(&settings.step_bytes) {
            return Err(SearchError::InvalidSettings("step_bytes of a search index is 64 KiB to 60 MiB"));
        }
        Ok(Self { store, prefix: prefix.to_owned(), settings })
    }

    /// Adds documents and makes the changes that `own` returns for their ids,
    /// all of it or nothing, and returns the ids. `own` may run several times,
    /// each time with other ids, which are consecutive. Up to some thousand
    /// documents, or a few megabytes of text, fit one step.
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
            let ids = self.place(&mut header, new, &addition, &mut changes)?;
            changes.extend(own(&ids)?);
            if changes.is_empty() {
                return Ok(ids);
            }
            match self.commit(&header, revision, changes) {
                Ok(()) => {
                    // The change is made, even if this fails: the next one tries again.
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

    /// What was stored with each of these documents, none for those that are
    /// not there any more.
    ///
    /// # Errors
    /// [`SearchError::Store`], [`SearchError::Corrupt`].
    pub fn stored(&self, ids: &[DocumentId]) -> Result<Vec<Option<Vec<u8>>>, SearchError> {
        let (header, _) = self.header()?;
        let mut found = self.payloads(&header, ids.iter().map(|id| id.0))?;
        Ok(ids.iter().map(|id| found.remove(&id.0).map(|payload| payload.stored)).collect())
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
        let key = self.header_key();
        let bytes = header.encode(&key);
        within("bytes of the header of a search index", bytes.len(), header::LARGEST_BYTES)?;
        changes.push(Change::put(key, bytes).if_revision(revision));
        within("changed entries", changes.len(), KEYS_PER_CALL)?;
        let size = |change: &Change| change.key.len() + change.value.as_ref().map_or(0, Vec::len);
        within("changed bytes", changes.iter().map(size).sum(), self.settings.step_bytes)?;
        Ok(self.store.apply(changes)?)
    }

    /// All that does not depend on where the documents come to lie.
    fn prepare(&self, documents: &[Document<'_>]) -> Result<Option<Addition>, SearchError> {
        within("bytes of text", documents.iter().map(|document| document.text.len()).sum(), TEXT_BYTES)?;
        let mut terms = Terms::default();
        let mut words = Vec::with_capacity(documents.len());
        for (number, document) in (0..).zip(documents) {
            within("bytes stored with a document", document.stored.len(), STORED_BYTES)?;
            within("bytes of one document", document.text.len(), DOCUMENT_BYTES)?;
            within("tags of a document", document.tags.len(), DOCUMENT_TAGS)?;
            self.settings.analysis.each(document.text, |token| {
                terms.note(token.term, token.position);
                true
            });
            words.push(terms.end_document(number));
            let mut tags = document.tags.to_vec();
            tags.sort_unstable();
            tags.dedup();
            for tag in tags {
                within("bytes of a tag", tag.len(), TAG_BYTES)?;
                terms.add_tag(number, tag);
            }
        }
        Ok((!documents.is_empty()).then(|| Addition { written: terms.write(), words }))
    }

    /// Puts the new documents after all others.
    fn place(
        &self,
        header: &mut Header,
        documents: &[Document<'_>],
        addition: &Option<Addition>,
        changes: &mut Vec<Change>,
    ) -> Result<Vec<DocumentId>, SearchError> {
        let Some(Addition { written, words }) = addition else { return Ok(Vec::new()) };
        let first = header.next_document;
        let count = wide(documents.len());
        // Checked, since what is stored may name any number.
        let Some((next, segment)) = first.checked_add(count).zip(header.next_segment.checked_add(1)) else {
            return Err(SearchError::Corrupt { key: self.header_key(), problem: "its numbers are used up" });
        };
        let size = payload::group_size(count);
        if size > 1 {
            header.groups.push(Group { first, count, size, alive: count });
        }
        let payloads: Vec<_> = (first..).zip(words).zip(documents).collect();
        for shared in payloads.chunks(usize::try_from(size).unwrap_or(usize::MAX)) {
            let Some(((entry, _), _)) = shared.first() else { continue };
            let payloads = shared.iter().map(|((document, words), of)| (*document, **words, of.stored));
            let value = payload::encode(*entry, payloads);
            within("bytes stored with neighbouring documents", value.len(), ENTRY_BYTES)?;
            let key = payload::key(&self.prefix, *entry);
            let value = seal(&key, value);
            changes.push(Change::put(key, value));
        }
        let number = header.next_segment;
        changes.extend(written.put(&self.prefix, number));
        header.segments.push(written.describe(number, first, first + count - 1, count));
        (header.next_document, header.next_segment) = (next, segment);
        header.documents = header.documents.saturating_add(count);
        let words = words.iter().map(|words| u64::from(*words)).sum();
        header.words = header.words.saturating_add(words);
        Ok((first..first + count).map(DocumentId).collect())
    }

    /// Marks documents as deleted and forgets what was stored with them.
    fn bury(&self, header: &mut Header, ids: &[DocumentId]) -> Result<Vec<Change>, SearchError> {
        let entries = payload::by_entry(header, ids.iter().map(|id| id.0));
        within("entries of documents to delete", entries.len(), KEYS_PER_CALL - 1)?;
        let mut changes = Vec::new();
        let mut stored = self.entries(entries.keys().copied())?;
        for (first, numbers) in entries {
            let Some(mut payloads) = stored.remove(&first) else { continue };
            let key = payload::key(&self.prefix, first);
            let before = payloads.len();
            for number in numbers {
                let Some(payload) = payloads.remove(&number) else { continue };
                if !header.segment_of(number).is_some_and(|segment| segment.bury(number)) {
                    return Err(SearchError::Corrupt { key, problem: "it holds a document that no segment has" });
                }
                header.leave_group(number);
                header.documents = header.documents.saturating_sub(1);
                header.words = header.words.saturating_sub(u64::from(payload.words));
            }
            if payloads.is_empty() {
                changes.push(Change::delete(key));
            } else if payloads.len() < before {
                let left = payloads.iter().map(|(document, payload)| (*document, payload.words, &*payload.stored));
                let value = seal(&key, payload::encode(first, left));
                changes.push(Change::put(key, value));
            }
        }
        Ok(changes)
    }

    /// What is stored of these documents.
    pub(crate) fn payloads(
        &self,
        header: &Header,
        documents: impl Iterator<Item = u64>,
    ) -> Result<Payloads, SearchError> {
        let entries = payload::by_entry(header, documents);
        let mut stored = self.entries(entries.keys().copied())?;
        let mut found = Payloads::new();
        for (first, documents) in entries {
            let Some(mut payloads) = stored.remove(&first) else { continue };
            found.extend(documents.into_iter().filter_map(|document| payloads.remove_entry(&document)));
        }
        Ok(found)
    }

    /// The entries that begin with these documents, by them.
    fn entries(&self, firsts: impl Iterator<Item = u64>) -> Result<BTreeMap<u64, Payloads>, SearchError> {
        let firsts: Vec<u64> = firsts.collect();
        if firsts.is_empty() {
            return Ok(BTreeMap::new());
        }
        let keys: Vec<String> = firsts.iter().map(|first| payload::key(&self.prefix, *first)).collect();
        let mut entries = BTreeMap::new();
        for ((first, key), value) in firsts.into_iter().zip(&keys).zip(store::read(&self.store, &keys)?) {
            let Some(value) = value else { continue };
            let payloads = seal::open(key, value).and_then(|value| payload::decode(first, &value));
            entries.insert(first, payloads.map_err(|error| error.at(key))?);
        }
        Ok(entries)
    }
}

/// Documents that are ready to be placed.
struct Addition {
    written: FinishedSegment,
    /// How many words each has.
    words: Vec<u32>,
}

fn within(what: &'static str, size: usize, limit: usize) -> Result<(), SearchError> {
    if size <= limit { Ok(()) } else { Err(SearchError::TooLarge { what, size, limit }) }
}
