//! Denials of one call: each is told once, and counted from then on.
//!
//! A guest can be denied a hundred thousand things in one call, and choose what they are
//! called, so the number of different ones that are told is bounded, too.

use std::time::Duration;

use super::HostCall;

/// Denials of one call that are told apart by what was asked for. Others of the same
/// function are counted as one.
const MOST: usize = 16;

/// What was denied to one call so far.
#[derive(Debug, Default)]
pub(super) struct Repeats(Vec<Repeat>);

#[derive(Debug)]
struct Repeat {
    /// The first one; its sizes and time are those of all that came later.
    call: HostCall,
    /// How many came later.
    more: u64,
}

impl Repeats {
    /// Whether this one is to be told now; it is counted where not.
    pub(super) fn is_first(&mut self, call: &HostCall) -> bool {
        if let Some(known) = self.0.iter_mut().find(|known| known.is_like(call)) {
            known.add(call);
            return false;
        }
        let kept = |call: HostCall| HostCall { bytes_in: 0, bytes_out: 0, took: Duration::ZERO, ..call };
        if self.0.len() < MOST {
            self.0.push(Repeat { call: kept(call.clone()), more: 0 });
            return true;
        }
        // The host decides how many functions there are.
        let nameless = HostCall { asked: None, ..call.clone() };
        match self.0.iter_mut().find(|known| known.is_like(&nameless)) {
            Some(known) => known.add(call),
            None => {
                let mut repeat = Repeat { call: kept(nameless), more: 0 };
                repeat.add(call);
                self.0.push(repeat);
            }
        }
        false
    }

    /// What was counted, and how often.
    pub(super) fn take(&mut self) -> Vec<(HostCall, u64)> {
        let repeats = std::mem::take(&mut self.0);
        repeats.into_iter().filter(|repeat| repeat.more > 0).map(|repeat| (repeat.call, repeat.more)).collect()
    }
}

impl Repeat {
    fn is_like(&self, call: &HostCall) -> bool {
        self.call.function == call.function && self.call.asked == call.asked
    }

    fn add(&mut self, call: &HostCall) {
        self.more += 1;
        self.call.bytes_in = self.call.bytes_in.saturating_add(call.bytes_in);
        self.call.bytes_out = self.call.bytes_out.saturating_add(call.bytes_out);
        self.call.took = self.call.took.saturating_add(call.took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, audit::AuditOutcome};

    fn denied(function: &str, asked: String) -> HostCall {
        let outcome = AuditOutcome::Failed(Code::Denied);
        let (function, asked) = (function.into(), Some(asked.into_boxed_str()));
        HostCall { function, asked, outcome, bytes_in: 1, bytes_out: 0, took: Duration::ZERO }
    }

    #[test]
    fn names_that_a_guest_makes_up_are_counted_by_function() {
        let mut repeats = Repeats::default();
        let told = (0..99_000).filter(|number| repeats.is_first(&denied("process.spawn", number.to_string()))).count();
        let more = (0..10).filter(|number| repeats.is_first(&denied("http.send", number.to_string()))).count();
        assert_eq!((told, more), (MOST, 0));
        let counted: Vec<_> =
            repeats.take().into_iter().map(|(call, more)| (call.function, call.asked, more)).collect();
        assert_eq!(counted, [("process.spawn".into(), None, 99_000 - MOST as u64), ("http.send".into(), None, 10)]);
    }
}
