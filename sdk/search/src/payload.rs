//! What an index keeps of each document besides its words: how many there are,
//! and what a hit returns.
//!
//! A document has an entry of its own, so that a hit costs no more than what it
//! returns. Only adds of very many documents share entries, because one step
//! takes a bounded number of changes; the header notes these groups.

use std::collections::BTreeMap;

use crate::bytes::{ByteReader, Malformed, push, push_slice};
use crate::header::Header;

/// Entries that the documents of one add take at most.
pub(crate) const MOST_ENTRIES: u64 = 300;

/// One document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) words: u32,
    pub(crate) stored: Vec<u8>,
}

/// The documents of one entry by their numbers.
pub(crate) type Payloads = BTreeMap<u64, Payload>;

/// Documents that were added together and share entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    /// Number of the first.
    pub(crate) first: u64,
    /// How many there were.
    pub(crate) count: u64,
    /// How many share an entry.
    pub(crate) size: u64,
    /// How many are not deleted.
    pub(crate) alive: u64,
}

/// How many documents share an entry where so many are added.
pub(crate) fn group_size(documents: u64) -> u64 {
    documents.div_ceil(MOST_ENTRIES).max(1)
}

/// The first number of the entry that a document is in.
pub(crate) fn entry_of(header: &Header, document: u64) -> u64 {
    match header.group_of(document) {
        Some(group) => document - (document - group.first) % group.size,
        None => document,
    }
}

/// The key of the entry that begins with a document.
pub(crate) fn key(prefix: &str, first: u64) -> String {
    format!("{prefix}d{first}")
}

/// Writes documents that share the entry of `first`.
pub(crate) fn encode<'payload>(first: u64, payloads: impl IntoIterator<Item = (u64, u32, &'payload [u8])>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (document, words, stored) in payloads {
        push(&mut bytes, document - first);
        push(&mut bytes, u64::from(words));
        push_slice(&mut bytes, stored);
    }
    bytes
}

/// Reads the entry of `first`.
pub(crate) fn decode(first: u64, bytes: &[u8]) -> Result<Payloads, Malformed> {
    let mut reader = ByteReader::new(bytes);
    let mut payloads = BTreeMap::new();
    while !reader.is_empty() {
        let (offset, words, stored) = (reader.number()?, reader.small()?, reader.slice()?);
        let document = first.checked_add(offset).ok_or(Malformed("it holds an impossible document"))?;
        payloads.insert(document, Payload { words, stored: stored.to_vec() });
    }
    Ok(payloads)
}

/// Documents by the first number of the entry that they are in.
pub(crate) fn by_entry(header: &Header, documents: impl Iterator<Item = u64>) -> BTreeMap<u64, Vec<u64>> {
    let mut entries: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for document in documents {
        entries.entry(entry_of(header, document)).or_default().push(document);
    }
    entries
}
