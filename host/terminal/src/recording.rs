//! Recordings of what terminals show, as files that players of asciicast show
//! again.
//!
//! A recording is one more viewer: it never holds up a session, whatever the
//! disk does, and says where it lost something. Files are bounded, each by
//! itself and all together. Never knows whose a terminal is.

mod cast;

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use tokio::task::spawn_blocking;
use wharf_files::private_files;

use self::cast::CastEvent;
use crate::{TerminalSize, ViewUpdate, Viewer};

/// What a recording ends with where there is no more room.
const FULL: &str = "the recording is full";
/// What it says where the disk was too slow.
const LOST: &str = "what was shown here was lost; the whole screen follows";
/// Room for the last lines, kept free.
const RESERVED_BYTES: u64 = 1024;
const SUFFIX: &str = "cast";

/// Where and how recordings are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingSettings {
    /// The directory of the files. It is made where it is missing, for the
    /// host's user alone.
    pub directory: PathBuf,
    /// Whether every terminal is recorded, not only those of callers that ask
    /// for it.
    pub every: bool,
    /// Whether what is typed is recorded, too. It may hold secrets that no
    /// screen shows; passwords that are asked for without echo are left out.
    pub input: bool,
    /// Bytes of one recording; then it ends.
    pub maximum_bytes: u64,
    /// Bytes of all recordings; the oldest are removed.
    pub total_bytes: u64,
}

impl RecordingSettings {
    /// 16 MiB for each, 1 GiB for all, of those that ask for it, without input.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), every: false, input: false, maximum_bytes: 16 << 20, total_bytes: 1 << 30 }
    }
}

/// A recording that runs.
struct Recorder {
    file: File,
    began: Instant,
    size: TerminalSize,
    left_bytes: u64,
    /// Nothing was shown yet.
    is_first: bool,
}

/// What a recording is of.
pub(crate) struct RecordingSubject {
    /// A part of the file's name.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) terminal: String,
    pub(crate) size: TerminalSize,
    pub(crate) began: DateTime<Utc>,
}

/// Begins to record; the rest happens by itself, until the terminal ends.
///
/// # Errors
/// Where the file cannot be made.
pub(crate) async fn begin(
    settings: &RecordingSettings,
    subject: RecordingSubject,
    viewer: Viewer,
) -> io::Result<PathBuf> {
    let settings = settings.clone();
    let opened = spawn_blocking(move || Recorder::open(&settings, &subject)).await;
    let (recorder, path) = opened.map_err(io::Error::other)??;
    tokio::spawn(run(recorder, viewer));
    Ok(path)
}

async fn run(mut recorder: Recorder, mut viewer: Viewer) {
    while let Some(shown) = viewer.next().await {
        // Read once something is there, so that it is when it came.
        let after = recorder.began.elapsed();
        let written = spawn_blocking(move || {
            let more = recorder.take(after, &shown);
            more.map(|more| (recorder, more))
        });
        match written.await.map_err(io::Error::other).flatten() {
            Ok((going_on, true)) => recorder = going_on,
            Ok((_, false)) => return,
            Err(error) => {
                tracing::warn!(%error, "a terminal is recorded no further");
                return;
            }
        }
    }
    let after = recorder.began.elapsed();
    drop(
        spawn_blocking(move || recorder.write(&cast::event(after, CastEvent::Marker, "the terminal was closed"))).await,
    );
}

impl Recorder {
    fn open(settings: &RecordingSettings, subject: &RecordingSubject) -> io::Result<(Self, PathBuf)> {
        private_files::make_directory(&settings.directory)?;
        make_room(&settings.directory, settings.total_bytes.saturating_sub(settings.maximum_bytes))?;
        let RecordingSubject { name, title, terminal, size, began } = subject;
        let path = settings.directory.join(format!("{}-{name}.{SUFFIX}", began.format("%Y%m%dT%H%M%SZ")));
        let file = private_files::options().write(true).create_new(true).open(&path)?;
        let left_bytes = settings.maximum_bytes;
        let mut recorder = Self { file, began: Instant::now(), size: *size, left_bytes, is_first: true };
        recorder.write(&cast::header(*size, began.timestamp(), title, terminal))?;
        Ok((recorder, path))
    }

    /// Writes down what was shown. Whether there is room for more.
    fn take(&mut self, after: Duration, shown: &ViewUpdate) -> io::Result<bool> {
        let event = |code, data: &str| cast::event(after, code, data);
        let text = match shown {
            ViewUpdate::Text(text) => event(CastEvent::Output, text),
            ViewUpdate::Typed(text) => event(CastEvent::Input, text),
            ViewUpdate::Resized(size) => self.resized(after, *size),
            ViewUpdate::Screen { size, text } => {
                let lost = if self.is_first { String::new() } else { event(CastEvent::Marker, LOST) };
                let drawn = match (self.is_first, text.as_str()) {
                    (true, "") => String::new(),
                    (true, text) => event(CastEvent::Output, text),
                    // On a terminal as it is when it begins.
                    (false, text) => event(CastEvent::Output, &format!("\x1bc{text}")),
                };
                format!("{}{lost}{drawn}", self.resized(after, *size))
            }
        };
        self.is_first = false;
        if text.len() as u64 + RESERVED_BYTES > self.left_bytes {
            self.write(&event(CastEvent::Marker, FULL))?;
            return Ok(false);
        }
        self.write(&text)?;
        Ok(true)
    }

    fn resized(&mut self, after: Duration, size: TerminalSize) -> String {
        if std::mem::replace(&mut self.size, size) == size {
            return String::new();
        }
        cast::event(after, CastEvent::Resize, &cast::size(size))
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.left_bytes = self.left_bytes.saturating_sub(text.len() as u64);
        self.file.write_all(text.as_bytes())
    }
}

/// Removes the oldest recordings, as their names say, until the others take no
/// more than this.
fn make_room(directory: &Path, bytes: u64) -> io::Result<()> {
    let mut found: Vec<(PathBuf, u64)> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let file = entry.metadata()?;
        if file.is_file() && path.extension().is_some_and(|suffix| suffix == SUFFIX) {
            found.push((path, file.len()));
        }
    }
    found.sort();
    let mut total: u64 = found.iter().map(|(_, bytes)| bytes).sum();
    for (path, length) in found {
        if total <= bytes {
            break;
        }
        fs::remove_file(&path)?;
        total -= length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_recordings_make_room_and_nothing_else_is_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str| directory.path().join(name);
        for name in ["20260101T000000Z-b.cast", "20250101T000000Z-a.cast", "20270101T000000Z-c.cast", "notes.txt"] {
            fs::write(file(name), [0; 100]).expect("a file");
        }
        make_room(directory.path(), 250).expect("room");
        assert!(!file("20250101T000000Z-a.cast").exists());
        assert!(file("20260101T000000Z-b.cast").exists() && file("notes.txt").exists());
        make_room(directory.path(), 0).expect("room");
        assert_eq!(fs::read_dir(directory.path()).expect("a listing").count(), 1);
    }
}
