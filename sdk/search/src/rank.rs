//! Ranking: the best documents of a segment, without looking at those that
//! cannot be among them.
//!
//! Documents are gone through window by window. Each block of postings says
//! what is best in it, so that a window whose best sum is not good enough is
//! passed over, and so are documents that have only terms that do not suffice
//! together. Scores are the same as without.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::DocumentId;
use crate::bytes::Malformed;
use crate::postings::{BLOCK, Block, UnpackedBlock, blocks};
use crate::score::Term;
use crate::segment::TermRecord;

/// Documents of a window.
const WINDOW: u32 = 2_048;

/// A document with its score; the greatest is the worst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) document: u64,
    pub(crate) score: f64,
}

impl Eq for Ranked {}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.document.cmp(&other.document))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best documents so far.
#[derive(Debug)]
pub(crate) struct BestDocuments {
    heap: BinaryHeap<Ranked>,
    top: usize,
    /// How many documents matched, of those that were looked at.
    pub(crate) seen: usize,
    /// Whether some were not looked at.
    pub(crate) skipped: bool,
}

impl BestDocuments {
    pub(crate) fn new(top: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(top + 1), top, seen: 0, skipped: false }
    }

    /// A score up to which nothing that comes later is wanted.
    fn enough(&self) -> f64 {
        if self.heap.len() < self.top { 0.0 } else { self.heap.peek().map_or(0.0, |worst| worst.score) }
    }

    fn offer(&mut self, ranked: Ranked) {
        if self.heap.len() == self.top {
            if self.heap.peek().is_some_and(|worst| *worst <= ranked) {
                return;
            }
            self.heap.pop();
        }
        self.heap.push(ranked);
    }

    /// The best first.
    pub(crate) fn into_sorted(self) -> Vec<Ranked> {
        self.heap.into_sorted_vec()
    }
}

/// A term of the query in a segment.
pub(crate) struct PostingList<'bytes> {
    weight: Term,
    blocks: Vec<Block<'bytes>>,
    /// What a document of each block gets at most.
    bounds: Vec<f64>,
    /// The first block that reaches into the window.
    at: usize,
    unpacked: UnpackedBlock,
    /// Which block is unpacked.
    holds: Option<usize>,
    /// What a document of the window gets at most.
    bound: f64,
    /// Documents of the window that have the term.
    documents: Vec<u32>,
}

impl<'bytes> PostingList<'bytes> {
    pub(crate) fn new(record: &TermRecord<'bytes>, weight: Term) -> Result<Self, Malformed> {
        let blocks = blocks(record.postings, record.count)?;
        let bounds = blocks.iter().map(|block| weight.bound(block.most, block.least_words)).collect();
        let (unpacked, documents) = (UnpackedBlock::default(), Vec::new());
        Ok(Self { weight, blocks, bounds, at: 0, unpacked, holds: None, bound: 0.0, documents })
    }

    /// The first document that is not before `from`, or one before that.
    fn next_from(&self) -> Option<u32> {
        self.blocks.get(self.at).map(|block| block.before.map_or(0, |before| before.saturating_add(1)))
    }

    /// Moves on to a window and learns what is best in it.
    fn enter(&mut self, start: u32, end: u32) {
        while self.blocks.get(self.at).is_some_and(|block| block.last < start) {
            self.at += 1;
        }
        let within =
            self.blocks[self.at..].iter().take_while(|block| block.before.is_none_or(|before| before < end - 1));
        let within = within.count();
        self.bound = self.bounds[self.at..self.at + within].iter().copied().fold(0.0, f64::max);
    }

    /// Adds what the term is worth to the scores of the window.
    fn add(&mut self, start: u32, end: u32, scores: &mut [f64]) -> Result<(), Malformed> {
        self.documents.clear();
        let mut place = self.at;
        while let Some(block) =
            self.blocks.get(place).filter(|block| block.before.is_none_or(|before| before < end - 1))
        {
            if self.holds != Some(place) {
                self.unpacked.read(block)?;
                self.holds = Some(place);
            }
            let count = self.unpacked.count.min(BLOCK);
            let documents = &self.unpacked.documents[..count];
            let from = documents.partition_point(|document| *document < start);
            let to = documents.partition_point(|document| *document < end);
            for place in from..to.max(from) {
                let (document, words) = (self.unpacked.documents[place], self.unpacked.words[place]);
                let score = self.weight.score(self.unpacked.frequencies[place], words);
                if let Some(sum) = usize::try_from(document - start).ok().and_then(|place| scores.get_mut(place)) {
                    *sum += score;
                    self.documents.push(document);
                }
            }
            place += 1;
        }
        Ok(())
    }
}

/// What a document of a segment must fulfil besides its score.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    /// It must be in each of these, ascending.
    pub(crate) required: Vec<Vec<u32>>,
    /// It must be in none of these, ascending.
    pub(crate) excluded: Vec<Vec<u32>>,
}

impl Conditions {
    fn hold(&self, document: u32) -> bool {
        self.required.iter().all(|documents| documents.binary_search(&document).is_ok())
            && !self.excluded.iter().any(|documents| documents.binary_search(&document).is_ok())
    }

    /// Whether some document from `start` to before `end` may fulfil them.
    fn may_hold(&self, start: u32, end: u32) -> bool {
        self.required.iter().all(|documents| {
            let next = documents.partition_point(|document| *document < start);
            documents.get(next).is_some_and(|document| *document < end)
        })
    }
}

/// Offers the documents of a segment that begins with the document `first`.
/// Numbers within a segment are far below the largest one.
pub(crate) fn rank(
    first: u64,
    lists: &mut [PostingList<'_>],
    conditions: &Conditions,
    only: Option<&dyn Fn(DocumentId) -> bool>,
    best: &mut BestDocuments,
) -> Result<(), Malformed> {
    let mut scores = vec![0.0; usize::try_from(WINDOW).unwrap_or(0)];
    let mut order: Vec<usize> = (0..lists.len()).collect();
    let mut start = 0;
    while let Some(next) = lists.iter().filter_map(PostingList::next_from).min() {
        start = next.max(start) / WINDOW * WINDOW;
        let end = start.saturating_add(WINDOW);
        lists.iter_mut().for_each(|list| list.enter(start, end));
        if conditions.may_hold(start, end) {
            let holds = |document| {
                conditions.hold(document) && only.is_none_or(|only| only(DocumentId(first + u64::from(document))))
            };
            window(DocumentRange { first, start, end }, lists, &mut order, &mut scores, holds, best)?;
        }
        start = end;
        lists.iter_mut().for_each(|list| list.enter(end, end.saturating_add(1)));
    }
    Ok(())
}

/// The documents of a segment from `start` to before `end`.
#[derive(Clone, Copy)]
struct DocumentRange {
    /// What the segment begins with.
    first: u64,
    start: u32,
    end: u32,
}

fn window(
    DocumentRange { first, start, end }: DocumentRange,
    lists: &mut [PostingList<'_>],
    order: &mut [usize],
    scores: &mut [f64],
    holds: impl Fn(u32) -> bool,
    best: &mut BestDocuments,
) -> Result<(), Malformed> {
    let enough = best.enough();
    // Documents that have none but these lists cannot be good enough.
    let mut weak = 0;
    order.sort_unstable_by(|one, other| lists[*one].bound.total_cmp(&lists[*other].bound));
    let mut sum = 0.0;
    for list in order.iter() {
        sum += lists[*list].bound;
        if sum > enough {
            break;
        }
        weak += 1;
    }
    let (weak, strong) = order.split_at(weak);
    best.skipped |= weak.iter().any(|list| lists[*list].bound > 0.0);
    if strong.is_empty() {
        return Ok(());
    }
    // Always in the same order, so that equal documents get equal sums.
    for list in lists.iter_mut() {
        list.add(start, end, scores)?;
    }
    for list in strong {
        for document in &lists[*list].documents {
            let place = usize::try_from(document - start).unwrap_or(usize::MAX);
            let Some(score) = scores.get_mut(place).map(std::mem::take).filter(|score| *score > 0.0) else { continue };
            if holds(*document) {
                best.seen += 1;
                best.offer(Ranked { document: first + u64::from(*document), score });
            }
        }
    }
    for document in weak.iter().flat_map(|list| &lists[*list].documents) {
        if let Some(score) = usize::try_from(document - start).ok().and_then(|place| scores.get_mut(place)) {
            *score = 0.0;
        }
    }
    Ok(())
}
