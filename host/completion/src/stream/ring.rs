//! The last events of a stream. All its readers share them, so a reader that
//! falls behind holds nothing: it is told what it lost.

use std::{collections::VecDeque, sync::Arc};

use super::{Batch, EventKind, Lost, StreamEvent};

/// What an event takes beside its data, roughly.
const OVERHEAD_BYTES: usize = 128;

/// Events up to a count and a size; the oldest go.
#[derive(Debug)]
pub(super) struct Ring {
    kept: VecDeque<Arc<StreamEvent>>,
    bytes: usize,
    next: u64,
    most_events: usize,
    most_bytes: usize,
}

impl Ring {
    pub(super) fn new(most_events: usize, most_bytes: usize) -> Self {
        Self { kept: VecDeque::new(), bytes: 0, next: 1, most_events, most_bytes }
    }

    /// The number that the next event will have.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The number of the oldest event that is kept, or of the next one.
    pub(super) fn first(&self) -> u64 {
        self.next - self.kept.len() as u64
    }

    /// What is kept, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn append(&mut self, turn: u64, kind: EventKind, data: Box<serde_json::value::RawValue>) -> u64 {
        let number = self.next;
        self.next += 1;
        let event = StreamEvent { number, turn, kind, data };
        self.bytes += weight(&event);
        self.kept.push_back(Arc::new(event));
        // The newest one stays, whatever its size: it was measured before.
        while self.kept.len() > 1 && (self.kept.len() > self.most_events || self.bytes > self.most_bytes) {
            if let Some(oldest) = self.kept.pop_front() {
                self.bytes -= weight(&oldest);
            }
        }
        number
    }

    /// At least one event from a number on where there is one, then as many as
    /// fit.
    pub(super) fn read(&self, from: u64, most_events: usize, most_bytes: usize) -> Batch {
        let first = self.first();
        let lost = (from < first).then_some(Lost { from, resumed_at: first });
        let start = from.clamp(first, self.next);
        let skipped = usize::try_from(start - first).unwrap_or(self.kept.len());
        let mut bytes = 0;
        let events: Vec<_> = self
            .kept
            .range(skipped..)
            .take(most_events.max(1))
            .enumerate()
            .take_while(|(at, event)| {
                bytes += weight(event);
                *at == 0 || bytes <= most_bytes
            })
            .map(|(_, event)| Arc::clone(event))
            .collect();
        Batch { next: start + events.len() as u64, events, lost, ended: None, because: None }
    }
}

fn weight(event: &StreamEvent) -> usize {
    event.data.get().len() + OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::to_raw_value;

    use super::*;

    fn append(ring: &mut Ring, text: &str) -> u64 {
        ring.append(1, EventKind::Message, to_raw_value(text).expect("JSON"))
    }

    #[test]
    fn what_is_gone_is_said_and_numbers_stay_what_they_were() {
        let mut ring = Ring::new(2, 1 << 20);
        (0..5).for_each(|_| {
            append(&mut ring, "x");
        });
        let batch = ring.read(1, 10, 1 << 20);
        assert_eq!(batch.lost, Some(Lost { from: 1, resumed_at: 4 }));
        assert_eq!(batch.events.iter().map(|event| event.number).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(batch.next, 6);
        assert!(ring.read(6, 10, 1 << 20).events.is_empty());
    }

    proptest! {
        #[test]
        fn a_ring_is_bounded_and_reading_on_gives_the_end_of_all_in_order(
            texts in prop::collection::vec("[a-z]{0,300}", 0..60),
            most_events in 1_usize..20,
            most_bytes in 0_usize..2_000,
            step in 1_usize..9,
        ) {
            let mut ring = Ring::new(most_events, most_bytes);
            for text in &texts {
                append(&mut ring, text);
                prop_assert!(ring.kept.len() <= most_events);
                prop_assert!(ring.bytes <= most_bytes || ring.kept.len() == 1);
            }
            prop_assert_eq!(ring.bytes, ring.kept.iter().map(|event| weight(event)).sum::<usize>());
            let (mut from, mut numbers) = (1, Vec::new());
            while from < ring.next() {
                let batch = ring.read(from, step, 500);
                prop_assert!(!batch.events.is_empty());
                numbers.extend(batch.events.iter().map(|event| event.number));
                from = batch.next;
            }
            prop_assert_eq!(numbers, (ring.first()..ring.next()).collect::<Vec<_>>());
        }
    }
}
