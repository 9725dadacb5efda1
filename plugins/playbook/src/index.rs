//! The index that says whose any playbook is: id to owner, for all owners. It
//! serves only to tell "somebody else's" from "nobody's" when nothing is found.
//!
//! The playbooks of a session go when the session expires, and no code runs then
//! that could clear their entries away. So each entry has the day of its owner's
//! last use, which the owner's calls renew (`shelf` says when), and a call that
//! makes a playbook clears some entries of sessions that are long gone. An owner
//! that comes back after all puts its entries up again.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use wharf_sdk::{Bucket, Call, Change, Entry, Scope, ToolError};

use crate::id::PlaybookId;
use crate::owner::{Owner, OwnerKind};
use crate::stored::{read, write};

const ENTRY_BYTES: usize = 1_024;
/// Days after which the entries of a session that was not used are cleared:
/// three times as long as a session is kept where nothing else is configured.
const UNUSED_DAYS: u64 = 90;
/// Entries that are looked at when a playbook is made. One is made, so that
/// the index holds a twentieth of unused entries at most, in the long run.
const LOOKED_AT: u32 = 20;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IndexedOwner {
    #[serde(flatten)]
    owner: Owner,
    /// Days since 1970.
    #[serde(default)]
    used_day: u64,
}

pub(crate) struct Index<'call> {
    bucket: Bucket<'call>,
}

impl<'call> Index<'call> {
    pub(crate) fn open(call: &'call Call) -> Result<Self, ToolError> {
        let bucket = call.state(Scope::Plugin, "owners")?;
        Ok(Self { bucket: bucket.when_full("delete_playbook removes playbooks that are not needed any more") })
    }

    /// Whose a playbook is.
    pub(crate) fn owner(&self, id: &PlaybookId) -> Result<Option<Owner>, ToolError> {
        let entry = self.bucket.get(id.as_str())?;
        Ok(entry.as_ref().map(read::<IndexedOwner>).transpose()?.map(|indexed| indexed.owner))
    }

    /// Enters a playbook that is about to be made.
    pub(crate) fn enter(&self, id: &PlaybookId, owner: &Owner) -> Result<(), ToolError> {
        // Before, so that there is room.
        self.clear_some()?;
        self.bucket.apply(vec![change(id.as_str(), owner)?.if_revision(0)]).map(drop)
    }

    /// Enters all playbooks of an owner as used today, those that are missing
    /// too.
    pub(crate) fn renew<'i>(&self, ids: impl Iterator<Item = &'i str>, owner: &Owner) -> Result<(), ToolError> {
        let changes = ids.map(|id| change(id, owner)).collect::<Result<Vec<_>, _>>()?;
        if changes.is_empty() { Ok(()) } else { self.bucket.apply(changes).map(drop) }
    }

    /// Takes out a playbook that is gone.
    pub(crate) fn remove(&self, id: &PlaybookId) -> Result<(), ToolError> {
        self.bucket.delete(id.as_str())
    }

    /// Clears what is unused among some entries, others each time.
    fn clear_some(&self) -> Result<(), ToolError> {
        let start = PlaybookId::random()?;
        let page = self.bucket.scan("", Some(start.as_str()), LOOKED_AT)?;
        let unused: Vec<Change> = page.entries.iter().filter(|entry| is_unused(entry)).map(deletion).collect();
        if unused.is_empty() { Ok(()) } else { self.bucket.apply(unused).map(drop) }
    }
}

fn change(id: &str, owner: &Owner) -> Result<Change, ToolError> {
    let indexed = IndexedOwner { owner: owner.clone(), used_day: today() };
    Ok(Change::put(id, write(&indexed, ENTRY_BYTES, "the owner", "shorter ids do")?))
}

/// An owner that comes back at this very moment renews after it or before it;
/// what is lost in between, its next day puts up again.
fn deletion(entry: &Entry) -> Change {
    Change::delete(&entry.key)
}

/// What cannot be read is left alone: a newer plugin may have written it.
fn is_unused(entry: &Entry) -> bool {
    read::<IndexedOwner>(entry).is_ok_and(|indexed| {
        indexed.owner.owned_by == OwnerKind::Session && today().saturating_sub(indexed.used_day) > UNUSED_DAYS
    })
}

/// The day, in days since 1970.
pub(crate) fn today() -> u64 {
    // A clock before 1970 is not set; nothing is unused then.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() / 86_400
}
