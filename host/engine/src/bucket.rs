//! The host's side of a guest's handles to state.

use std::{collections::VecDeque, time::Instant};

use wharf_core::{Code, Error, ScopeKey};
use wharf_state::{KeyValues, ScopePolicy};

use crate::backends::Backends;

/// Page ends that one handle keeps for a guest whose cursors are numbers.
const MOST_CURSORS: usize = 128;

/// An open bucket: the proof that its scope was granted to this call.
#[derive(Debug, Clone)]
#[expect(unreachable_pub, reason = "the generated bindings re-export it within this crate")]
pub struct Bucket {
    pub(crate) scope: ScopeKey,
    pub(crate) policy: ScopePolicy,
}

impl Bucket {
    /// Its keys and values, for one operation.
    pub(crate) fn key_values<'s>(&'s self, backends: &'s Backends, until: Instant) -> KeyValues<'s> {
        KeyValues { store: &*backends.state, scope: &self.scope, policy: &self.policy, until }
    }
}

/// An open bucket of `wasi:keyvalue`.
#[derive(Debug)]
pub(crate) struct KeyValueBucket {
    pub(crate) bucket: Bucket,
    pub(crate) cursors: NumberedCursors,
}

/// A compare-and-swap of `wasi:keyvalue` that has begun.
#[derive(Debug)]
pub(crate) struct CompareAndSwap {
    pub(crate) bucket: Bucket,
    pub(crate) key: String,
    /// That of the value which a swap replaces; 0 where the key is to be absent.
    pub(crate) revision: u64,
}

/// Where pages of keys ended, by numbers: the first draft of `wasi:keyvalue` has no other
/// cursors. A number that was forgotten is refused and never means another page.
#[derive(Debug, Default)]
pub(crate) struct NumberedCursors {
    /// The number of the first that is kept.
    first: u64,
    ends: VecDeque<String>,
}

impl NumberedCursors {
    /// The number for the end of a page; the same for an end that has one.
    pub(crate) fn number(&mut self, end: String) -> u64 {
        let known = self.ends.iter().position(|known| *known == end);
        let position = known.unwrap_or_else(|| {
            if self.ends.len() == MOST_CURSORS {
                self.ends.pop_front();
                self.first += 1;
            }
            self.ends.push_back(end);
            self.ends.len() - 1
        });
        self.first + position as u64
    }

    /// The end of the page that a guest names.
    pub(crate) fn end(&self, number: u64) -> Result<&str, Error> {
        let position = number.checked_sub(self.first).and_then(|position| usize::try_from(position).ok());
        position.and_then(|position| self.ends.get(position)).map(String::as_str).ok_or_else(|| {
            let message = format!(
                "the cursor {number} is none of the last {MOST_CURSORS} that this handle returned; begin again without \
                 one"
            );
            Error::new(Code::Invalid, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_to_its_page_until_it_is_forgotten_and_never_to_another() {
        let mut cursors = NumberedCursors::default();
        assert!(cursors.end(0).is_err(), "none was returned yet");
        let numbers: Vec<_> = (0..=MOST_CURSORS).map(|page| cursors.number(format!("key {page}"))).collect();
        assert_eq!(cursors.number("key 7".to_owned()), numbers[7], "the same page again");
        assert!(cursors.end(numbers[0]).is_err(), "forgotten");
        for (page, number) in numbers.iter().enumerate().skip(1) {
            assert_eq!(cursors.end(*number).expect("kept"), format!("key {page}"));
        }
        for never in [numbers[MOST_CURSORS] + 1, u64::MAX] {
            let refused = cursors.end(never).expect_err("never returned");
            assert!(refused.code == Code::Invalid && refused.message.contains("begin again"), "{refused}");
        }
    }
}
