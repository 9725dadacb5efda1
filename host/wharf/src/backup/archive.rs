//! The form of a backup: a tar, compressed by Zstandard, whose last entry lists all others.
//!
//! Reading trusts no length: names are bounded, content is streamed, and extensions of tar that
//! no backup has are refused.

use std::{
    cell::Cell,
    io::{self, Read, Write},
    path::Path,
    rc::Rc,
};

use tar::{Archive, Builder, EntryType, Header};
use wharf_core::Digest;
use wharf_workspace::{BackupContent, BackupEntry};
use zstd::{Decoder, Encoder};

use super::{
    error::RestoreError,
    list::{Digested, EntryList, ListedEntry},
    manifest::{LIST, Place},
};

/// Fast, and small enough: the level that Zstandard itself takes.
const LEVEL: i32 = 3;
/// The window that reading allows: 8 MiB, four times what the level above needs.
const MOST_WINDOW: u32 = 23;
/// A longer name is none of a file.
const MAX_NAME_BYTES: u64 = 64 << 10;
/// The name of an entry that has the long name of the next one.
const LONG: &str = "@LongLink";
/// Bytes that a header has for the target of a link.
const SHORT_LINK: usize = 100;
/// What follows the last entry of a tar: zeros.
const MOST_PADDING: u64 = 64 << 10;

/// What a backup has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) entries: u64,
    /// Bytes of files.
    pub(super) bytes: u64,
}

/// Something that is read or written, which says afterwards whether it was what failed.
struct Watched<T> {
    inner: T,
    bytes: u64,
    failed: Rc<Cell<bool>>,
}

impl<T> Watched<T> {
    fn note<R>(&self, result: io::Result<R>) -> io::Result<R> {
        if result.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
            self.failed.set(true);
        }
        result
    }
}

impl<T: Write> Write for Watched<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        let written = self.note(written)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.note(flushed)
    }
}

impl<T: Read> Read for Watched<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer);
        self.note(read)
    }
}

/// A backup that is being written.
pub(super) struct ArchiveWriter<'w> {
    tar: Builder<Encoder<'static, Watched<&'w mut dyn Write>>>,
    list: EntryList,
    progress: &'w mut dyn FnMut(u64),
    failed: Rc<Cell<bool>>,
    pub(super) totals: Totals,
}

impl<'w> ArchiveWriter<'w> {
    pub(super) fn new(out: &'w mut dyn Write, list: EntryList, progress: &'w mut dyn FnMut(u64)) -> io::Result<Self> {
        let failed = Rc::new(Cell::new(false));
        let mut encoder = Encoder::new(Watched { inner: out, bytes: 0, failed: Rc::clone(&failed) }, LEVEL)?;
        encoder.include_checksum(true)?;
        Ok(Self { tar: Builder::new(encoder), list, progress, failed, totals: Totals::default() })
    }

    /// Whether an error was of what the backup is written to, and not of what it is made of.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.get()
    }

    pub(super) fn add(&mut self, entry: BackupEntry<'_>) -> io::Result<()> {
        let BackupEntry { path, mode, changed, content } = entry;
        let mut header = Header::new_gnu();
        header.set_mode(mode);
        header.set_mtime(changed);
        header.set_size(0);
        let (kind, bytes, digest) = match content {
            BackupContent::Directory => {
                header.set_entry_type(EntryType::Directory);
                self.tar.append_data(&mut header, path, io::empty())?;
                ("directory", 0, Digest::of(b""))
            }
            BackupContent::Link(target) => {
                header.set_entry_type(EntryType::Symlink);
                let target = target.as_os_str().as_encoded_bytes();
                // Literally: a target may have any form.
                let (short, is_long) = match target.get(..SHORT_LINK) {
                    Some(short) if target.len() > SHORT_LINK => (short, true),
                    _ => (target, false),
                };
                if is_long {
                    self.long_link(target)?;
                }
                header.set_link_name_literal(short)?;
                self.tar.append_data(&mut header, path, io::empty())?;
                ("link", target.len() as u64, Digest::of(target))
            }
            BackupContent::File(bytes, content) => {
                header.set_size(bytes);
                let (mut total, progress) = (self.totals.bytes, &mut *self.progress);
                let mut came = |more| {
                    total += more;
                    progress(total);
                };
                let mut content = Digested::new(content, &mut came);
                self.tar.append_data(&mut header, path, &mut content)?;
                if content.bytes != bytes {
                    return Err(io::Error::other("it has another length than it was said to have"));
                }
                self.totals.bytes += bytes;
                ("file", bytes, content.digest())
            }
        };
        self.totals.entries += 1;
        self.list.add(&ListedEntry { kind, mode, changed, bytes, digest, path })
    }

    fn long_link(&mut self, target: &[u8]) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::GNULongLink);
        header.set_mode(0o644);
        header.set_size(target.len() as u64 + 1);
        self.tar.append_data(&mut header, LONG, target.chain(&b"\0"[..]))
    }

    /// Ends it with its list. Returns what it has, and its own length.
    pub(super) fn finish(mut self) -> io::Result<(Totals, u64)> {
        let (list, bytes) = self.list.finish()?;
        let mut header = Header::new_gnu();
        header.set_mode(0o600);
        header.set_size(bytes);
        self.tar.append_data(&mut header, LIST, list.take(bytes))?;
        let mut out = self.tar.into_inner()?.finish()?;
        out.flush()?;
        Ok((self.totals, out.bytes))
    }
}

/// Hands out the entries of a backup but its list, each with its place, and verifies by the list
/// that they are all, and as they were written. Only then may anything be done with them.
pub(super) fn read(
    from: &mut dyn Read,
    list: EntryList,
    progress: &mut dyn FnMut(u64),
    take: &mut dyn FnMut(Place<'_>, BackupEntry<'_>) -> Result<(), RestoreError>,
) -> Result<Totals, RestoreError> {
    let failed = Rc::new(Cell::new(false));
    let mut decoder = Decoder::new(from).map_err(RestoreError::damaged)?;
    decoder.window_log_max(MOST_WINDOW).map_err(RestoreError::damaged)?;
    let mut archive = Archive::new(Watched { inner: decoder, bytes: 0, failed: Rc::clone(&failed) });
    let reading = Reading { list: Some(list), totals: Totals::default(), path: None, link: None, progress };
    let totals = match reading.entries(&mut archive, take) {
        // What could not be read was to be written.
        Err(RestoreError::Storage { source, .. }) if failed.get() => return Err(RestoreError::damaged(source)),
        read => read?,
    };
    let mut rest = Vec::new();
    archive.into_inner().take(MOST_PADDING + 1).read_to_end(&mut rest).map_err(RestoreError::damaged)?;
    if rest.len() as u64 > MOST_PADDING || rest.iter().any(|byte| *byte != 0) {
        return Err(RestoreError::refused(Path::new(LIST), "more follows it"));
    }
    Ok(totals)
}

/// A backup that is being read.
struct Reading<'r> {
    /// Until the list of the backup came.
    list: Option<EntryList>,
    totals: Totals,
    /// The long name of the next entry.
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    progress: &'r mut dyn FnMut(u64),
}

impl Reading<'_> {
    fn entries<R: Read>(
        mut self,
        archive: &mut Archive<R>,
        take: &mut dyn FnMut(Place<'_>, BackupEntry<'_>) -> Result<(), RestoreError>,
    ) -> Result<Totals, RestoreError> {
        for entry in archive.entries().map_err(RestoreError::damaged)?.raw(true) {
            let is_first = self.totals.entries == 0;
            let mut entry = match entry {
                Err(_) if is_first => return Err(RestoreError::Foreign),
                entry => entry.map_err(RestoreError::damaged)?,
            };
            let header = entry.header().clone();
            match header.entry_type() {
                EntryType::GNULongName => self.path = Some(long_name(&mut entry)?),
                EntryType::GNULongLink => self.link = Some(long_name(&mut entry)?),
                _ => self.entry(&header, &mut entry, take)?,
            }
        }
        match self.list {
            Some(_) if self.totals.entries == 0 => Err(RestoreError::Foreign),
            Some(_) => Err(RestoreError::Cut),
            None => Ok(self.totals),
        }
    }

    fn entry(
        &mut self,
        header: &Header,
        content: &mut dyn Read,
        take: &mut dyn FnMut(Place<'_>, BackupEntry<'_>) -> Result<(), RestoreError>,
    ) -> Result<(), RestoreError> {
        let name = self.path.take().unwrap_or_else(|| header.path_bytes().into_owned());
        let path = path_of(&name)?;
        let path = path.as_ref();
        let refused = |problem: &'static str| RestoreError::refused(path, problem);
        let number = |read: io::Result<u64>| read.map_err(RestoreError::damaged);
        let place = match (Place::of(path), self.totals.entries) {
            (Some(Place::Manifest), 0) => Place::Manifest,
            (_, 0) => return Err(RestoreError::Foreign),
            (Some(Place::Manifest), _) => return Err(refused("it is there twice")),
            (place, _) => place.ok_or_else(|| refused("no backup has a file there"))?,
        };
        let mode = header.mode().map_err(RestoreError::damaged)?;
        if mode > 0o777 {
            return Err(refused("its mode has more than permissions"));
        }
        let (changed, bytes) = (number(header.mtime())?, number(header.entry_size())?);
        let kind = header.entry_type();
        if kind != EntryType::Regular && bytes > 0 {
            return Err(refused("it is no file and has content"));
        }
        let Some(list) = &mut self.list else { return Err(refused("it comes after the list of all entries")) };
        if place == Place::List && kind == EntryType::Regular {
            return self.verify(bytes, content);
        }
        let link = self.link.take();
        let (kind, bytes, digest) = match kind {
            EntryType::Regular => {
                let (mut total, progress) = (self.totals.bytes, &mut *self.progress);
                let mut came = |more| {
                    total += more;
                    progress(total);
                };
                let mut content = Digested::new(content, &mut came);
                take(place, BackupEntry { path, mode, changed, content: BackupContent::File(bytes, &mut content) })?;
                io::copy(&mut content, &mut io::sink()).map_err(RestoreError::damaged)?;
                if content.bytes != bytes {
                    return Err(RestoreError::Cut);
                }
                self.totals.bytes += bytes;
                ("file", bytes, content.digest())
            }
            EntryType::Directory => {
                take(place, BackupEntry { path, mode, changed, content: BackupContent::Directory })?;
                ("directory", 0, Digest::of(b""))
            }
            EntryType::Symlink => {
                let target = link.or_else(|| header.link_name_bytes().map(|name| name.into_owned()));
                let target = target.filter(|target| !target.is_empty()).ok_or_else(|| refused("it leads nowhere"))?;
                let to = path_of(&target)?;
                take(place, BackupEntry { path, mode, changed, content: BackupContent::Link(to.as_ref()) })?;
                ("link", target.len() as u64, Digest::of(&target))
            }
            _ => return Err(refused("it is no file, directory or link")),
        };
        self.totals.entries += 1;
        list.add(&ListedEntry { kind, mode, changed, bytes, digest, path }).map_err(RestoreError::list)
    }

    /// Compares the list of the backup with that of what came.
    fn verify(&mut self, bytes: u64, written: &mut dyn Read) -> Result<(), RestoreError> {
        let Some(list) = self.list.take() else { return Err(RestoreError::Cut) };
        let (mut own, own_bytes) = list.finish().map_err(RestoreError::list)?;
        let (mut line, mut left) = (1, own_bytes);
        let mut chunks = ([0; 8 << 10], [0; 8 << 10]);
        if bytes != own_bytes {
            return Err(RestoreError::Unlike { line: None });
        }
        while left > 0 {
            let length = left.min(chunks.0.len() as u64) as usize;
            let (ours, theirs) = (&mut chunks.0[..length], &mut chunks.1[..length]);
            own.read_exact(ours).map_err(RestoreError::list)?;
            written.read_exact(theirs).map_err(RestoreError::damaged)?;
            if let Some(at) = ours.iter().zip(theirs.iter()).position(|(ours, theirs)| ours != theirs) {
                line += ours[..at].iter().filter(|byte| **byte == b'\n').count();
                return Err(RestoreError::Unlike { line: Some(line) });
            }
            line += ours.iter().filter(|byte| **byte == b'\n').count();
            left -= length as u64;
        }
        Ok(())
    }
}

/// A name that is too long for a header.
fn long_name(entry: &mut dyn Read) -> Result<Vec<u8>, RestoreError> {
    let mut name = Vec::new();
    entry.take(MAX_NAME_BYTES + 1).read_to_end(&mut name).map_err(RestoreError::damaged)?;
    if name.len() as u64 > MAX_NAME_BYTES {
        name.truncate(64);
        return Err(RestoreError::refused(Path::new(&*String::from_utf8_lossy(&name)), "its name is too long"));
    }
    if name.last() == Some(&0) {
        name.pop();
    }
    Ok(name)
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> Result<impl AsRef<Path> + '_, RestoreError> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = Path::new(std::ffi::OsStr::from_bytes(name));
    if name.contains(&0) {
        return Err(RestoreError::refused(path, "a name has a zero byte"));
    }
    Ok(path)
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> Result<impl AsRef<Path> + '_, RestoreError> {
    let shown = String::from_utf8_lossy(name);
    std::str::from_utf8(name).map_err(|_| RestoreError::refused(Path::new(&*shown), "this system has no such name"))
}
