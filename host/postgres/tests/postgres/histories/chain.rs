//! Whether what was seen of one value is what a value that changes at one moment after the other
//! would have shown: linearizability, for compare-and-swap with values that are written once.

use std::collections::{BTreeMap, BTreeSet};

/// What somebody saw, and between which moments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation {
    pub(super) began: u64,
    pub(super) ended: u64,
    pub(super) seen: Seen,
}

/// What was seen. Before the first write the value is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// It was this.
    Read { value: u64 },
    /// It was `over`, and `value` from then on.
    Wrote { over: u64, value: u64 },
    /// The same, or nothing.
    MayHaveWritten { over: u64, value: u64 },
}

/// Finds an order of moments at which the value may have changed.
pub(super) fn explain(seen: &[Observation]) -> Result<(), String> {
    let changes = changes(seen)?;
    let mut chain = vec![0];
    while let Some((value, _)) = chain.last().and_then(|last| changes.get(last)) {
        chain.push(*value);
    }
    if chain.len() <= changes.len() {
        return Err(format!("{} writes were made, and {} follow each other", changes.len(), chain.len() - 1));
    }
    // Each change as early as it may be, which is best for all that saw what it made.
    let mut changed = None;
    for (place, value) in chain.iter().enumerate() {
        let readers = || seen.iter().filter(|observed| observed.seen == Seen::Read { value: *value });
        if let Some(late) = readers().find(|reader| changed.is_some_and(|changed| reader.ended <= changed)) {
            return Err(format!("{late:?} came before the value was there"));
        }
        let Some((_, change)) = chain.get(place + 1).and_then(|_| changes.get(value)) else { continue };
        changed = readers().map(|reader| reader.began).chain([change.began]).chain(changed).max();
        if changed.is_some_and(|changed| change.ended <= changed) {
            return Err(format!("{change:?} was over before it could be made"));
        }
    }
    let strange = seen.iter().find(|observed| matches!(observed.seen, Seen::Read { value } if !chain.contains(&value)));
    strange.map_or(Ok(()), |strange| Err(format!("nobody wrote what {strange:?} is")))
}

/// The writes that were made, by what they were made over.
fn changes(seen: &[Observation]) -> Result<BTreeMap<u64, (u64, Observation)>, String> {
    // A write of which nobody knows was made where somebody saw it, or wrote over it.
    let mut shown = BTreeSet::new();
    let mut grows = true;
    while grows {
        let before = shown.len();
        for observed in seen {
            match observed.seen {
                Seen::Read { value } => _ = shown.insert(value),
                Seen::Wrote { over, .. } => _ = shown.insert(over),
                Seen::MayHaveWritten { over, value } if shown.contains(&value) => _ = shown.insert(over),
                Seen::MayHaveWritten { .. } => {}
            }
        }
        grows = shown.len() > before;
    }
    let mut changes = BTreeMap::new();
    for observed in seen {
        let (over, value) = match observed.seen {
            Seen::Read { .. } => continue,
            Seen::Wrote { over, value } => (over, value),
            Seen::MayHaveWritten { value, .. } if !shown.contains(&value) => continue,
            Seen::MayHaveWritten { over, value } => (over, value),
        };
        if let Some((other, _)) = changes.insert(over, (value, *observed)) {
            return Err(format!("{value} and {other} were both written over {over}"));
        }
    }
    Ok(changes)
}

mod tests {
    use proptest::{collection::vec, option, prelude::*};

    use super::*;

    /// The same by trying every order.
    fn has_an_order(rest: &[Observation], now: u64) -> bool {
        let certain = |observed: &&Observation| !matches!(observed.seen, Seen::MayHaveWritten { .. });
        let Some(first_end) = rest.iter().filter(certain).map(|observed| observed.ended).min() else { return true };
        rest.iter().enumerate().filter(|(_, observed)| observed.began < first_end).any(|(place, observed)| {
            let rest: Vec<_> = [&rest[..place], &rest[place + 1..]].concat();
            match observed.seen {
                Seen::Read { value } => value == now && has_an_order(&rest, now),
                Seen::Wrote { over, value } => over == now && has_an_order(&rest, value),
                Seen::MayHaveWritten { over, value } => {
                    over == now && has_an_order(&rest, value) || has_an_order(&rest, now)
                }
            }
        })
    }

    /// Up to seven observations of a value, each around its moment, and one that may be wrong.
    fn histories() -> impl Strategy<Value = Vec<Observation>> {
        let observed = (0..4_u8, 0..35_u64, 0..35_u64);
        (vec(observed, 1..8), option::of((0..8_usize, 0..8_u64))).prop_map(|(observed, wrong)| {
            let mut now = 0;
            let mut history = Vec::new();
            for (place, (kind, before, after)) in observed.into_iter().enumerate() {
                let place = u64::try_from(place).expect("few");
                let (moment, value) = (100 + place * 10, place + 1);
                let seen = match kind {
                    0 => Seen::Read { value: now },
                    1 => Seen::Wrote { over: now, value },
                    // Made, and not.
                    _ => Seen::MayHaveWritten { over: now, value },
                };
                if matches!(kind, 1 | 2) {
                    now = value;
                }
                // No two moments are the same.
                let (began, ended) = ((moment - before) * 20 + place, (moment + after) * 20 + 10 + place);
                let ended = if matches!(seen, Seen::MayHaveWritten { .. }) { u64::MAX } else { ended };
                history.push(Observation { began, ended, seen });
            }
            if let Some((place, value)) = wrong
                && let Some(observed) = history.get_mut(place)
            {
                match &mut observed.seen {
                    Seen::Read { value: seen }
                    | Seen::Wrote { over: seen, .. }
                    | Seen::MayHaveWritten { over: seen, .. } => *seen = value,
                }
            }
            history
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_history_is_explained_where_trying_every_order_finds_one(history in histories()) {
            prop_assert_eq!(explain(&history).is_ok(), has_an_order(&history, 0), "{:?}", explain(&history));
        }
    }

    #[test]
    fn a_read_of_what_was_overwritten_before_it_began_is_a_stale_one() {
        let observed = |began, ended, seen| Observation { began, ended, seen };
        let wrote = |over, value, began| observed(began, began + 1, Seen::Wrote { over, value });
        let history = |read| [wrote(0, 1, 10), wrote(1, 2, 20), observed(30, 31, Seen::Read { value: read })];
        assert!(explain(&history(2)).is_ok());
        assert!(explain(&history(1)).is_err(), "stale");
        assert!(explain(&history(3)).is_err(), "never written");
        let twice = [wrote(0, 1, 10), wrote(0, 2, 20)];
        assert!(explain(&twice).is_err(), "two over one");
    }
}
