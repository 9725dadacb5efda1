//! Compiled code and read metadata, kept between runs.
//!
//! wasmtime loads compiled code unchecked: anybody who can change a file could run
//! native code in the host, and a flipped byte goes unnoticed. So every entry
//! carries a BLAKE3 digest keyed with a secret of this data directory, over its
//! name and its bytes, and the very bytes that were verified are the ones that
//! are loaded. What does not verify is made again.
//!
//! The cache only saves time. A directory that cannot be used costs that time and is
//! reported once; a broken entry in a usable directory is made again.

use std::{
    fs,
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use wharf_files::{private_files, regular_file};

const KEY_BYTES: usize = 32;
const TAG_BYTES: usize = 32;
/// More entries than anyone has plugins; the oldest go first.
const MAX_ENTRIES: usize = 512;

/// The name of an entry, and the most that a host keeps under it. Only so much is read: what
/// is larger is no host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CacheEntry {
    pub(crate) name: String,
    pub(crate) most_bytes: u64,
}

/// A directory of verified entries.
#[derive(Debug)]
pub(crate) struct CodeCache {
    directory: PathBuf,
    key: [u8; KEY_BYTES],
    /// Whether it was told that nothing can be kept.
    told: AtomicBool,
}

impl CodeCache {
    /// Opens or makes the directory and its key; where they cannot be had, which is
    /// told, why.
    pub(crate) fn open(directory: &Path) -> Result<Self, String> {
        match private_files::make_directory(directory).and_then(|()| read_or_make_key(&directory.join("key"))) {
            Ok(key) => Ok(Self { directory: directory.to_owned(), key, told: AtomicBool::new(false) }),
            Err(error) => {
                let problem = format!("the cache of compiled code {} cannot be used: {error}", directory.display());
                tracing::warn!("{problem}; components are compiled at each start until it is mended or removed");
                Err(problem)
            }
        }
    }

    fn tag(&self, name: &str, payload: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(payload);
        hasher.finalize()
    }

    /// What was stored as this entry, if it is there and is just that.
    pub(crate) fn get(&self, entry: &CacheEntry) -> Option<Vec<u8>> {
        let CacheEntry { name, most_bytes } = entry;
        let path = self.directory.join(name);
        let mut bytes = match read_at_most(&path, most_bytes.saturating_add(TAG_BYTES as u64)) {
            Ok(bytes) => bytes,
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    tracing::warn!("cannot read {}: {error}; it is made again", path.display());
                }
                return None;
            }
        };
        let verified = bytes.len() >= TAG_BYTES && {
            let (payload, tag) = bytes.split_at(bytes.len() - TAG_BYTES);
            // Comparing hashes of this type takes the same time whatever they are.
            <[u8; TAG_BYTES]>::try_from(tag).is_ok_and(|tag| self.tag(name, payload) == tag)
        };
        if !verified {
            tracing::warn!("{} is damaged or from elsewhere; it is made again", path.display());
            return None;
        }
        bytes.truncate(bytes.len() - TAG_BYTES);
        Some(bytes)
    }

    /// Keeps an entry. A cache that cannot be written costs time, not
    /// correctness: the failure is logged, once.
    pub(crate) fn put(&self, entry: &CacheEntry, payload: &[u8]) {
        let CacheEntry { name, most_bytes } = entry;
        if payload.len() as u64 > *most_bytes {
            let bytes = payload.len();
            tracing::warn!(
                "{name} is not kept: it has {bytes} bytes, more than {most_bytes}; it is made at each start"
            );
            return;
        }
        let tag = self.tag(name, payload);
        if let Err(error) = write_private(&self.directory, name, &[payload, tag.as_bytes()]) {
            if !self.told.swap(true, Relaxed) {
                tracing::warn!("cannot keep compiled code in {}: {error}", self.directory.display());
            }
            return;
        }
        self.prune();
    }

    fn prune(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let mut aged: Vec<_> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name() != "key")
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        if aged.len() <= MAX_ENTRIES {
            return;
        }
        aged.sort();
        for (_, path) in &aged[..aged.len() - MAX_ENTRIES] {
            // Another host may have removed it first.
            let _ = fs::remove_file(path);
        }
    }
}

/// A whole file of so many bytes at most. A larger one, be it sparse, takes neither time nor
/// memory.
fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let too_large =
        || io::Error::new(ErrorKind::FileTooLarge, format!("it has more than the {most} bytes of a kept one"));
    let file = regular_file::open_itself(path)?;
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Writes a file whole or not at all: another host sees the old one or the new
/// one.
fn write_private(directory: &Path, name: &str, parts: &[&[u8]]) -> io::Result<()> {
    let temporary = temporary_path(directory)?;
    let written = (|| {
        let mut file = private_files::options().write(true).create_new(true).open(&temporary)?;
        for part in parts {
            file.write_all(part)?;
        }
        let path = directory.join(name);
        match fs::rename(&temporary, &path) {
            // What stands in the place of an entry is not one.
            Err(_) if path.is_dir() => {
                set_aside(&path)?;
                fs::rename(&temporary, &path)
            }
            renamed => renamed,
        }
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

fn temporary_path(directory: &Path) -> io::Result<PathBuf> {
    Ok(directory.join(format!(".new-{:016x}", u64::from_le_bytes(random()?))))
}

/// The key of this directory. Several hosts may make it at once: the first one
/// to put its file in place wins, and all read that one.
fn read_or_make_key(path: &Path) -> io::Result<[u8; KEY_BYTES]> {
    if let Some(key) = read_key(path)? {
        return Ok(key);
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let temporary = temporary_path(directory)?;
    let made = (|| {
        private_files::options().write(true).create_new(true).open(&temporary)?.write_all(&random::<KEY_BYTES>()?)?;
        match fs::hard_link(&temporary, path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    })();
    let _ = fs::remove_file(&temporary);
    made?;
    read_key(path)?.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "the key of the cache cannot be read"))
}

/// The key, or none where there is no usable one. A damaged key, or what stands in
/// its place, is taken away: every entry is then made again.
fn read_key(path: &Path) -> io::Result<Option<[u8; KEY_BYTES]>> {
    let mut bytes = Vec::new();
    match regular_file::open_itself(path) {
        Ok(file) => drop(file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes)?),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::PermissionDenied) => {}
        Err(error) => return Err(error),
    }
    match bytes.try_into() {
        Ok(key) => Ok(Some(key)),
        Err(_) => {
            tracing::warn!("{} is no key of a cache; it is made again, and so is what was kept", path.display());
            set_aside(path)?;
            Ok(None)
        }
    }
}

/// Frees a name of the cache. A directory with something in it is kept under another
/// name: the host did not make it.
fn set_aside(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    fs::remove_dir(path).or_else(|_| {
        let name = format!("set-aside-{:016x}", u64::from_le_bytes(random()?));
        fs::rename(path, path.with_file_name(name))
    })
}

#[cfg(test)]
mod tests {
    use rustix::fs::Mode;

    use super::*;

    fn cache() -> (tempfile::TempDir, CodeCache) {
        let directory = tempfile::tempdir().expect("a directory");
        let cache = CodeCache::open(&directory.path().join("cache")).expect("opens");
        (directory, cache)
    }

    fn entry(name: &str) -> CacheEntry {
        CacheEntry { name: name.to_owned(), most_bytes: 9 }
    }

    #[test]
    fn what_is_larger_than_an_entry_may_be_is_neither_kept_nor_read() {
        let (_directory, cache) = cache();
        cache.put(&entry("one"), b"some code");
        assert_eq!(cache.get(&entry("one")).as_deref(), Some(&b"some code"[..]), "as large as it may be");
        cache.put(&entry("two"), b"some codes");
        assert!(!cache.directory.join("two").exists(), "one byte more is not kept");
        let larger = CacheEntry { most_bytes: 10, ..entry("two") };
        cache.put(&larger, b"some codes");
        assert_eq!(cache.get(&larger).as_deref(), Some(&b"some codes"[..]));
        assert_eq!(cache.get(&entry("two")), None, "and one byte more is not read");
    }

    #[test]
    fn an_entry_comes_back_as_it_was_also_to_the_next_host() {
        let (directory, cache) = cache();
        cache.put(&entry("one"), b"code");
        let next = CodeCache::open(&directory.path().join("cache")).expect("opens");
        assert_eq!(next.get(&entry("one")).as_deref(), Some(&b"code"[..]));
        assert_eq!(next.get(&entry("two")), None);
    }

    #[test]
    fn every_flipped_byte_and_every_truncation_is_noticed() {
        let (_directory, cache) = cache();
        cache.put(&entry("one"), b"some code");
        let path = cache.directory.join("one");
        let good = fs::read(&path).expect("reads");
        for position in 0..good.len() {
            let mut bad = good.clone();
            bad[position] ^= 0x10;
            fs::write(&path, &bad).expect("writes");
            assert_eq!(cache.get(&entry("one")), None, "byte {position}");
            fs::write(&path, &good[..position]).expect("writes");
            assert_eq!(cache.get(&entry("one")), None, "cut to {position}");
        }
    }

    #[test]
    fn an_entry_of_another_name_or_another_key_is_foreign() {
        let (_directory, cache) = cache();
        let (_other_directory, other) = self::cache();
        cache.put(&entry("one"), b"code");
        fs::copy(cache.directory.join("one"), cache.directory.join("two")).expect("copies");
        fs::copy(cache.directory.join("one"), other.directory.join("one")).expect("copies");
        assert_eq!(cache.get(&entry("two")), None);
        assert_eq!(other.get(&entry("one")), None);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        let (_directory, cache) = cache();
        cache.put(&entry("one"), b"code");
        let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
        assert_eq!(mode(&cache.directory), 0o700);
        assert_eq!(mode(&cache.directory.join("one")), 0o600);
        assert_eq!(mode(&cache.directory.join("key")), 0o600);
    }

    #[test]
    fn a_damaged_key_costs_the_entries_and_nothing_else() {
        let (directory, cache) = cache();
        cache.put(&entry("one"), b"code");
        fs::write(cache.directory.join("key"), b"short").expect("writes");
        let next = CodeCache::open(&directory.path().join("cache")).expect("opens");
        assert_eq!(next.get(&entry("one")), None);
        next.put(&entry("one"), b"code");
        assert_eq!(next.get(&entry("one")).as_deref(), Some(&b"code"[..]));
    }

    /// What is put in the place of a file, and how.
    type Breakage = (&'static str, fn(&Path));

    fn breakages() -> [Breakage; 6] {
        [
            ("an empty directory", |path| fs::create_dir(path).expect("made")),
            ("a directory of somebody's", |path| {
                fs::create_dir(path).expect("made");
                fs::write(path.join("theirs"), b"kept").expect("written");
            }),
            ("a pipe", |path| {
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0)
                    .expect("made");
            }),
            ("a link", |path| std::os::unix::fs::symlink("/dev/zero", path).expect("made")),
            ("a sparse file of a terabyte", |path| {
                fs::File::create(path).expect("made").set_len(1 << 40).expect("sparse");
            }),
            ("a socket", |path| drop(std::os::unix::net::UnixListener::bind(path).expect("made"))),
        ]
    }

    #[test]
    fn what_stands_in_the_place_of_the_key_is_mended_and_hangs_nobody() {
        for (what, put) in breakages() {
            let (directory, cache) = cache();
            fs::remove_file(cache.directory.join("key")).expect("removed");
            put(&cache.directory.join("key"));
            let next =
                CodeCache::open(&directory.path().join("cache")).unwrap_or_else(|error| panic!("{what}: {error}"));
            next.put(&entry("one"), b"code");
            assert_eq!(next.get(&entry("one")).as_deref(), Some(&b"code"[..]), "{what}");
            let third = CodeCache::open(&directory.path().join("cache")).expect("opens");
            assert_eq!(third.get(&entry("one")).as_deref(), Some(&b"code"[..]), "{what}: the key stays");
        }
    }

    #[test]
    fn what_stands_in_the_place_of_an_entry_is_mended_and_hangs_nobody() {
        for (what, put) in breakages() {
            let (_directory, cache) = cache();
            put(&cache.directory.join("one"));
            assert_eq!(cache.get(&entry("one")), None, "{what}");
            cache.put(&entry("one"), b"code");
            assert_eq!(cache.get(&entry("one")).as_deref(), Some(&b"code"[..]), "{what}");
            let theirs = fs::read_dir(&cache.directory).expect("there").filter_map(Result::ok);
            let theirs = theirs.filter(|entry| entry.path().join("theirs").exists()).count();
            assert_eq!(theirs, usize::from(what.contains("somebody")), "what the host did not make is kept");
        }
    }

    #[test]
    fn without_a_directory_there_is_no_cache_and_nothing_is_removed() {
        for (what, put) in breakages().into_iter().filter(|(what, _)| !what.contains("directory")) {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join("cache");
            put(&path);
            let problem = CodeCache::open(&path).expect_err(what);
            assert!(problem.contains("a directory is expected"), "{what}: {problem}");
            assert!(fs::symlink_metadata(&path).is_ok(), "{what} is not the host's to remove");
        }
    }
}
