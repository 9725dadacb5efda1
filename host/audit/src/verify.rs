//! Says of the files of a directory whether anything in them was changed, taken out or cut off.
//!
//! Reads the first line of each file, and then each file once, a line at a time. A file that a host writes is verified as far as it is whole.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _},
    path::Path,
};

use serde::{Deserialize, Serialize};
use wharf_files::regular_file;

use crate::{
    chain::{self, Chain},
    entry::{BEGIN, HEAD, REMOVED},
    files::{AuditFile, group_of, list, name_of},
    line::{MAX_LINE_BYTES, stamp},
    signing::AuditKey,
};

/// Findings of one file that are told apart; the count says how many there are.
const MOST_FINDINGS: usize = 20;

/// What is found in a file. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AuditFinding {
    /// The line is not what its host wrote, or lines before it are gone.
    Changed {
        /// Which.
        line: u64,
    },
    /// The line has no chain, and is not the rest of one that its host did not finish.
    Foreign {
        /// Which.
        line: u64,
    },
    /// The file does not begin with the line that names it: its beginning is gone, or it had another name.
    Headless,
    /// The line has a signature that the key which it names did not make for it.
    Forged {
        /// Which.
        line: u64,
    },
    /// Another file says that a line was in this one, which is gone: the end was cut off, or all after
    /// a place was written anew.
    Cut {
        /// The file that says so.
        said_by: String,
    },
    /// The file that this one names as the one before it is gone, and no line says that a host removed it.
    Missing {
        /// Its name.
        file: String,
    },
}

/// What is told of a file without a fault of anybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AuditNote {
    /// A host ended while it wrote this line.
    Unfinished {
        /// Which.
        line: u64,
    },
    /// A key that was not given signed lines of it.
    OtherKey {
        /// Its name.
        key: String,
    },
    /// It is of a version that made no chain: nothing is known of it.
    WithoutChain,
    /// The file before it made room, as a host says.
    Removed {
        /// Its name.
        file: String,
    },
    /// The file before it is gone, and so are all older ones, which a host would have said it removed.
    Oldest {
        /// Its name.
        file: String,
    },
}

/// A file, and what is found in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct VerifiedFile {
    /// Its name.
    pub file: String,
    /// Its lines.
    pub lines: u64,
    /// The chain after its last whole line: 64 hexadecimal digits. Kept elsewhere, it tells later whether
    /// the end of the file was cut off.
    pub chain: Option<String>,
    /// The line up to which a given key has signed all lines; absent where it has signed none.
    pub signed: Option<u64>,
    /// What is wrong: the first 20 findings.
    pub findings: Vec<AuditFinding>,
    /// How many there are.
    pub faults: u64,
    /// What else is told of it.
    pub notes: Vec<AuditNote>,
}

/// The files of a directory, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AuditVerdict {
    /// All of them.
    pub files: Vec<VerifiedFile>,
    /// Chains that were to be found and are in no file.
    pub lost: Vec<String>,
}

impl AuditVerdict {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.lost.is_empty() && self.files.iter().all(|file| file.faults == 0)
    }
}

/// What the lines about files say.
#[derive(Deserialize)]
struct OfFiles {
    #[serde(default)]
    time: String,
    kind: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    previous: String,
    #[serde(default)]
    previous_chain: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    signature: String,
}

/// Verifies the files of a directory. `wanted` are chains that were kept elsewhere: each has to be in
/// a file. `keys` are those of hosts: what they signed is verified.
///
/// # Errors
/// Where the directory or a file cannot be read.
pub fn verify(directory: &Path, wanted: &[String], keys: &[AuditKey]) -> io::Result<AuditVerdict> {
    let listed = list(directory)?;
    let mut begun = Vec::new();
    // What a file is to have, by its name.
    let mut sought: HashMap<String, HashSet<Chain>> = HashMap::new();
    for file in &listed {
        let Some(begin) = first_line(&file.path)?.filter(|begin| !begin.previous.is_empty()) else { continue };
        sought.entry(begin.previous.clone()).or_default().extend(Chain::read(&begin.previous_chain));
        begun.push((file, begin));
    }
    let mut removed = HashSet::new();
    let mut lost: HashSet<Chain> = wanted.iter().filter_map(|hex| Chain::read(hex)).collect();
    // In the order of their names, as they are listed.
    let mut files = BTreeMap::new();
    for file in &listed {
        let name = name_of(&file.path);
        let mut reading = Reading::new(name.to_owned(), sought.remove(name).unwrap_or_default(), keys);
        match regular_file::open_itself(&file.path) {
            Ok(opened) => reading.read(opened, &mut removed, &mut lost)?,
            // A host removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        }
        files.insert(name, reading);
    }
    for (teller, begin) in begun {
        let OfFiles { time, previous, previous_chain, .. } = begin;
        let name = name_of(&teller.path);
        if let Some(reading) = files.get_mut(previous.as_str()) {
            if Chain::read(&previous_chain).is_none_or(|chain| reading.sought.contains(&chain)) {
                reading.found(AuditFinding::Cut { said_by: name.to_owned() });
            }
            continue;
        }
        let Some(reading) = files.get_mut(name) else { continue };
        // Hosts remove those that were written last after others.
        let is_older = |other: &AuditFile| {
            other.path != teller.path && group_of(&other.path) == group_of(&teller.path) && stamp(other.modified) < time
        };
        if removed.contains(&previous) {
            reading.verified.notes.push(AuditNote::Removed { file: previous });
        } else if listed.iter().any(is_older) {
            reading.found(AuditFinding::Missing { file: previous });
        } else {
            reading.verified.notes.push(AuditNote::Oldest { file: previous });
        }
    }
    let is_lost = |hex: &&String| Chain::read(hex).is_none_or(|chain| lost.contains(&chain));
    Ok(AuditVerdict {
        lost: wanted.iter().filter(is_lost).cloned().collect(),
        files: files.into_values().map(|reading| reading.verified).collect(),
    })
}

fn first_line(path: &Path) -> io::Result<Option<OfFiles>> {
    let Ok(file) = regular_file::open_itself(path) else { return Ok(None) };
    let mut line = Vec::new();
    BufReader::new(file).take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line).ok().filter(|line: &OfFiles| line.kind == BEGIN))
}

/// A file while it is read.
struct Reading<'k> {
    keys: &'k [AuditKey],
    verified: VerifiedFile,
    /// The chain after the last line; none before the first one that has any.
    chain: Option<Chain>,
    /// Chains that other files say it has, and that were not found yet.
    sought: HashSet<Chain>,
    /// The last line has no chain: it is unfinished if the next one goes on where the chain stood.
    broken: Option<u64>,
}

impl<'k> Reading<'k> {
    fn new(file: String, sought: HashSet<Chain>, keys: &'k [AuditKey]) -> Self {
        let verified = VerifiedFile { file, ..VerifiedFile::default() };
        Self { keys, verified, chain: None, sought, broken: None }
    }

    fn found(&mut self, finding: AuditFinding) {
        self.verified.faults += 1;
        if self.verified.findings.len() < MOST_FINDINGS {
            self.verified.findings.push(finding);
        }
    }

    fn read(&mut self, file: File, removed: &mut HashSet<String>, lost: &mut HashSet<Chain>) -> io::Result<()> {
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
                None => self.break_off(),
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
        Ok(())
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
                self.verified.signed = Some(number);
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
