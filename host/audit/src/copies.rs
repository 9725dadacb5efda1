//! Copies of lines that go elsewhere as they are written: queued under a bound, so that their receiver may be
//! slow or away, and no call and no file waits.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use crate::line::Party;

/// Most bytes that wait...
const MOST_BYTES: usize = 16 << 20;
/// ...and most of one party, so that a tenant's flood costs no copy of another one's line.
const MOST_BYTES_OF_PARTY: usize = MOST_BYTES / 4;

/// Lines that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct CopyQueue {
    // A blocking lock: held for a push or a swap.
    waiting: Mutex<WaitingLines>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WaitingLines {
    lines: VecDeque<(Party, Box<[u8]>)>,
    bytes: usize,
    of_party: HashMap<Party, usize>,
    /// Those that found no room, and that nothing has told yet.
    untold: u64,
    /// What was taken last is not sent yet.
    in_hand: bool,
    lost: u64,
    closing: bool,
    ended: bool,
}

/// What is to be sent next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextCopy {
    /// A line, without its line break.
    Line(Box<[u8]>),
    /// So many lines found no room.
    Lost(u64),
}

impl CopyQueue {
    /// Adds whole lines.
    pub(crate) fn add(&self, lines: &[u8]) {
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines: Vec<_> = lines.map(|line| (Party::of_line(line), Box::<[u8]>::from(line))).collect();
        let mut waiting = self.waiting.lock();
        for (party, line) in lines {
            let of_party = waiting.of_party.get(&party).copied().unwrap_or_default();
            let fits = waiting.bytes + line.len() <= MOST_BYTES && of_party + line.len() <= MOST_BYTES_OF_PARTY;
            if waiting.ended || !fits {
                waiting.untold += 1;
                waiting.lost += 1;
                continue;
            }
            waiting.bytes += line.len();
            waiting.of_party.insert(party.clone(), of_party + line.len());
            waiting.lines.push_back((party, line));
        }
        drop(waiting);
        self.changed.notify_all();
    }

    /// How many lines found no room.
    pub(crate) fn lost(&self) -> u64 {
        self.waiting.lock().lost
    }

    /// Waits for the next one, since that before was sent; nothing once all were sent that came before the end.
    pub(crate) fn next(&self) -> Option<NextCopy> {
        let mut waiting = self.waiting.lock();
        if std::mem::take(&mut waiting.in_hand) {
            self.changed.notify_all();
        }
        loop {
            if let Some((party, line)) = waiting.lines.pop_front() {
                waiting.bytes -= line.len();
                if let Some(of_party) = waiting.of_party.get_mut(&party) {
                    *of_party -= line.len();
                    if *of_party == 0 {
                        waiting.of_party.remove(&party);
                    }
                }
                waiting.in_hand = true;
                return Some(NextCopy::Line(line));
            }
            if waiting.untold > 0 {
                waiting.in_hand = true;
                return Some(NextCopy::Lost(std::mem::take(&mut waiting.untold)));
            }
            if waiting.closing {
                return None;
            }
            self.changed.wait(&mut waiting);
        }
    }

    /// Waits so long, or until the queue closes; whether it does.
    pub(crate) fn rest(&self, time: Duration) -> bool {
        let mut waiting = self.waiting.lock();
        self.changed.wait_while_for(&mut waiting, |waiting| !waiting.closing, time);
        waiting.closing
    }

    /// Waits until all was sent, at most so long; whether it was.
    pub(crate) fn drain(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut waiting = self.waiting.lock();
        while !waiting.ended && (waiting.in_hand || !waiting.lines.is_empty() || waiting.untold > 0) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.changed.wait_for(&mut waiting, left);
        }
        true
    }

    /// Nothing is sent any more, so many of those that were taken included.
    pub(crate) fn end(&self, unsent: u64) {
        let mut waiting = self.waiting.lock();
        waiting.ended = true;
        waiting.lost += unsent + waiting.lines.len() as u64;
        waiting.lines.clear();
        drop(waiting);
        self.changed.notify_all();
    }

    /// Asks for the end, and waits for it, at most so long.
    pub(crate) fn close(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let mut waiting = self.waiting.lock();
        waiting.closing = true;
        self.changed.notify_all();
        while !waiting.ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.changed.wait_for(&mut waiting, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tenant: &str, number: usize) -> String {
        format!("{{\"kind\":\"call\",\"tenant\":\"{tenant}\",\"tool\":\"{number:0>4000}\"}}\n")
    }

    #[test]
    fn a_flood_of_one_tenant_leaves_room_for_the_others_and_is_counted() {
        let queue = CopyQueue::default();
        let flood = MOST_BYTES_OF_PARTY / 4_000 + 500;
        (0..flood).for_each(|number| queue.add(line("loud", number).as_bytes()));
        let lost = queue.lost();
        assert!((400..800).contains(&lost), "{lost}");
        queue.add(line("quiet", 1).as_bytes());
        assert_eq!(queue.lost(), lost);
        let mut sent = 0;
        loop {
            match queue.next().expect("it is open") {
                NextCopy::Line(_) => sent += 1,
                NextCopy::Lost(count) => break assert_eq!(count, lost),
            }
        }
        assert_eq!(sent, flood as u64 - lost + 1);
        queue.add(line("loud", 1).as_bytes());
        assert!(matches!(queue.next(), Some(NextCopy::Line(_))), "there is room again");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(queue.next(), None);
                queue.end(0);
            });
            queue.close(Duration::from_secs(60));
        });
    }
}
