//! Recordings of what terminals show, as files that players of asciicast show
//! again.
//!
//! A recording is one more viewer: it never holds up a session, whatever the
//! disk does, and says where it lost something and why it ends. Files are bounded,
//! each by itself and together by session, tenant and host (`store`).

mod cast;
mod store;

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use wharf_core::{SessionId, TenantId};
use wharf_encryption::StoredFile;

use self::{
    cast::{CastEvent, CastHeader},
    store::RecordingRoom,
};
use crate::{TerminalSize, ViewUpdate, Viewer};

pub(crate) use self::store::RecordingStore;

/// What a recording ends with where it is as long as it may be.
const FULL: &str = "the recording is full";
/// What it says where the disk was too slow.
const LOST: &str = "what was shown here was lost; the whole screen follows";
/// Room for the last lines, kept free.
const RESERVED_BYTES: u64 = 1024;

/// Where and how recordings are kept. What all of them may take stands in
/// [`TerminalLimits`](wharf_core::TerminalLimits).
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
}

impl RecordingSettings {
    /// 16 MiB for each, of those that ask for it, without input.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), every: false, input: false, maximum_bytes: 16 << 20 }
    }
}

/// Whose a recording is, as its file says it to later hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordingOwner {
    pub(crate) tenant: TenantId,
    pub(crate) session: SessionId,
}

/// A recording that runs.
struct Recorder {
    // Closed before its room is given up, and its lock with it.
    file: StoredFile,
    room: RecordingRoom,
    began: Instant,
    size: TerminalSize,
    maximum_bytes: u64,
    /// Nothing was shown yet.
    is_first: bool,
}

/// What a recording is of.
pub(crate) struct RecordingSubject {
    pub(crate) owner: RecordingOwner,
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
/// Where there is no room, or the file cannot be made.
pub(crate) async fn begin(
    store: &Arc<RecordingStore>,
    subject: RecordingSubject,
    mut viewer: Viewer,
) -> io::Result<PathBuf> {
    // Taken before anything is typed: a screen that is still due stands for what was shown
    // before it, and not for what was typed.
    let screen = viewer.next().await;
    let store = Arc::clone(store);
    let opened = spawn_blocking(move || {
        let (mut recorder, path) = Recorder::open(&store, &subject)?;
        let goes_on = screen.map_or(Ok(true), |screen| recorder.take(Duration::ZERO, &screen))?;
        io::Result::Ok((goes_on.then_some(recorder), path))
    });
    let (recorder, path) = opened.await.map_err(io::Error::other)??;
    if let Some(recorder) = recorder {
        tokio::spawn(run(recorder, viewer));
    }
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
    fn open(store: &Arc<RecordingStore>, subject: &RecordingSubject) -> io::Result<(Self, PathBuf)> {
        let RecordingSubject { owner, name, title, terminal, size, began } = subject;
        let header = cast::header(&CastHeader::new(*size, began.timestamp(), title, terminal, owner));
        let (room, file, path) = store.begin(owner, *began, name, header.len() as u64 + RESERVED_BYTES)?;
        let maximum_bytes = store.settings().maximum_bytes;
        let mut recorder = Self { file, room, began: Instant::now(), size: *size, maximum_bytes, is_first: true };
        recorder.write(&header)?;
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
        let needed = self.room.written_bytes() + text.len() as u64 + RESERVED_BYTES;
        let end = if needed > self.maximum_bytes {
            FULL.to_owned()
        } else if let Err(full) = self.room.hold(needed) {
            tracing::warn!(file = %self.room.name().display(), "a terminal is recorded no further: {}", full.rule());
            format!("the recording ends, since there is no room for more: {}", full.rule())
        } else {
            self.write(&text)?;
            return Ok(true);
        };
        self.write(&event(CastEvent::Marker, &end))?;
        Ok(false)
    }

    fn resized(&mut self, after: Duration, size: TerminalSize) -> String {
        if std::mem::replace(&mut self.size, size) == size {
            return String::new();
        }
        cast::event(after, CastEvent::Resize, &cast::size(size))
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let at = self.room.written_bytes();
        self.room.count(text.len() as u64);
        self.file.append(text.as_bytes(), at)
    }
}
