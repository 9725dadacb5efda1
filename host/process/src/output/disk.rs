//! The disk that output takes: how much each session, each tenant and the host
//! as a whole keep, and what goes where there is no room.
//!
//! Room is made within the tenant that needs it, by what nobody prints to any
//! more, the oldest first. A stream that finds none gives up the beginning of
//! what it keeps itself; for a new one, the stream that keeps most does. Knows
//! nothing of processes.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use wharf_core::{
    SessionId, TenantId,
    quota::{Bounds, Level, Quota, QuotaFull, Share},
};

use super::{EVICTION_BYTES, MIN_KEPT_BYTES, Output};

/// What a file takes on disk is a multiple of this, nearly everywhere.
const BLOCK_BYTES: u64 = 4 << 10;

/// The disk of all streams of a host.
#[derive(Debug)]
pub(crate) struct Disk {
    quota: Arc<Quota>,
    // Held for a look-up, never while a file is touched or a stream is dropped.
    streams: Mutex<Streams>,
}

/// The streams of each tenant that keep something: those that are closed in the
/// order in which that happened.
#[derive(Debug, Default)]
struct Streams {
    next: u64,
    tenants: HashMap<TenantId, BTreeMap<u64, Stream>>,
}

#[derive(Debug)]
struct Stream {
    session: SessionId,
    output: Weak<Output>,
    /// Nobody prints to it any more.
    closed: bool,
}

/// What one stream may keep of the disk. Dropping it gives that back.
#[derive(Debug)]
pub(crate) struct Claim {
    disk: Arc<Disk>,
    tenant: TenantId,
    session: SessionId,
    // Held while room is made, which is never asked of a stream that makes room.
    share: Mutex<Share>,
    /// Its place among the streams.
    listed: Mutex<Option<u64>>,
}

impl Disk {
    /// Nobody keeps anything.
    pub(crate) fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self { quota: Quota::new(bounds), streams: Mutex::default() })
    }

    /// What all streams keep.
    pub(crate) fn used(&self) -> u64 {
        self.quota.used()
    }

    /// What a new stream keeps at least, so that whoever prints is never without
    /// any of it. Waits for the disk.
    ///
    /// # Errors
    /// Where there is no room and none can be made.
    pub(crate) fn reserve(self: &Arc<Self>, tenant: &TenantId, session: &SessionId) -> Result<Claim, QuotaFull> {
        loop {
            match self.quota.take(tenant, session, MIN_KEPT_BYTES) {
                Ok(share) => return Ok(self.claim(share, tenant, session)),
                Err(full) if self.make_room(full.level, tenant, session) => {}
                Err(full) if self.squeeze(full.level, tenant, session) => {}
                Err(full) => return Err(full),
            }
        }
    }

    /// Of a stream that another host left, which keeps nothing yet.
    pub(crate) fn inherit(self: &Arc<Self>, tenant: &TenantId, session: &SessionId) -> Claim {
        self.claim(self.quota.record(tenant, session, 0), tenant, session)
    }

    fn claim(self: &Arc<Self>, share: Share, tenant: &TenantId, session: &SessionId) -> Claim {
        Claim {
            disk: Arc::clone(self),
            tenant: tenant.clone(),
            session: session.clone(),
            share: Mutex::new(share),
            listed: Mutex::default(),
        }
    }

    /// Has one stream of this tenant, or of this session where its own limit is
    /// reached, give up all that it keeps. Says whether there was one.
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
            if oldest.is_some_and(|output| output.give_up()) {
                return true;
            }
        }
    }

    /// Has the stream that keeps most of those that are printed to give up the
    /// first half of it. Says whether that made room.
    fn squeeze(&self, level: Level, tenant: &TenantId, session: &SessionId) -> bool {
        let open: Vec<_> = {
            let streams = self.streams();
            let of_tenant = streams.tenants.get(tenant).into_iter().flat_map(BTreeMap::values);
            let open = of_tenant.filter(|stream| !stream.closed && stream.is_within(level, session));
            open.filter_map(|stream| stream.output.upgrade()).collect()
        };
        let mut open: Vec<_> = open.into_iter().map(|output| (output.held_bytes(), output)).collect();
        open.sort_by_key(|(held, _)| std::cmp::Reverse(*held));
        open.iter().any(|(held, output)| output.squeeze(held / 2))
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    fn is_within(&self, level: Level, session: &SessionId) -> bool {
        level != Level::Session || self.session == *session
    }
}

impl Claim {
    /// How many bytes may be kept of `wanted`: less where there is no room, and
    /// never less than what was reserved. Waits for the disk.
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

    /// Whether so many bytes, which are there already, may stay. Nobody else
    /// makes room for them.
    pub(super) fn takes_over(&self, kept: u64) -> bool {
        let mut share = self.share();
        let more = on_disk(kept).saturating_sub(share.amount());
        share.grow(more).is_ok()
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
    pub(super) fn open(&self, output: &Arc<Output>) {
        self.list(output, false);
    }

    /// Nothing more is printed: what is not kept is given back, and what is may
    /// have to make room.
    pub(super) fn close(&self, kept: u64, output: &Arc<Output>) {
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

    fn list(&self, output: &Arc<Output>, closed: bool) {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut streams = self.disk.streams();
        streams.next += 1;
        let number = streams.next;
        let stream = Stream { session: self.session.clone(), output: Arc::downgrade(output), closed };
        streams.tenants.entry(self.tenant.clone()).or_default().insert(number, stream);
        *listed = Some(number);
    }

    fn unlist(&self) {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(number) = listed.take() else { return };
        let mut streams = self.disk.streams();
        let Some(of_tenant) = streams.tenants.get_mut(&self.tenant) else { return };
        of_tenant.remove(&number);
        if of_tenant.is_empty() {
            streams.tenants.remove(&self.tenant);
        }
    }

    fn share(&self) -> MutexGuard<'_, Share> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.unlist();
    }
}

fn on_disk(kept: u64) -> u64 {
    kept.next_multiple_of(BLOCK_BYTES)
}
