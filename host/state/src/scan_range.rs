//! The part of a scope that a scan walks through, and how much of it one page takes: the same for
//! every store.

use crate::{MAX_PAGE_ENTRIES, StateError, rules};

/// What a scan asks for, within what one may.
#[derive(Debug, Clone, Copy)]
pub struct ScanRange<'a> {
    /// The prefix of the keys.
    pub prefix: &'a str,
    after: Option<&'a str>,
    limit: usize,
    max_bytes: u64,
}

/// Where the first key is looked for.
#[derive(Debug, Clone, Copy)]
pub enum ScanStart<'a> {
    /// At this key.
    At(&'a str),
    /// Behind it.
    After(&'a str),
}

/// What a page can still take.
#[derive(Debug)]
pub struct PageRoom {
    is_empty: bool,
    entries: usize,
    bytes: u64,
}

impl<'a> ScanRange<'a> {
    /// Clamps the limit, and refuses what no key can begin with.
    ///
    /// # Errors
    /// `IllegalKey`.
    pub fn new(prefix: &'a str, after: Option<&'a str>, limit: u32, max_bytes: u64) -> Result<Self, StateError> {
        rules::check_bound(prefix)?;
        rules::check_bound(after.unwrap_or_default())?;
        Ok(Self { prefix, after, limit: limit.clamp(1, MAX_PAGE_ENTRIES) as usize, max_bytes })
    }

    /// Where the walk begins.
    #[must_use]
    pub fn start(&self) -> ScanStart<'a> {
        match self.after {
            Some(after) if after >= self.prefix => ScanStart::After(after),
            _ => ScanStart::At(self.prefix),
        }
    }

    /// Most entries of the page.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Most bytes of the page, beyond its first entry.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// That of an empty page.
    #[must_use]
    pub fn room(&self) -> PageRoom {
        PageRoom { is_empty: true, entries: self.limit, bytes: self.max_bytes }
    }
}

impl PageRoom {
    /// Whether the next entry has room; the first one always has.
    pub fn takes(&mut self, bytes: u64) -> bool {
        let fits = self.entries > 0 && (bytes <= self.bytes || self.is_empty);
        if fits {
            self.is_empty = false;
            self.entries -= 1;
            self.bytes = self.bytes.saturating_sub(bytes);
        }
        fits
    }
}
