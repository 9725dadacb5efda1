//! Reads the lines of all files in the order of their times, while hosts write; a caller that
//! follows reads on repeatedly.
//!
//! Holds one line of each file at a time.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use wharf_files::regular_file;

use crate::{AuditEntry, files, line::MAX_LINE_BYTES};

/// The lines of a directory cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the audit lines in {directory} cannot be read")]
pub struct AuditReadError {
    directory: PathBuf,
    #[source]
    source: io::Error,
}

/// Reads the lines of a directory.
#[derive(Debug)]
pub struct AuditReader {
    directory: PathBuf,
    since: Option<SystemTime>,
    files: BTreeMap<PathBuf, FileLines>,
    skipped: u64,
}

/// A file and the position of its reader.
#[derive(Debug)]
struct FileLines {
    reader: BufReader<File>,
    /// The beginning of a line whose end is not written yet.
    partial: Vec<u8>,
    /// The line is too long, and the reader skips the rest of it.
    skipping: bool,
    next: Option<AuditEntry>,
}

impl AuditReader {
    /// Reads this directory from its oldest line on, without files that were last
    /// written before `since`.
    #[must_use]
    pub fn new(directory: &Path, since: Option<SystemTime>) -> Self {
        Self { directory: directory.to_owned(), since, files: BTreeMap::new(), skipped: 0 }
    }

    /// The number of damaged lines.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Calls `each` with every line since the last read, the oldest
    /// first, until it returns false.
    ///
    /// # Errors
    /// Where the directory or a file cannot be read.
    pub fn read(&mut self, mut each: impl FnMut(AuditEntry) -> bool) -> Result<(), AuditReadError> {
        let failed = |source| AuditReadError { directory: self.directory.clone(), source };
        let listed = files::list(&self.directory).map_err(failed)?;
        // A removed file has no further lines.
        self.files.retain(|path, _| listed.iter().any(|file| file.path == *path));
        for file in listed {
            if self.files.contains_key(&file.path) || self.since.is_some_and(|since| file.modified < since) {
                continue;
            }
            match regular_file::open_itself(&file.path) {
                Ok(opened) => _ = self.files.insert(file.path, FileLines::new(opened)),
                // Another host removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        }
        for lines in self.files.values_mut() {
            self.skipped += lines.advance().map_err(failed)?;
        }
        // There are few enough files to look through all for the oldest line.
        loop {
            let oldest = self.files.values_mut().filter(|lines| lines.next.is_some());
            let Some(lines) = oldest.min_by(|one, other| one.time().cmp(&other.time())) else { return Ok(()) };
            let Some(entry) = lines.next.take() else { return Ok(()) };
            self.skipped += lines.advance().map_err(failed)?;
            if !each(entry) {
                return Ok(());
            }
        }
    }

    /// Counts unfinished lines as damaged, for a caller that does not read on.
    pub fn finish(&mut self) {
        let left = self.files.values().filter(|lines| !lines.partial.is_empty() || lines.skipping).count();
        self.skipped += left as u64;
    }
}

impl FileLines {
    fn new(file: File) -> Self {
        Self { reader: BufReader::new(file), partial: Vec::new(), skipping: false, next: None }
    }

    fn time(&self) -> Option<&str> {
        self.next.as_ref().map(|entry| entry.time.as_str())
    }

    /// Fills `next`, where there is a whole line; returns the number of damaged ones
    /// before it.
    fn advance(&mut self) -> io::Result<u64> {
        let mut skipped = 0;
        while self.next.is_none() {
            let room = (MAX_LINE_BYTES + 1 - self.partial.len()) as u64;
            let read = self.reader.by_ref().take(room).read_until(b'\n', &mut self.partial)?;
            if read == 0 {
                break;
            }
            if self.partial.last() == Some(&b'\n') {
                if !std::mem::take(&mut self.skipping) {
                    let read = AuditEntry::read(&self.partial[..self.partial.len() - 1]);
                    skipped += u64::from(read.is_none());
                    self.next = read.filter(|entry| !entry.is_of_files());
                }
                self.partial.clear();
            } else if self.partial.len() > MAX_LINE_BYTES {
                skipped += u64::from(!std::mem::replace(&mut self.skipping, true));
                self.partial.clear();
            }
        }
        Ok(skipped)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _, time::Duration};

    use super::*;
    use crate::line::{line, tests::record};

    fn written(second: u64, tool: &str) -> String {
        let mut record = record(tool);
        record.time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        line(&record) + "\n"
    }

    fn tools(reader: &mut AuditReader) -> Vec<String> {
        let mut tools = Vec::new();
        reader
            .read(|entry| {
                tools.push(entry.tool);
                true
            })
            .expect("read");
        tools
    }

    #[test]
    fn lines_of_several_hosts_come_in_the_order_of_their_times() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("a.jsonl"), written(1, "1") + &written(4, "4")).expect("written");
        fs::write(directory.path().join("b.jsonl"), written(2, "2") + &written(3, "3")).expect("written");
        fs::write(directory.path().join("other"), written(2, "no")).expect("written");
        let mut reader = AuditReader::new(directory.path(), None);
        assert_eq!(tools(&mut reader), ["1", "2", "3", "4"]);
        assert!(tools(&mut AuditReader::new(&directory.path().join("absent"), None)).is_empty());
    }

    #[test]
    fn damaged_lines_are_counted_and_the_others_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.jsonl");
        let long = "x".repeat(3 * MAX_LINE_BYTES);
        let text = format!("{}{{\"time\n\u{0}\n{long}\n{}{{\"time\":\"20", written(1, "1"), written(2, "2"));
        fs::write(&path, text).expect("written");
        let mut reader = AuditReader::new(directory.path(), None);
        assert_eq!(tools(&mut reader), ["1", "2"]);
        assert_eq!(reader.skipped(), 3);
        reader.finish();
        assert_eq!(reader.skipped(), 4);
    }

    #[test]
    fn who_follows_gets_a_line_once_it_is_whole_and_new_files_too() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut file = fs::File::create(directory.path().join("a.jsonl")).expect("made");
        let second = written(2, "2");
        let (begin, end) = second.split_at(20);
        file.write_all((written(1, "1") + begin).as_bytes()).expect("written");
        let mut reader = AuditReader::new(directory.path(), None);
        assert_eq!(tools(&mut reader), ["1"]);
        assert!(tools(&mut reader).is_empty());
        file.write_all(end.as_bytes()).expect("written");
        fs::write(directory.path().join("b.jsonl"), written(3, "3")).expect("written");
        assert_eq!(tools(&mut reader), ["2", "3"]);
        assert_eq!(reader.skipped(), 0);
    }
}
