//! Says of the files of a directory whether anything in them was changed, taken out or cut off.
//!
//! Reads the first line of each file, and then each file once, a line at a time. A file that a host writes is verified as far as it is whole.

mod reading;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::{self, BufRead as _, BufReader, Read as _},
    path::Path,
    time::SystemTime,
};

use serde::Serialize;
use wharf_files::regular_file;

use self::reading::{OfFiles, Reading};
use crate::{
    chain::Chain,
    entry::BEGIN,
    files::{AuditFile, group_of, list, name_of},
    line::{MAX_LINE_BYTES, stamp},
    signing::AuditKey,
};

/// The signatures that files must have.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RequiredSignatures {
    /// The keys of hosts: one of them must have signed each line. Without any, signatures are not looked at.
    pub keys: Vec<AuditKey>,
    /// Lines before this time need none: hosts had no key then.
    pub since: Option<SystemTime>,
}

impl RequiredSignatures {
    /// By these keys, of all lines.
    #[must_use]
    pub fn by(keys: Vec<AuditKey>) -> Self {
        Self { keys, since: None }
    }

    /// Not of lines before this time.
    #[must_use]
    pub fn since(self, since: Option<SystemTime>) -> Self {
        Self { since, ..self }
    }
}

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
    /// Lines after this one have no signature of the keys that were given, and were not written in the last two
    /// minutes. What can write the file can have made them.
    Unsigned {
        /// The last one that has.
        after: u64,
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
    /// Signatures are required, and no file has a line: a host that signs has written some.
    pub empty: bool,
}

impl AuditVerdict {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.empty && self.lost.is_empty() && self.files.iter().all(|file| file.faults == 0)
    }
}

/// Verifies the files of a directory. `wanted` are chains that were kept elsewhere: each has to be in
/// a file. Where `required` has keys, each line has to be signed by one of them.
///
/// # Errors
/// Where the directory or a file cannot be read.
pub fn verify(directory: &Path, wanted: &[String], required: &RequiredSignatures) -> io::Result<AuditVerdict> {
    let since = required.since.map(stamp).unwrap_or_default();
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
        let mut reading =
            Reading::new(name.to_owned(), sought.remove(name).unwrap_or_default(), &required.keys, &since);
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
    let files: Vec<_> = files.into_values().map(|reading| reading.verified).collect();
    Ok(AuditVerdict {
        lost: wanted.iter().filter(is_lost).cloned().collect(),
        empty: !required.keys.is_empty() && files.iter().all(|file| file.lines == 0),
        files,
    })
}

fn first_line(path: &Path) -> io::Result<Option<OfFiles>> {
    let Ok(file) = regular_file::open_itself(path) else { return Ok(None) };
    let mut line = Vec::new();
    BufReader::new(file).take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line).ok().filter(|line: &OfFiles| line.kind == BEGIN))
}
