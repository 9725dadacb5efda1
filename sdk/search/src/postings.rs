//! The postings of one term: where it occurs, packed in blocks.
//!
//! A posting is a document, how often it has the term, and how many words it
//! has. The last is here, though it repeats, so that a search need not read the
//! lengths of all documents. A block of 32 postings says in front where it ends
//! and what is best in it, so that a search passes over blocks that cannot
//! matter. Positions are apart: only phrases read them.

use bitpacking::{BitPacker as _, BitPacker1x};

use crate::bytes::{ByteReader, Malformed, push, wide};

/// Postings of a full block. The last one of a term may have fewer.
pub(crate) const BLOCK: usize = BitPacker1x::BLOCK_LEN;
/// Bytes of 32 numbers of one bit.
const BYTES_A_BIT: usize = BLOCK / 8;

/// One document that has the term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    /// From the start of the segment.
    pub(crate) document: u32,
    /// How often the term occurs in it, at least once.
    pub(crate) frequency: u32,
    /// Words of the document.
    pub(crate) words: u32,
}

/// The postings of one term while they are written.
#[derive(Debug, Default)]
pub(crate) struct PackedPostings {
    /// How many documents have the term.
    pub(crate) count: u32,
    /// The last document of the blocks that are written.
    before: Option<u32>,
    /// What the next block will have.
    waiting: Vec<Posting>,
    blocks: Vec<u8>,
    pub(crate) positions: Vec<u8>,
}

impl PackedPostings {
    /// Appends a posting whose document comes after all before.
    pub(crate) fn push(&mut self, posting: Posting) {
        self.count += 1;
        self.waiting.push(posting);
        if self.waiting.len() == BLOCK {
            self.write_block();
        }
    }

    /// How large it will be, about.
    pub(crate) fn size(&self) -> usize {
        self.blocks.len() + self.waiting.len() * 4 + self.positions.len()
    }

    /// The postings as they are stored, and the positions.
    pub(crate) fn finish(mut self) -> (Vec<u8>, Vec<u8>) {
        if !self.waiting.is_empty() {
            self.write_block();
        }
        (self.blocks, self.positions)
    }

    fn write_block(&mut self) {
        let postings = std::mem::take(&mut self.waiting);
        let last = postings.last().map_or(0, |posting| posting.document);
        let least_words = postings.iter().map(|posting| posting.words).min().unwrap_or(0);
        let most = postings.iter().map(|posting| posting.frequency).max().unwrap_or(0);
        push(&mut self.blocks, u64::from(last - self.before.unwrap_or(0)));
        push(&mut self.blocks, u64::from(most));
        push(&mut self.blocks, u64::from(least_words));
        if let Ok(postings) = <&[Posting; BLOCK]>::try_from(&*postings) {
            self.pack(postings, least_words);
        } else {
            let body = loose(&postings, self.before, least_words);
            push(&mut self.blocks, wide(body.len()));
            self.blocks.extend_from_slice(&body);
        }
        self.before = Some(last);
    }

    fn pack(&mut self, postings: &[Posting; BLOCK], least_words: u32) {
        let packer = BitPacker1x::new();
        let documents = postings.map(|posting| posting.document);
        let frequencies = postings.map(|posting| posting.frequency - 1);
        let words = postings.map(|posting| posting.words - least_words);
        let bits = [
            packer.num_bits_strictly_sorted(self.before, &documents),
            packer.num_bits(&frequencies),
            packer.num_bits(&words),
        ];
        self.blocks.extend_from_slice(&bits);
        let mut packed = [0; BLOCK * 4];
        let size = packer.compress_strictly_sorted(self.before, &documents, &mut packed, bits[0]);
        self.blocks.extend_from_slice(&packed[..size]);
        let size = packer.compress(&frequencies, &mut packed, bits[1]);
        self.blocks.extend_from_slice(&packed[..size]);
        let size = packer.compress(&words, &mut packed, bits[2]);
        self.blocks.extend_from_slice(&packed[..size]);
    }
}

/// Fewer postings than a block has: numbers one after the other.
fn loose(postings: &[Posting], before: Option<u32>, least_words: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(postings.len() * 3);
    let mut before = before.unwrap_or(0);
    for Posting { document, frequency, words } in postings {
        // Most terms occur once, which a bit says.
        let once = *frequency == 1;
        push(&mut bytes, u64::from(document - before) << 1 | u64::from(once));
        if !once {
            push(&mut bytes, u64::from(*frequency));
        }
        push(&mut bytes, u64::from(words - least_words));
        before = *document;
    }
    bytes
}

/// What stands in front of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'bytes> {
    /// The last document before it, if there is one.
    pub(crate) before: Option<u32>,
    /// The last document in it.
    pub(crate) last: u32,
    /// How often a document of it has the term at most.
    pub(crate) most: u32,
    /// How many words a document of it has at least.
    pub(crate) least_words: u32,
    count: usize,
    bits: [u8; 3],
    body: &'bytes [u8],
}

/// The blocks of a term's `count` postings, none of them unpacked.
pub(crate) fn blocks(bytes: &[u8], count: u32) -> Result<Vec<Block<'_>>, Malformed> {
    let mut reader = ByteReader::new(bytes);
    let mut left = usize::try_from(count).unwrap_or(usize::MAX);
    let mut before: Option<u32> = None;
    let mut blocks = Vec::with_capacity(bytes.len().min(left).div_ceil(BLOCK));
    while left > 0 {
        let (step, most, least_words) = (reader.small()?, reader.small()?, reader.small()?);
        let last = before.unwrap_or(0).checked_add(step).filter(|_| step > 0 || before.is_none());
        let last = last.ok_or(Malformed("a block of postings ends impossibly"))?;
        let count = left.min(BLOCK);
        let (bits, size) = if count == BLOCK {
            let bits: [u8; 3] = reader.array()?;
            if bits.iter().any(|bits| *bits > 32) {
                return Err(Malformed("a block of postings has impossible widths"));
            }
            (bits, bits.iter().map(|bits| usize::from(*bits) * BYTES_A_BIT).sum())
        } else {
            ([0; 3], reader.count()?)
        };
        blocks.push(Block { before, last, most, least_words, count, bits, body: reader.take(size)? });
        before = Some(last);
        left -= count;
    }
    reader.end()?;
    Ok(blocks)
}

/// The postings of a block, unpacked.
#[derive(Debug)]
pub(crate) struct UnpackedBlock {
    pub(crate) documents: [u32; BLOCK],
    pub(crate) frequencies: [u32; BLOCK],
    pub(crate) words: [u32; BLOCK],
    pub(crate) count: usize,
}

impl Default for UnpackedBlock {
    fn default() -> Self {
        Self { documents: [0; BLOCK], frequencies: [0; BLOCK], words: [0; BLOCK], count: 0 }
    }
}

impl UnpackedBlock {
    /// Replaces what is here by the postings of a block.
    pub(crate) fn read(&mut self, block: &Block<'_>) -> Result<(), Malformed> {
        self.count = block.count;
        if block.count < BLOCK {
            self.read_loose(block)?;
        } else {
            let packer = BitPacker1x::new();
            let [documents, frequencies, words] = block.bits;
            let at = packer.decompress_strictly_sorted(block.before, block.body, &mut self.documents, documents);
            let next = at + packer.decompress(&block.body[at..], &mut self.frequencies, frequencies);
            packer.decompress(&block.body[next..], &mut self.words, words);
            for (frequency, words) in self.frequencies.iter_mut().zip(&mut self.words) {
                *frequency = frequency.saturating_add(1);
                *words = words.saturating_add(block.least_words);
            }
        }
        let ends = self.documents[..self.count].last() == Some(&block.last);
        if ends { Ok(()) } else { Err(Malformed("a block of postings does not end where it says")) }
    }

    fn read_loose(&mut self, block: &Block<'_>) -> Result<(), Malformed> {
        let mut reader = ByteReader::new(block.body);
        let mut before = block.before.unwrap_or(0);
        for place in 0..block.count {
            let head = reader.number()?;
            let step = u32::try_from(head >> 1).ok().and_then(|step| before.checked_add(step));
            before = step.ok_or(Malformed("a document is not of this segment"))?;
            self.documents[place] = before;
            self.frequencies[place] = if head & 1 == 1 { 1 } else { reader.small()? };
            self.words[place] = reader.small()?.saturating_add(block.least_words);
        }
        reader.end()
    }

    pub(crate) fn postings(&self) -> impl Iterator<Item = Posting> {
        let numbers = self.documents.iter().zip(&self.frequencies).zip(&self.words).take(self.count);
        numbers.map(|((document, frequency), words)| Posting {
            document: *document,
            frequency: *frequency,
            words: *words,
        })
    }
}

/// Appends ascending positions of a term within a document.
pub(crate) fn pack_positions(positions: impl IntoIterator<Item = u32>, into: &mut Vec<u8>) {
    let mut before = 0;
    for position in positions {
        push(into, u64::from(position - before));
        before = position;
    }
}

/// Reads positions back into `into`.
pub(crate) fn unpack_positions(bytes: &[u8], into: &mut Vec<u32>) -> Result<(), Malformed> {
    let mut reader = ByteReader::new(bytes);
    let mut position: u32 = 0;
    while !reader.is_empty() {
        position = position.checked_add(reader.small()?).ok_or(Malformed("a position is too large"))?;
        into.push(position);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postings_come_back_whatever_their_number_and_size() {
        let mut random = fastrand::Rng::with_seed(1);
        for count in [1, 31, 32, 33, 64, 500] {
            let mut document = random.u32(0..3);
            let postings: Vec<Posting> = (0..count)
                .map(|_| {
                    document += random.u32(1..9) * if random.u8(0..50) == 0 { 1_000_000 } else { 1 };
                    Posting { document, frequency: random.u32(1..5), words: random.u32(5..70_000) }
                })
                .collect();
            let mut packed = PackedPostings::default();
            postings.iter().for_each(|posting| packed.push(*posting));
            let (bytes, _) = packed.finish();
            let mut found = Vec::new();
            let mut unpacked = UnpackedBlock::default();
            for block in blocks(&bytes, count).expect("it is whole") {
                unpacked.read(&block).expect("it is whole");
                let best = unpacked.postings().all(|one| one.frequency <= block.most && one.words >= block.least_words);
                assert!(best, "a block says what is best in it");
                found.extend(unpacked.postings());
            }
            assert_eq!(found, postings);
        }
    }
}
