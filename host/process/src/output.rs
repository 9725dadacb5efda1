//! What a process prints: in a file, within a quota, read by absolute cursor.
//!
//! Owns one stream of one process. The file is as long as what was printed,
//! and sparse: where more was printed than is kept, a hole takes the place of
//! the oldest, so that a cursor is always an offset in the file and the disk
//! never holds more than the quota (and a hundredth more where it is encrypted). Nothing is kept in memory, and once nobody
//! writes any more no descriptor either: tombstones are many. It never knows
//! whose process this is.

#[cfg(target_os = "linux")]
mod copy;
mod disk;
mod read;
mod system;

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};

pub(crate) use disk::{DiskClaim, OutputDisk};
pub use read::{MAX_READ_BYTES, OutputPiece, OutputReadError};
use serde::{Deserialize, Serialize};
pub(crate) use system::{CopierSlots, copy};
use tokio::{sync::watch, time::Instant};
use wharf_encryption::{AtRest, StoredFile};
use wharf_files::private_files;

/// How far a stream has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamState {
    /// Bytes written since the start: the cursor behind the last one.
    pub bytes: u64,
    /// Bytes before this cursor are not kept any more.
    pub evicted_before: u64,
    /// Somebody can still write to it, be it only a descendant.
    pub open: bool,
    /// Output was lost because the host could not store it.
    pub damaged: bool,
}

/// How much a stream may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// Bytes that are kept on disk; older ones are evicted. At least 256 KiB.
    pub kept_bytes: u64,
    /// Bytes that may be written in all; a process that writes more is killed.
    pub total_bytes: u64,
}

impl Default for OutputLimits {
    fn default() -> Self {
        Self { kept_bytes: 256 << 20, total_bytes: 64 << 30 }
    }
}

/// Eviction goes in steps, and they are multiples of this: whole blocks on any
/// file system.
const EVICTION_BYTES: u64 = 64 << 10;
const MIN_KEPT_BYTES: u64 = 4 * EVICTION_BYTES;

/// Why a stream takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaptureFailure {
    /// It reached its total.
    Quota,
    /// The disk did not take it.
    Storage,
}

/// How far a stream has come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputProgress {
    pub(crate) bytes: u64,
    pub(crate) evicted_before: u64,
    pub(crate) open: bool,
    pub(crate) failure: Option<CaptureFailure>,
    /// When something was last written.
    pub(crate) last: Instant,
}

/// One stream of one process. One task appends, anybody reads.
#[derive(Debug)]
pub struct CapturedOutput {
    path: PathBuf,
    /// Open as long as the stream is; held to clone or take it.
    file: Mutex<Option<Arc<StoredFile>>>,
    limits: OutputLimits,
    claim: DiskClaim,
    /// Held while bytes are written or evicted.
    writing: Mutex<()>,
    progress: watch::Sender<OutputProgress>,
}

impl CapturedOutput {
    /// A new, empty stream in a file that nobody else may read.
    pub(crate) fn create(path: &Path, limits: OutputLimits, claim: DiskClaim) -> io::Result<Arc<Self>> {
        let file = private_files::options().read(true).write(true).create_new(true).open(path)?;
        let file = claim.at_rest().begin(file)?;
        let progress = OutputProgress { bytes: 0, evicted_before: 0, open: true, failure: None, last: Instant::now() };
        let output = Arc::new(Self::new(path, Some(file), limits, claim, progress));
        output.claim.open(&output);
        Ok(output)
    }

    /// A stream that another host wrote and that nobody writes any more. What it
    /// keeps is counted once it has been asked to [`CapturedOutput::count_inherited`].
    pub(crate) fn reopen(path: &Path, claim: DiskClaim) -> io::Result<Arc<Self>> {
        let file = claim.at_rest().open(File::open(path)?)?;
        let bytes = file.length()?;
        let evicted_before = file.first_kept()?;
        let progress = OutputProgress { bytes, evicted_before, open: false, failure: None, last: Instant::now() };
        Ok(Arc::new(Self::new(path, None, OutputLimits::default(), claim, progress)))
    }

    fn new(
        path: &Path,
        file: Option<StoredFile>,
        limits: OutputLimits,
        claim: DiskClaim,
        progress: OutputProgress,
    ) -> Self {
        let kept_bytes = limits.kept_bytes.max(MIN_KEPT_BYTES);
        let limits = OutputLimits { kept_bytes, ..limits };
        let file = Mutex::new(file.map(Arc::new));
        Self {
            path: path.to_owned(),
            file,
            limits,
            claim,
            writing: Mutex::default(),
            progress: watch::Sender::new(progress),
        }
    }

    fn open_file(&self) -> MutexGuard<'_, Option<Arc<StoredFile>>> {
        self.file.lock()
    }

    /// How the files of its process are stored.
    pub(crate) fn at_rest(&self) -> &AtRest {
        self.claim.at_rest()
    }

    /// The file to read from.
    fn file(&self) -> io::Result<Arc<StoredFile>> {
        let open = self.open_file().clone();
        open.map_or_else(|| self.at_rest().open(File::open(&self.path)?).map(Arc::new), Ok)
    }

    pub(crate) fn progress(&self) -> OutputProgress {
        *self.progress.borrow()
    }

    pub(crate) fn follow(&self) -> watch::Receiver<OutputProgress> {
        self.progress.subscribe()
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.limits.total_bytes
    }

    /// How far it has come.
    #[must_use]
    pub fn state(&self) -> StreamState {
        let OutputProgress { bytes, evicted_before, open, failure, .. } = self.progress();
        StreamState { bytes, evicted_before, open, damaged: failure == Some(CaptureFailure::Storage) }
    }

    /// Writes what was printed, of which there is at most 256 KiB at a time.
    /// After a failure, and once it is closed, the stream takes no more.
    fn append(&self, printed: &[u8]) -> Result<(), CaptureFailure> {
        let _writing = self.writing.lock();
        let Some(file) = self.open_file().clone() else { return Err(CaptureFailure::Storage) };
        let OutputProgress { bytes, mut evicted_before, .. } = self.progress();
        let room = usize::try_from(self.limits.total_bytes.saturating_sub(bytes)).unwrap_or(usize::MAX);
        let (fits, rest) = printed.split_at(printed.len().min(room));
        let end = bytes + fits.len() as u64;
        let kept_bytes = self.claim.hold((end - evicted_before).min(self.limits.kept_bytes));
        let kept_bytes = kept_bytes.min(self.limits.kept_bytes);
        let written = if end - evicted_before <= kept_bytes {
            Ok(())
        } else {
            // An eighth at once, so that it happens rarely.
            let wanted = end - kept_bytes + kept_bytes / 8;
            let until = wanted.next_multiple_of(EVICTION_BYTES).min(bytes);
            let from = std::mem::replace(&mut evicted_before, until);
            // Readers must know before the bytes are gone.
            self.progress.send_modify(|progress| progress.evicted_before = until);
            file.evict(from, until)
        };
        let failure = match written.and_then(|()| file.append(fits, bytes)) {
            Ok(()) if rest.is_empty() => None,
            Ok(()) => Some(CaptureFailure::Quota),
            Err(error) => {
                tracing::error!(%error, "the output of a process cannot be stored");
                Some(CaptureFailure::Storage)
            }
        };
        self.progress.send_modify(|progress| {
            if failure != Some(CaptureFailure::Storage) {
                progress.bytes = end;
            }
            progress.failure = failure;
            progress.last = Instant::now();
        });
        failure.map_or(Ok(()), Err)
    }

    /// Takes no more: nobody can write, or nobody wants to know what is written. What
    /// it keeps may go when others of its tenant need the room.
    pub(crate) fn close(self: &Arc<Self>) {
        self.open_file().take();
        self.progress.send_modify(|progress| progress.open = false);
        let OutputProgress { bytes, evicted_before, .. } = self.progress();
        self.claim.close(bytes.saturating_sub(evicted_before), self);
    }

    /// Counts what another host left here, or evicts it where there is no room for
    /// it. Others make no room for it: ask the newest first. Waits for the disk.
    pub(crate) fn count_inherited(self: &Arc<Self>) {
        let OutputProgress { bytes, evicted_before, .. } = self.progress();
        if !self.claim.hold_inherited(bytes.saturating_sub(evicted_before)) {
            self.evict_all();
        }
    }

    /// What it holds of the disk.
    fn held_bytes(&self) -> u64 {
        self.claim.held()
    }

    /// Evicts all but the last `keep` bytes, and never what was reserved, so that
    /// another stream can begin. Says whether that made room: a stream that is being
    /// written to is left alone.
    fn evict_all_but(&self, keep: u64) -> bool {
        let Some(_writing) = self.writing.try_lock() else { return false };
        let Some(file) = self.open_file().clone() else { return false };
        let OutputProgress { bytes, evicted_before, .. } = self.progress();
        let held = self.claim.held();
        let keep = keep.max(MIN_KEPT_BYTES - EVICTION_BYTES);
        let until = bytes.saturating_sub(keep).next_multiple_of(EVICTION_BYTES).min(bytes).max(evicted_before);
        // Readers must know before the bytes are gone.
        self.progress.send_modify(|progress| progress.evicted_before = until);
        let evicted = if until > evicted_before { file.evict(evicted_before, until) } else { Ok(()) };
        match evicted {
            Ok(()) => {
                self.claim.shrink_to(bytes - until);
                self.claim.held() < held
            }
            Err(error) => {
                tracing::error!(%error, "the output of a process cannot make room");
                false
            }
        }
    }

    /// Evicts all that it keeps, now that nobody writes. Says whether that made
    /// room.
    fn evict_all(&self) -> bool {
        let OutputProgress { bytes, evicted_before, .. } = self.progress();
        // Readers must know before the bytes are gone.
        self.progress.send_modify(|progress| progress.evicted_before = bytes);
        let opened = OpenOptions::new().read(true).write(true).open(&self.path);
        let evicted = match opened.and_then(|file| self.at_rest().open(file)) {
            Ok(_) if bytes <= evicted_before => Ok(()),
            // To the end of the last block: a part of one is not given back.
            Ok(file) => file.evict(evicted_before, bytes.next_multiple_of(EVICTION_BYTES)),
            // It is being removed, which makes the same room.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        match evicted {
            Ok(()) => {
                self.claim.release();
                true
            }
            Err(error) => {
                tracing::error!(%error, "the output of a process that has ended cannot make room");
                false
            }
        }
    }

    /// Returns once it is closed.
    pub(crate) async fn closed(&self) {
        // It fails where nobody can close it any more, which cannot be: it is
        // held here.
        drop(self.follow().wait_for(|progress| !progress.open).await);
    }
}

#[cfg(test)]
mod tests;
