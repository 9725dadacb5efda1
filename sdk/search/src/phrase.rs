//! Phrases: which documents of a segment have terms that follow each other.

use crate::bytes::{ByteReader, Malformed};
use crate::postings::{UnpackedBlock, blocks, unpack_positions};
use crate::segment::TermRecord;

/// Where a term occurs in a segment.
#[derive(Debug, Default)]
struct Occurrences {
    documents: Vec<u32>,
    /// Where the positions of each document begin; empty where none were read.
    starts: Vec<usize>,
    positions: Vec<u32>,
}

/// The documents of a segment that have a term, ascending.
pub(crate) fn documents(record: &TermRecord<'_>) -> Result<Vec<u32>, Malformed> {
    let blocks = blocks(record.postings, record.count)?;
    let mut documents = Vec::with_capacity(record.postings.len().min(blocks.len() * crate::postings::BLOCK));
    let mut unpacked = UnpackedBlock::default();
    for block in blocks {
        unpacked.read(&block)?;
        documents.extend_from_slice(&unpacked.documents[..unpacked.count]);
    }
    Ok(documents)
}

/// The documents of a segment that have a phrase of several terms, ascending:
/// of each term its record and the value that its positions are in.
pub(crate) fn having(terms: &[(TermRecord<'_>, &[u8])]) -> Result<Vec<u32>, Malformed> {
    let terms = terms.iter().map(|(record, positions)| Occurrences::read(record, positions));
    let terms = terms.collect::<Result<Vec<_>, _>>()?;
    let Some(rarest) = terms.iter().min_by_key(|term| term.documents.len()) else { return Ok(Vec::new()) };
    Ok(rarest.documents.iter().copied().filter(|document| follow(&terms, *document)).collect())
}

impl Occurrences {
    fn read(record: &TermRecord<'_>, positions: &[u8]) -> Result<Self, Malformed> {
        let mut found = Self::default();
        let mut positions = ByteReader::new(record.positions(positions)?);
        let mut unpacked = UnpackedBlock::default();
        for block in blocks(record.postings, record.count)? {
            unpacked.read(&block)?;
            for posting in unpacked.postings() {
                found.documents.push(posting.document);
                found.starts.push(found.positions.len());
                unpack_positions(positions.numbers(posting.frequency)?, &mut found.positions)?;
            }
        }
        Ok(found)
    }

    /// The positions in one document; none where it lacks the term.
    fn positions(&self, document: u32) -> Option<&[u32]> {
        let place = self.documents.binary_search(&document).ok()?;
        let start = *self.starts.get(place)?;
        let end = self.starts.get(place + 1).copied().unwrap_or(self.positions.len());
        self.positions.get(start..end)
    }
}

/// Whether the terms follow each other somewhere in the document.
fn follow(terms: &[Occurrences], document: u32) -> bool {
    let places: Option<Vec<&[u32]>> = terms.iter().map(|term| term.positions(document)).collect();
    let Some(places) = places else { return false };
    let Some((first, others)) = places.split_first() else { return false };
    first.iter().any(|start| {
        (1..)
            .zip(others)
            .all(|(offset, places)| start.checked_add(offset).is_some_and(|place| places.binary_search(&place).is_ok()))
    })
}
