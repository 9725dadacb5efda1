//! What an index keeps of each document besides its words: how many there are,
//! and the label by which the plugin knows it.
//!
//! Sixty-four numbers share an entry. An add begins a new entry, so that it
//! never reads what others wrote.

use std::collections::BTreeMap;

use crate::bytes::{Malformed, Reader, push, push_slice, wide};

/// Numbers that share an entry.
pub(crate) const SHARED: u64 = 64;

/// One document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Description {
    pub(crate) words: u32,
    pub(crate) label: String,
}

/// The documents of one entry by their numbers.
pub(crate) type Descriptions = BTreeMap<u64, Description>;

/// The entry that describes a document.
pub(crate) fn key(prefix: &str, document: u64) -> String {
    format!("{prefix}d{}", document / SHARED)
}

pub(crate) fn encode(documents: &Descriptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    push(&mut bytes, wide(documents.len()));
    for (number, document) in documents {
        push(&mut bytes, number % SHARED);
        push(&mut bytes, u64::from(document.words));
        push_slice(&mut bytes, document.label.as_bytes());
    }
    bytes
}

/// Reads the entry of the document `any`, and of its neighbours.
pub(crate) fn decode(any: u64, bytes: &[u8]) -> Result<Descriptions, Malformed> {
    let mut reader = Reader::new(bytes);
    let mut documents = BTreeMap::new();
    for _ in 0..reader.count()? {
        let (offset, words, label) = (reader.number()?, reader.small()?, reader.text()?.to_owned());
        if offset >= SHARED {
            return Err(Malformed("it describes a document of another entry"));
        }
        documents.insert(any - any % SHARED + offset, Description { words, label });
    }
    reader.end()?;
    Ok(documents)
}
