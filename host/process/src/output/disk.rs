//! The disk that output takes: how much each session, each tenant and the host
//! as a whole keep, and what goes where there is no room.
//!
//! A tenant that needs room loses its own closed streams first, the oldest before the
//! others. A stream that still finds none evicts its own beginning; for a new stream,
//! the largest open one evicts half. Knows nothing of processes.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Weak},
};

use parking_lot::{Mutex, MutexGuard};
use wharf_core::{
    SessionId, TenantId,
    quota::{Bounds, Level, Quota, QuotaFull, Share},
};
use wharf_encryption::AtRest;

use super::{CapturedOutput, EVICTION_BYTES, MIN_KEPT_BYTES};

/// What a file takes on disk is a multiple of this, nearly everywhere.
const BLOCK_BYTES: u64 = 4 << 10;

/// The disk of all streams of a host.
#[derive(Debug)]
pub(crate) struct OutputDisk {
    quota: Arc<Quota>,
    at_rest: AtRest,
    // Held for a look-up, never while a file is touched or a stream is dropped.
    streams: Mutex<DiskStreams>,
}

/// The streams of each tenant that keep something: those that are closed in the
/// order in which that happened.
#[derive(Debug, Default)]
struct DiskStreams {
    next: u64,
    tenants: HashMap<TenantId, BTreeMap<u64, DiskStream>>,
}

#[derive(Debug)]
struct DiskStream {
    session: SessionId,
    output: Weak<CapturedOutput>,
    /// Nobody prints to it any more.
    closed: bool,
}

/// What one stream may keep of the disk. Dropping it gives that back.
#[derive(Debug)]
pub(crate) struct DiskClaim {
    disk: Arc<OutputDisk>,
    tenant: TenantId,
    session: SessionId,
    // Held while room is made, which is never asked of a stream that makes room.
    share: Mutex<Share>,
    /// Its place among the streams.
    listed: Mutex<Option<u64>>,
}

impl OutputDisk {
    /// Nobody keeps anything.
    pub(crate) fn new(bounds: Bounds, at_rest: AtRest) -> Arc<Self> {
        Arc::new(Self { quota: Quota::new(bounds), at_rest, streams: Mutex::default() })
    }

    /// How the files of processes are stored.
    pub(crate) fn at_rest(&self) -> &AtRest {
        &self.at_rest
    }

    /// What all streams keep.
    pub(crate) fn used(&self) -> u64 {
        self.quota.used()
    }

    /// Reserves what a new stream keeps at least, so that some of its output is always
    /// there. Waits for the disk.
    ///
    /// # Errors
    /// Where there is no room and none can be made.
    pub(crate) fn reserve(self: &Arc<Self>, tenant: &TenantId, session: &SessionId) -> Result<DiskClaim, QuotaFull> {
        loop {
            match self.quota.take(tenant, session, MIN_KEPT_BYTES) {
                Ok(share) => return Ok(self.claim(share, tenant, session)),
                Err(full) if self.make_room(full.level, tenant, session) => {}
                Err(full) if self.halve_largest(full.level, tenant, session) => {}
                Err(full) => return Err(full),
            }
        }
    }

    /// The claim of a stream that another host left, which holds nothing yet.
    pub(crate) fn inherit(self: &Arc<Self>, tenant: &TenantId, session: &SessionId) -> DiskClaim {
        self.claim(self.quota.record(tenant, session, 0), tenant, session)
    }

    fn claim(self: &Arc<Self>, share: Share, tenant: &TenantId, session: &SessionId) -> DiskClaim {
        DiskClaim {
            disk: Arc::clone(self),
            tenant: tenant.clone(),
            session: session.clone(),
            share: Mutex::new(share),
            listed: Mutex::default(),
        }
    }

    /// Evicts all that the oldest closed stream of this tenant keeps, or of this session
    /// where the session's own limit is reached. Says whether there was one.
    fn make_room(&self, level: Level, tenant: &TenantId, session: &SessionId) -> bool {
        loop {
            let oldest = {
                let mut streams = self.streams();
                let Some(of_tenant) = streams.tenants.get_mut(tenant) else { return false };
                let found = of_tenant.iter().find(|(_, stream)| stream.closed && stream.is_within(level, session));
                let Some(number) = found.map(|(number, _)| *number) else { return false };
                of_tenant.remove(&number).and_then(|stream| stream.output.upgrade())
            };
            // Without the lock: it waits for the disk, and may be the last to
            // hold the stream.
            if oldest.is_some_and(|output| output.evict_all()) {
                return true;
            }
        }
    }

    /// Evicts the first half of what the largest open stream keeps. Says whether that
    /// made room.
    fn halve_largest(&self, level: Level, tenant: &TenantId, session: &SessionId) -> bool {
        let open: Vec<_> = {
            let streams = self.streams();
            let of_tenant = streams.tenants.get(tenant).into_iter().flat_map(BTreeMap::values);
            let open = of_tenant.filter(|stream| !stream.closed && stream.is_within(level, session));
            open.filter_map(|stream| stream.output.upgrade()).collect()
        };
        let mut open: Vec<_> = open.into_iter().map(|output| (output.held_bytes(), output)).collect();
        open.sort_by_key(|(held, _)| std::cmp::Reverse(*held));
        open.iter().any(|(held, output)| output.evict_all_but(held / 2))
    }

    fn streams(&self) -> MutexGuard<'_, DiskStreams> {
        self.streams.lock()
    }
}

impl DiskStream {
    fn is_within(&self, level: Level, session: &SessionId) -> bool {
        level != Level::Session || self.session == *session
    }
}

impl DiskClaim {
    /// Claims up to `wanted` bytes and says how many the stream may keep: less where
    /// there is no room, and never less than what was reserved. Waits for the disk.
    pub(super) fn hold(&self, wanted: u64) -> u64 {
        let mut share = self.share();
        while share.amount() < wanted {
            let more = (wanted - share.amount()).next_multiple_of(EVICTION_BYTES);
            match share.grow(more) {
                Ok(()) => {}
                Err(full) if self.disk.make_room(full.level, &self.tenant, &self.session) => {}
                Err(_) => break,
            }
        }
        share.amount()
    }

    /// Claims bytes that are on disk already; says whether they may stay. No other
    /// stream makes room for them.
    pub(super) fn hold_inherited(&self, kept: u64) -> bool {
        let mut share = self.share();
        let more = on_disk(kept).saturating_sub(share.amount());
        share.grow(more).is_ok()
    }

    /// How its stream is stored.
    pub(super) fn at_rest(&self) -> &AtRest {
        self.disk.at_rest()
    }

    /// How many bytes it holds.
    pub(super) fn held(&self) -> u64 {
        self.share().amount()
    }

    /// Gives back all but `kept`, and never what was reserved.
    pub(super) fn shrink_to(&self, kept: u64) {
        let mut share = self.share();
        let spare = share.amount().saturating_sub(on_disk(kept).max(MIN_KEPT_BYTES));
        share.shrink(spare);
    }

    /// Something is printed to this stream.
    pub(super) fn open(&self, output: &Arc<CapturedOutput>) {
        self.list(output, false);
    }

    /// Nothing more is printed: what is not kept is given back, and what is may
    /// have to make room.
    pub(super) fn close(&self, kept: u64, output: &Arc<CapturedOutput>) {
        let mut share = self.share();
        let spare = share.amount().saturating_sub(on_disk(kept));
        share.shrink(spare);
        drop(share);
        self.unlist();
        if kept > 0 {
            self.list(output, true);
        }
    }

    /// Nothing is kept any more.
    pub(super) fn release(&self) {
        self.share().shrink(u64::MAX);
    }

    fn list(&self, output: &Arc<CapturedOutput>, closed: bool) {
        let mut listed = self.listed.lock();
        let mut streams = self.disk.streams();
        streams.next += 1;
        let number = streams.next;
        let stream = DiskStream { session: self.session.clone(), output: Arc::downgrade(output), closed };
        streams.tenants.entry(self.tenant.clone()).or_default().insert(number, stream);
        *listed = Some(number);
    }

    fn unlist(&self) {
        let mut listed = self.listed.lock();
        let Some(number) = listed.take() else { return };
        let mut streams = self.disk.streams();
        let Some(of_tenant) = streams.tenants.get_mut(&self.tenant) else { return };
        of_tenant.remove(&number);
        if of_tenant.is_empty() {
            streams.tenants.remove(&self.tenant);
        }
    }

    fn share(&self) -> MutexGuard<'_, Share> {
        self.share.lock()
    }
}

impl Drop for DiskClaim {
    fn drop(&mut self) {
        self.unlist();
    }
}

fn on_disk(kept: u64) -> u64 {
    kept.next_multiple_of(BLOCK_BYTES)
}
