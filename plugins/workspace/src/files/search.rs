//! A walk through the files below a directory, and the search for lines in
//! them; both stop where a budget ends. Symbolic links are never followed.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use globset::GlobMatcher;
use regex::bytes::Regex;

use super::kind;
use crate::limits;

/// What is looked for.
#[derive(Debug)]
pub(crate) struct FileQuery {
    /// In a line.
    pub(crate) pattern: Option<Regex>,
    /// In a path relative to where the search begins.
    pub(crate) glob: Option<GlobMatcher>,
    pub(crate) hidden: bool,
    pub(crate) context_lines: usize,
    pub(crate) max_results: usize,
}

/// A file or a line that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Relative to the workspace.
    pub(crate) path: String,
    pub(crate) line: Option<Line>,
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) text: String,
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
}

/// The result of a search.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchOutcome {
    pub(crate) hits: Vec<Hit>,
    pub(crate) files: usize,
    pub(crate) skipped_binary: usize,
    pub(crate) skipped_large: usize,
    pub(crate) unreadable: usize,
    /// Why it ended before it had looked at everything.
    pub(crate) stopped: Option<&'static str>,
}

/// How much a search may still use.
struct Budget {
    until: Instant,
    bytes: u64,
    /// Of the answer.
    text_bytes: usize,
}

/// Searches a directory, or one file.
pub(crate) fn search(root: &Path, relative: &str, is_file: bool, wanted: &FileQuery, time: Duration) -> SearchOutcome {
    let mut outcome = SearchOutcome::default();
    let budget = Budget {
        until: Instant::now() + time.min(limits::SEARCH_TIME),
        bytes: limits::SEARCHED_BYTES,
        text_bytes: limits::OUTPUT_BYTES,
    };
    let mut search = Search { wanted, budget, outcome: &mut outcome };
    if is_file {
        let name = relative.rsplit('/').next().unwrap_or(relative);
        search.file(root, name, relative.to_owned());
        return outcome;
    }
    let prefix = if relative == "." { String::new() } else { format!("{relative}/") };
    search.directory(root, &prefix);
    outcome
}

struct Search<'a> {
    wanted: &'a FileQuery,
    budget: Budget,
    outcome: &'a mut SearchOutcome,
}

impl Search<'_> {
    fn directory(&mut self, root: &Path, prefix: &str) {
        // Files of a directory come before those below it.
        let mut pending: VecDeque<(PathBuf, String)> = VecDeque::from([(root.to_path_buf(), String::new())]);
        while let Some((path, below)) = pending.pop_front() {
            let (files, directories) = self.entries(&path);
            for name in files {
                if self.is_over() {
                    return;
                }
                let inner = format!("{below}{name}");
                self.file(&path.join(&name), &inner, format!("{prefix}{inner}"));
            }
            for name in directories.into_iter().rev() {
                pending.push_front((path.join(&name), format!("{below}{name}/")));
            }
            if self.is_over() {
                return;
            }
        }
    }

    /// Regular files and directories, by name.
    fn entries(&mut self, path: &Path) -> (Vec<String>, Vec<String>) {
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        let Ok(entries) = fs::read_dir(path) else {
            self.outcome.unreadable += 1;
            return (files, directories);
        };
        for entry in entries.take(limits::DIRECTORY_ENTRIES) {
            let Ok(entry) = entry else {
                self.outcome.unreadable += 1;
                break;
            };
            let Ok(name) = entry.file_name().into_string() else {
                self.outcome.unreadable += 1;
                continue;
            };
            if name.starts_with('.') && !self.wanted.hidden {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(name),
                Ok(kind) if kind.is_file() => files.push(name),
                _ => {}
            }
        }
        files.sort();
        directories.sort();
        (files, directories)
    }

    fn is_over(&mut self) -> bool {
        let why = if self.outcome.hits.len() >= self.wanted.max_results {
            "there are as many results as were asked for"
        } else if self.budget.text_bytes == 0 {
            "the answer is full"
        } else if self.outcome.files >= limits::SEARCHED_FILES {
            "too many files"
        } else if self.budget.bytes == 0 {
            "too many bytes"
        } else if Instant::now() >= self.budget.until {
            "the time is over"
        } else {
            return false;
        };
        self.outcome.stopped = Some(why);
        true
    }

    fn file(&mut self, path: &Path, inner: &str, relative: String) {
        if self.wanted.glob.as_ref().is_some_and(|glob| !glob.is_match(inner)) {
            return;
        }
        self.outcome.files += 1;
        let Ok(metadata) = fs::symlink_metadata(path) else {
            self.outcome.unreadable += 1;
            return;
        };
        let Some(pattern) = &self.wanted.pattern else {
            self.add(Hit { path: relative, line: None, bytes: metadata.len() });
            return;
        };
        if metadata.len() > limits::SEARCHED_FILE_BYTES {
            self.outcome.skipped_large += 1;
            return;
        }
        // With room for the end, so that few reads do.
        let mut content = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
        let read = File::open(path).and_then(|file| file.take(limits::SEARCHED_FILE_BYTES).read_to_end(&mut content));
        if read.is_err() {
            self.outcome.unreadable += 1;
            return;
        }
        self.budget.bytes = self.budget.bytes.saturating_sub(metadata.len().max(1));
        if kind::binary(&content).is_some() {
            self.outcome.skipped_binary += 1;
            return;
        }
        self.lines(pattern, &content, &relative);
    }

    fn lines(&mut self, pattern: &Regex, content: &[u8], relative: &str) {
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', content).collect();
        let count = ends.len() + usize::from(content.last().is_some_and(|last| *last != b'\n'));
        let line = |number: usize| {
            let start = number.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| end + 1);
            let end = ends.get(number).copied().unwrap_or(content.len());
            let line = content.get(start..end).unwrap_or_default();
            line.strip_suffix(b"\r").unwrap_or(line)
        };
        let mut unlooked = 0;
        for number in 0..count {
            // The clock is a host call, and these are counted.
            unlooked += line(number).len() + 1;
            if unlooked >= limits::SEARCHED_BETWEEN_CLOCKS {
                unlooked = 0;
                if Instant::now() >= self.budget.until {
                    return;
                }
            }
            let Some(found) = pattern.find(line(number)) else { continue };
            let around = self.wanted.context_lines;
            let before = (number.saturating_sub(around)..number).map(|other| shown(line(other), 0)).collect();
            let after = (number + 1..count.min(number + 1 + around)).map(|other| shown(line(other), 0)).collect();
            let text = shown(line(number), found.start());
            let number = u64::try_from(number + 1).unwrap_or(u64::MAX);
            let line = Some(Line { number, text, before, after });
            self.add(Hit { path: relative.to_owned(), line, bytes: 0 });
            if self.outcome.hits.len() >= self.wanted.max_results || self.budget.text_bytes == 0 {
                return;
            }
        }
    }

    fn add(&mut self, hit: Hit) {
        let line = hit.line.as_ref();
        let lines = line.into_iter().flat_map(|line| line.before.iter().chain(&line.after).chain([&line.text]));
        let bytes = hit.path.len() + 20 + lines.map(|line| line.len() + 10).sum::<usize>();
        if bytes > self.budget.text_bytes {
            self.budget.text_bytes = 0;
            return;
        }
        self.budget.text_bytes -= bytes;
        self.outcome.hits.push(hit);
    }
}

/// A line, cut around the place that matters.
fn shown(line: &[u8], at: usize) -> String {
    let text = String::from_utf8_lossy(line);
    if text.len() <= limits::RESULT_LINE_BYTES {
        return text.into_owned();
    }
    let start = text.floor_char_boundary(at.saturating_sub(limits::RESULT_LINE_BYTES / 3).min(text.len()));
    let end = text.floor_char_boundary((start + limits::RESULT_LINE_BYTES).min(text.len()));
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{before}{}{after}", text.get(start..end).unwrap_or_default())
}
