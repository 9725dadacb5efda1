//! The members as this host knows them, and for how long it has seen each beat stand still.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{HostRecord, Incarnation, PeerAddress, notices::Told};

/// A host that lives, as far as is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) incarnation: Incarnation,
    pub(crate) host: Arc<str>,
    pub(crate) address: PeerAddress,
    pub(crate) is_draining: bool,
}

impl Peer {
    /// Of what the database says of a host, where it lives.
    pub(crate) fn of(record: &HostRecord) -> Option<Self> {
        let address = record.address.parse().ok().filter(|_| !record.is_dead)?;
        let HostRecord { incarnation, is_draining, .. } = *record;
        Some(Self { incarnation, host: Arc::from(record.host.as_str()), address, is_draining })
    }
}

/// What is known of a life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    /// It lives, as far as is known.
    Alive(Peer),
    /// It was declared dead; the name of its host.
    Dead(Arc<str>),
    /// Nobody of that life is in the list.
    Unknown,
}

/// The members as this host knows them.
#[derive(Debug)]
pub(crate) struct Roster {
    /// A longer gap between two readings begins the observation anew: neither this host nor the
    /// database would have noticed a beat.
    longest_gap: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: HashMap<Incarnation, Known>,
    beats: HashMap<Incarnation, Observation>,
    /// When the present run of readings began, and when the last one was.
    reading: Option<(Instant, Instant)>,
}

#[derive(Debug, Clone, Copy)]
struct Observation {
    beat: i64,
    since: Instant,
    /// Batches of changes that it has told.
    told: u64,
}

impl State {
    fn lives(&self, incarnation: Incarnation) -> bool {
        matches!(self.known.get(&incarnation), Some(Known::Alive(_)))
    }
}

impl Roster {
    pub(crate) fn new(longest_gap: Duration) -> Self {
        Self { longest_gap, state: Mutex::default() }
    }

    /// Takes over what the database says, as of a request that was sent at that time.
    pub(crate) fn read(&self, records: &[HostRecord], sent: Instant) {
        let mut state = self.state.lock();
        let began = match state.reading {
            Some((began, last)) if sent.saturating_duration_since(last) <= self.longest_gap => began,
            _ => sent,
        };
        state.reading = Some((began, sent));
        let mut beats = HashMap::new();
        let mut known = HashMap::new();
        for record in records {
            let seen = state.beats.get(&record.incarnation).filter(|seen| seen.beat == record.beat);
            let since = seen.map_or(sent, |seen| seen.since.max(began));
            beats.insert(record.incarnation, Observation { beat: record.beat, since, told: record.report.told });
            let dead = || Known::Dead(Arc::from(record.host.as_str()));
            known.insert(record.incarnation, Peer::of(record).map_or_else(dead, Known::Alive));
        }
        (state.known, state.beats) = (known, beats);
    }

    /// Takes note of a death that this host has declared.
    pub(crate) fn bury(&self, incarnation: Incarnation) {
        if let Some(known) = self.state.lock().known.get_mut(&incarnation)
            && let Known::Alive(peer) = known
        {
            *known = Known::Dead(Arc::clone(&peer.host));
        }
    }

    /// When the last reading was asked for.
    pub(crate) fn read_since(&self) -> Option<Instant> {
        self.state.lock().reading.map(|(_, last)| last)
    }

    /// What is known of a life.
    pub(crate) fn find(&self, incarnation: Incarnation) -> Known {
        self.state.lock().known.get(&incarnation).cloned().unwrap_or(Known::Unknown)
    }

    /// The hosts that live, but for one.
    pub(crate) fn others(&self, but: Incarnation) -> Vec<Peer> {
        let alive = |known: &Known| match known {
            Known::Alive(peer) if peer.incarnation != but => Some(peer.clone()),
            _ => None,
        };
        let mut others: Vec<_> = self.state.lock().known.values().filter_map(alive).collect();
        others.sort_by_key(|peer| peer.incarnation);
        others
    }

    /// The lives whose beat has stood still for so long, by the last reading.
    pub(crate) fn still(&self, for_at_least: Duration) -> Vec<Incarnation> {
        let state = self.state.lock();
        let Some((_, last)) = state.reading else { return Vec::new() };
        let still = state.beats.iter().filter(|(incarnation, seen)| {
            state.lives(**incarnation) && last.saturating_duration_since(seen.since) >= for_at_least
        });
        still.map(|(incarnation, _)| *incarnation).collect()
    }

    /// How many batches of changes each host that lives has told, by the last reading, but for one.
    pub(crate) fn told(&self, but: Incarnation) -> Vec<Told> {
        let state = self.state.lock();
        let others = state.beats.iter().filter(|(incarnation, _)| **incarnation != but && state.lives(**incarnation));
        others
            .map(|(incarnation, seen)| Told { incarnation: *incarnation, beat: seen.beat, batches: seen.told })
            .collect()
    }

    /// The last beat that was read of a life, and for how long it has stood still.
    pub(crate) fn beat(&self, incarnation: Incarnation) -> Option<(i64, Duration)> {
        let state = self.state.lock();
        let (_, last) = state.reading?;
        state.beats.get(&incarnation).map(|seen| (seen.beat, last.saturating_duration_since(seen.since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HostReport;

    fn record(number: i64, beat: i64) -> HostRecord {
        HostRecord {
            incarnation: Incarnation::from_i64(number).expect("a number"),
            host: format!("host-{number}"),
            address: format!("localhost:{number}"),
            version: "1".to_owned(),
            beat,
            silent_milliseconds: 0,
            is_draining: false,
            is_dead: false,
            report: HostReport::default(),
        }
    }

    const DEAD: Duration = Duration::from_secs(15);
    const GAP: Duration = Duration::from_secs(3);

    #[tokio::test(start_paused = true)]
    async fn a_beat_that_stands_still_while_the_database_answers_is_found() {
        let roster = Roster::new(GAP);
        for second in 0..=15 {
            assert!(roster.still(DEAD).is_empty(), "after {second} seconds");
            roster.read(&[record(1, 9), record(2, second)], Instant::now());
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert_eq!(roster.still(DEAD), [record(1, 9).incarnation]);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_found_where_the_database_or_this_host_stood_still() {
        let roster = Roster::new(GAP);
        for _ in 0..14 {
            roster.read(&[record(1, 9)], Instant::now());
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        tokio::time::advance(GAP).await;
        for second in 0..15 {
            roster.read(&[record(1, 9)], Instant::now());
            assert!(roster.still(DEAD).is_empty(), "after {second} seconds of the second run");
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        roster.read(&[record(1, 9)], Instant::now());
        assert_eq!(roster.still(DEAD).len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_declared_dead_here_is_dead_before_the_next_reading() {
        let roster = Roster::new(GAP);
        let (dead, other) = (record(1, 9).incarnation, record(2, 1).incarnation);
        roster.read(&[record(1, 9), record(2, 1)], Instant::now());
        roster.bury(dead);
        assert_eq!(roster.find(dead), Known::Dead("host-1".into()));
        assert!(roster.others(other).is_empty());
        roster.bury(record(3, 1).incarnation);
        assert_eq!(roster.find(record(3, 1).incarnation), Known::Unknown);
    }

    #[tokio::test(start_paused = true)]
    async fn the_dead_are_known_by_name_and_are_nobodys_peers() {
        let roster = Roster::new(GAP);
        let dead = HostRecord { is_dead: true, ..record(1, 9) };
        roster.read(&[dead.clone(), record(2, 1)], Instant::now());
        assert_eq!(roster.find(dead.incarnation), Known::Dead("host-1".into()));
        assert_eq!(roster.find(record(3, 1).incarnation), Known::Unknown);
        let others: Vec<_> = roster.others(record(3, 1).incarnation).iter().map(|peer| peer.incarnation).collect();
        assert_eq!(others, [record(2, 1).incarnation]);
        assert!(roster.others(record(2, 1).incarnation).is_empty());
    }
}
