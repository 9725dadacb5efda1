//! Whose the files of an exchange folder are: a folder is one directory that all tenants share.
//!
//! What a call makes there, or makes grow, counts for its tenant from that moment on: until it
//! is gone, and with no more bytes than the file has. Measurements correct this, because the
//! operator's programs remove files as well. What was there before this host, or comes from
//! other programs, is nobody's, and counts for the folder alone. Never touches a file.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use wharf_core::{
    ProcessLimits, Quota, QuotaFull, SessionId, Share, TenantId,
    quota::{Bound, Bounds},
};

use crate::volume::{SpaceChange, set};

/// What tells a file from every other one that exists: a number is given again once its file is
/// gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileNumber {
    /// The file system.
    pub device: u64,
    /// The number in it.
    pub inode: u64,
}

/// When a file was made, in seconds and nanoseconds, where its file system keeps that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileBirth(pub(crate) i64, pub(crate) u32);

/// Whose the files of one folder are.
#[derive(Debug)]
pub(crate) struct FolderOwners {
    bytes: Arc<Quota>,
    entries: Arc<Quota>,
    tenants: HashMap<TenantId, FolderTenant>,
    files: HashMap<FileNumber, OwnedFile>,
    /// Counts changes and measurements, to know which came first.
    last: u64,
}

/// What a tenant has in the folder, with what it has taken for writes that have not happened yet.
#[derive(Debug)]
struct FolderTenant {
    bytes: Share,
    entries: Share,
    /// All that it ever took, for the difference during a measurement.
    taken_bytes: u64,
    taken_entries: u64,
    /// When it last moved something: a measurement may have missed that.
    moved: u64,
}

/// A file or directory that calls made, or made grow.
#[derive(Debug, Default)]
struct OwnedFile {
    /// Known from its first measurement on.
    born: Option<FileBirth>,
    /// The tenant for which it is one entry.
    maker: Option<TenantId>,
    /// The bytes that each tenant added, the last at the end.
    bytes: Vec<(TenantId, u64)>,
    /// The last change by a call.
    changed: u64,
    /// The last measurement that found it.
    seen: u64,
}

/// A measurement that has begun.
#[derive(Debug)]
pub(crate) struct OwnersWalk {
    number: u64,
    /// What each tenant had taken by then.
    taken: HashMap<TenantId, (u64, u64)>,
}

impl FolderOwners {
    pub(crate) fn new(limits: &ProcessLimits) -> Self {
        let quota = |resource, tenant: Bound| {
            // The folder as a whole has a share of its own, with what is nobody's.
            let host = (tenant.0, u64::MAX);
            Quota::new(Bounds { resource, section: "[process.limits]", session: None, tenant, host })
        };
        let (bytes, entries) = (limits.exchange_bytes_per_tenant, limits.exchange_entries_per_tenant);
        Self {
            bytes: quota("bytes of one exchange folder", ("exchange_bytes_per_tenant", bytes)),
            entries: quota("entries of one exchange folder", ("exchange_entries_per_tenant", entries)),
            tenants: HashMap::new(),
            files: HashMap::new(),
            last: 0,
        }
    }

    fn tenant(&mut self, tenant: &TenantId) -> &mut FolderTenant {
        self.tenants.entry(tenant.clone()).or_insert_with(|| {
            // A tenant is limited over all its sessions.
            let open = |quota: &Arc<Quota>| quota.open(tenant, &SessionId::default_session());
            let (bytes, entries) = (open(&self.bytes), open(&self.entries));
            FolderTenant { bytes, entries, taken_bytes: 0, taken_entries: 0, moved: 0 }
        })
    }

    /// Takes room for a write of a tenant's call, all of it or none.
    pub(crate) fn take(&mut self, by: &TenantId, bytes: u64, entries: u64) -> Result<(), QuotaFull> {
        let tenant = self.tenant(by);
        tenant.bytes.grow(bytes)?;
        if let Err(full) = tenant.entries.grow(entries) {
            tenant.bytes.shrink(bytes);
            return Err(full);
        }
        tenant.taken_bytes = tenant.taken_bytes.saturating_add(bytes);
        tenant.taken_entries = tenant.taken_entries.saturating_add(entries);
        Ok(())
    }

    /// Gives back room that a tenant took and did not use.
    pub(crate) fn give_back(&mut self, by: &TenantId, bytes: u64, entries: u64) {
        let tenant = self.tenant(by);
        tenant.bytes.shrink(bytes);
        tenant.entries.shrink(entries);
    }

    /// The limit of a tenant that is broken now.
    pub(crate) fn excess(&mut self, by: &TenantId) -> Option<QuotaFull> {
        let tenant = self.tenant(by);
        tenant.bytes.grow(0).err().or_else(|| tenant.entries.grow(0).err())
    }

    /// Counts a change of a tenant's call, for which it had taken room for `taken` entries.
    pub(crate) fn changed(&mut self, by: &TenantId, taken: u64, change: SpaceChange) {
        let SpaceChange { file, freed_bytes, gone, made, moved } = change;
        self.last += 1;
        let last = self.last;
        self.give_back(by, 0, taken.saturating_sub(made));
        if moved {
            self.tenant(by).moved = last;
        }
        let Some(number) = file else { return };
        if made > 0 {
            // What had the number before is gone.
            self.forget(number);
            let new = OwnedFile { maker: Some(by.clone()), changed: last, ..OwnedFile::default() };
            self.files.insert(number, new);
        } else if let Some(mut owned) = self.files.remove(&number) {
            owned.changed = last;
            if freed_bytes > 0 {
                self.release(owned.bytes.drain(..));
            }
            if gone > 0
                && let Some(tenant) = owned.maker.take().and_then(|maker| self.tenants.get_mut(&maker))
            {
                tenant.entries.shrink(1);
            }
            if !owned.is_nobodys() {
                self.files.insert(number, owned);
            }
        }
    }

    /// Counts a write of a tenant's call, for which it had taken `taken` bytes: the file takes so
    /// much more than before, or less.
    pub(crate) fn wrote(&mut self, by: &TenantId, number: FileNumber, taken: u64, more: u64, less: u64) {
        self.last += 1;
        let last = self.last;
        let tenant = self.tenant(by);
        tenant.bytes.shrink(taken.saturating_sub(more));
        tenant.bytes.record(more.saturating_sub(taken));
        if more > 0 {
            let owned = self.files.entry(number).or_default();
            owned.changed = last;
            match owned.bytes.last_mut() {
                Some((tenant, bytes)) if tenant == by => *bytes = bytes.saturating_add(more),
                _ => owned.bytes.push((by.clone(), more)),
            }
        } else if let Some(owned) = self.files.get_mut(&number).filter(|_| less > 0) {
            owned.changed = last;
            let kept = owned.sum().saturating_sub(less);
            let freed = owned.cut(kept);
            self.release(freed);
        }
    }

    /// Begins a measurement.
    pub(crate) fn begin(&mut self) -> OwnersWalk {
        self.last += 1;
        let taken = |tenant: &FolderTenant| (tenant.taken_bytes, tenant.taken_entries);
        let taken = self.tenants.iter().map(|(id, tenant)| (id.clone(), taken(tenant))).collect();
        OwnersWalk { number: self.last, taken }
    }

    /// Whether anything of a file is somebody's.
    pub(crate) fn knows(&self, number: FileNumber) -> bool {
        self.files.contains_key(&number)
    }

    /// A measurement found a file of so many bytes.
    pub(crate) fn see(&mut self, walk: &OwnersWalk, number: FileNumber, bytes: u64, born: Option<FileBirth>) {
        let Some(owned) = self.files.get_mut(&number) else { return };
        if owned.born.is_some() && born.is_some() && owned.born != born && owned.changed < walk.number {
            // Another file has the number by now, which is nobody's.
            return;
        }
        owned.seen = walk.number;
        if owned.changed < walk.number {
            owned.born = born;
            owned.cut(bytes);
        }
    }

    /// Ends a measurement: what it did not find is gone, where it has read the whole folder.
    pub(crate) fn end(&mut self, walk: &OwnersWalk, complete: bool) {
        let Self { files, tenants, .. } = self;
        let movers: HashSet<_> =
            tenants.iter().filter(|(_, tenant)| tenant.moved > walk.number).map(|(id, _)| id.clone()).collect();
        let may_be_elsewhere = |owned: &OwnedFile| owned.tenants().any(|tenant| movers.contains(tenant));
        files.retain(|_, owned| {
            let found = owned.seen == walk.number || owned.changed > walk.number;
            (found || !complete || may_be_elsewhere(owned)) && !owned.is_nobodys()
        });
        let mut sums: HashMap<&TenantId, (u64, u64)> = HashMap::new();
        for owned in files.values() {
            if let Some(maker) = &owned.maker {
                sums.entry(maker).or_default().1 += 1;
            }
            for (tenant, bytes) in &owned.bytes {
                let sum = &mut sums.entry(tenant).or_default().0;
                *sum = sum.saturating_add(*bytes);
            }
        }
        for (id, tenant) in tenants.iter_mut() {
            let (bytes, entries) = sums.get(id).copied().unwrap_or_default();
            let before = walk.taken.get(id).copied().unwrap_or_default();
            // Room for writes that have not happened yet may be among what was taken meanwhile.
            set(&mut tenant.bytes, bytes.saturating_add(tenant.taken_bytes - before.0));
            set(&mut tenant.entries, entries.saturating_add(tenant.taken_entries - before.1));
        }
        tenants.retain(|_, tenant| tenant.bytes.amount() > 0 || tenant.entries.amount() > 0);
    }

    fn forget(&mut self, number: FileNumber) {
        let Some(owned) = self.files.remove(&number) else { return };
        if let Some(tenant) = owned.maker.and_then(|maker| self.tenants.get_mut(&maker)) {
            tenant.entries.shrink(1);
        }
        self.release(owned.bytes);
    }

    fn release(&mut self, freed: impl IntoIterator<Item = (TenantId, u64)>) {
        for (tenant, bytes) in freed {
            if let Some(tenant) = self.tenants.get_mut(&tenant) {
                tenant.bytes.shrink(bytes);
            }
        }
    }
}

impl OwnedFile {
    fn is_nobodys(&self) -> bool {
        self.maker.is_none() && self.bytes.is_empty()
    }

    fn tenants(&self) -> impl Iterator<Item = &TenantId> {
        self.maker.iter().chain(self.bytes.iter().map(|(tenant, _)| tenant))
    }

    fn sum(&self) -> u64 {
        self.bytes.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// Keeps the first so many bytes of what tenants added, and returns the others.
    fn cut(&mut self, mut kept: u64) -> Vec<(TenantId, u64)> {
        let mut freed = Vec::new();
        for (tenant, bytes) in &mut self.bytes {
            let over = bytes.saturating_sub(kept);
            if over > 0 {
                freed.push((tenant.clone(), over));
            }
            *bytes -= over;
            kept -= *bytes;
        }
        self.bytes.retain(|(_, bytes)| *bytes > 0);
        freed
    }
}

#[cfg(test)]
mod tests;
