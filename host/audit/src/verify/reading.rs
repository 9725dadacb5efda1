//! A file while it is verified, a line at a time.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _},
    time::{Duration, SystemTime},
};

use serde::Deserialize;

use super::{AuditFinding, AuditNote, VerifiedFile};
use crate::{
    chain::{self, Chain},
    entry::{BEGIN, HEAD, REMOVED},
    line::{MAX_LINE_BYTES, stamp},
    signing::AuditKey,
    writer::SIGNING,
};

/// Findings of one file that are told apart; the count says how many there are.
const MOST_FINDINGS: usize = 20;

/// Lines of a host that runs may be without a signature for so long: twice as long as it takes to sign them.
const UNSIGNED: Duration = SIGNING.saturating_mul(2);

/// What the lines about files say.
#[derive(Default, Deserialize)]
pub(super) struct OfFiles {
    #[serde(default)]
    pub(super) time: String,
    pub(super) kind: String,
    #[serde(default)]
    pub(super) file: String,
    #[serde(default)]
    pub(super) previous: String,
    #[serde(default)]
    pub(super) previous_chain: String,
    #[serde(default)]
    pub(super) key: String,
    #[serde(default)]
    pub(super) signature: String,
}

/// Lines without a signature: the first of them, and from when to when all of them are.
struct UnsignedLines {
    first: u64,
    earliest: String,
    latest: String,
}

/// A file while it is read.
pub(super) struct Reading<'k> {
    keys: &'k [AuditKey],
    /// Lines before this time need no signature.
    since: &'k str,
    /// The lines after the last one with a signature that need one.
    unsigned: Option<UnsignedLines>,
    pub(super) verified: VerifiedFile,
    /// The chain after the last line; none before the first one that has any.
    chain: Option<Chain>,
    /// Chains that other files say it has, and that were not found yet.
    pub(super) sought: HashSet<Chain>,
    /// The last line has no chain: it is unfinished if the next one goes on where the chain stood.
    broken: Option<u64>,
}

impl<'k> Reading<'k> {
    pub(super) fn new(file: String, sought: HashSet<Chain>, keys: &'k [AuditKey], since: &'k str) -> Self {
        let verified = VerifiedFile { file, ..VerifiedFile::default() };
        Self { keys, since, unsigned: None, verified, chain: None, sought, broken: None }
    }

    pub(super) fn found(&mut self, finding: AuditFinding) {
        self.verified.faults += 1;
        if self.verified.findings.len() < MOST_FINDINGS {
            self.verified.findings.push(finding);
        }
    }

    pub(super) fn read(
        &mut self,
        file: File,
        removed: &mut HashSet<String>,
        lost: &mut HashSet<Chain>,
    ) -> io::Result<()> {
        let (mut reader, mut line) = (BufReader::new(file), Vec::new());
        loop {
            line.clear();
            // A longer line is none that a host wrote.
            let read = reader.by_ref().take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            self.verified.lines += 1;
            let Some(whole) = line.strip_suffix(b"\n") else {
                // The end of what a host is writing, or was when it ended.
                self.break_off();
                continue;
            };
            match chain::parted(whole) {
                Some((content, chain)) => self.line(&content, chain, removed),
                None => {
                    self.break_off();
                    let of_files: OfFiles = serde_json::from_slice(whole).unwrap_or_default();
                    self.needs_signature(&of_files.time);
                }
            }
            if let Some(chain) = &self.chain {
                self.sought.remove(chain);
                lost.remove(chain);
            }
        }
        self.verified.chain = self.chain.map(Chain::to_hex);
        if let Some(line) = self.broken.take() {
            self.verified.notes.push(AuditNote::Unfinished { line });
        }
        if self.chain.is_none() && self.verified.lines > 0 {
            // Nothing in it was chained.
            self.verified.findings.clear();
            self.verified.faults = 0;
            self.verified.notes = vec![AuditNote::WithoutChain];
        }
        self.judge_unsigned(SystemTime::now());
        Ok(())
    }

    /// A line of this time waits for a signature.
    fn needs_signature(&mut self, time: &str) {
        if self.keys.is_empty() || time < self.since {
            return;
        }
        let first = self.verified.lines;
        let unsigned = self.unsigned.get_or_insert_with(|| UnsignedLines {
            first,
            earliest: time.to_owned(),
            latest: time.to_owned(),
        });
        // One line of now among old ones excuses none of them.
        if time < unsigned.earliest.as_str() {
            time.clone_into(&mut unsigned.earliest);
        } else if time > unsigned.latest.as_str() {
            time.clone_into(&mut unsigned.latest);
        }
    }

    /// Lines at the end that no key has signed: those of a host that writes now are signed soon.
    fn judge_unsigned(&mut self, now: SystemTime) {
        let Some(UnsignedLines { first, earliest, latest }) = self.unsigned.take() else { return };
        let [least, most] = [now.checked_sub(UNSIGNED), now.checked_add(UNSIGNED)].map(|time| time.map(stamp));
        let are_of_now = least.is_some_and(|least| earliest >= least) && most.is_some_and(|most| latest <= most);
        if !are_of_now {
            self.found(AuditFinding::Unsigned { after: first - 1 });
        }
    }

    /// A line without a chain. Two in a row are none that a host left.
    fn break_off(&mut self) {
        if let Some(line) = self.broken.replace(self.verified.lines) {
            self.found(AuditFinding::Foreign { line });
        }
    }

    fn head(&mut self, head: &OfFiles, before: Chain) {
        if self.keys.is_empty() {
            return;
        }
        let number = self.verified.lines;
        match self.keys.iter().find(|key| key.name() == head.key) {
            Some(key) if head.file == self.verified.file && key.verifies(&head.signature, &head.file, before) => {
                (self.verified.signed, self.unsigned) = (Some(number), None);
            }
            Some(_) => self.found(AuditFinding::Forged { line: number }),
            None => {
                let note = AuditNote::OtherKey { key: head.key.chars().take(64).collect() };
                if self.verified.notes.len() < MOST_FINDINGS && !self.verified.notes.contains(&note) {
                    self.verified.notes.push(note);
                }
            }
        }
    }

    fn line(&mut self, content: &[u8], chain: Chain, removed: &mut HashSet<String>) {
        let number = self.verified.lines;
        let of_files: Option<OfFiles> = serde_json::from_slice(content).ok();
        let before = match (self.chain, &of_files) {
            (Some(before), _) => Some(before),
            (None, Some(begin)) if begin.kind == BEGIN && begin.file == self.verified.file && number == 1 => {
                Some(Chain::of_file(&begin.file))
            }
            (None, _) => None,
        };
        match before {
            None => self.found(AuditFinding::Headless),
            Some(before) if before.after(content) == chain => {
                if let Some(line) = self.broken.take() {
                    self.verified.notes.push(AuditNote::Unfinished { line });
                }
            }
            Some(_) => {
                if let Some(line) = self.broken.take() {
                    self.found(AuditFinding::Foreign { line });
                }
                self.found(AuditFinding::Changed { line: number });
            }
        }
        self.needs_signature(of_files.as_ref().map_or("", |line| &line.time));
        if let (Some(head), Some(before)) = (of_files.as_ref().filter(|line| line.kind == HEAD), before) {
            self.head(head, before);
        }
        // What follows is judged by itself.
        self.chain = Some(chain);
        if let Some(line) = of_files.filter(|line| line.kind == REMOVED) {
            removed.insert(line.file);
        }
    }
}
