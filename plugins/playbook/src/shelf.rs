//! The playbooks of the owner that a call belongs to.
//!
//! A playbook and its place in the catalog lie in the owner's scope, which the
//! host keys: no call of another owner can reach them, so that what is found
//! there is this owner's without a further look. What is not found there is
//! looked for in the `index`, which lies in the scope of the plugin.
//!
//! The two cannot be written in one step. The index comes first when a playbook
//! is made and goes last when one is deleted; playbook and catalog change in
//! one step between. A call that is killed on the way leaves an entry of the index
//! that leads to nothing: it is in no list, its owner is told that there is
//! nothing, others are refused as before, and deleting again clears it away.
//!
//! The index forgets owners that make no calls. Once a day the first call of an
//! owner tells it that all of this owner's playbooks are in use, and puts up what
//! it has forgotten; `used` in the owner's scope says on which day that was, and is
//! read along with what a call reads anyway.

use serde::{Deserialize, Serialize};
use wharf_sdk::{Bucket, Call, Change, Entry, ErrorCode, Level, ToolError};

use crate::id::{self, PlaybookId};
use crate::index::{Index, today};
use crate::limits;
use crate::owner::Owner;
use crate::playbook::{Playbook, PlaybookRecord};
use crate::stored::{read, write};

const CATALOG: &str = "catalog";
const CATALOG_BYTES: usize = limits::PLAYBOOKS * 64;
const USED: &str = "used";
const USED_BYTES: usize = 128;

/// The ids of an owner's playbooks, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Catalog {
    ids: Vec<String>,
}

pub(crate) struct Shelf<'call> {
    call: &'call Call,
    owner: Owner,
    playbooks: Bucket<'call>,
}

/// On which day the index was told of an owner's playbooks.
#[derive(Debug, Serialize, Deserialize)]
struct LastUse {
    day: u64,
}

/// Some playbooks of how many.
pub(crate) struct Selection {
    pub(crate) playbooks: Vec<Playbook>,
    /// Ids of those that cannot be read, and why.
    pub(crate) unreadable: Vec<(String, ToolError)>,
    pub(crate) total: usize,
}

impl<'call> Shelf<'call> {
    pub(crate) fn open(call: &'call Call) -> Result<Self, ToolError> {
        let owner = Owner::of(call);
        let playbooks = call.state(owner.scope(), "playbooks")?;
        let playbooks = playbooks.when_full("delete_playbook removes playbooks that are not needed any more");
        Ok(Self { call, owner, playbooks })
    }

    /// Puts up the playbook that `make` makes of its id and owner.
    pub(crate) fn add(
        &self,
        make: impl FnOnce(&PlaybookId, Owner) -> Result<PlaybookRecord, ToolError>,
    ) -> Result<Playbook, ToolError> {
        let id = PlaybookId::random()?;
        let record = make(&id, self.owner.clone())?;
        let bytes = record_bytes(&record)?;
        let index = Index::open(self.call)?;
        index.enter(&id, &self.owner)?;
        let added = self.playbooks.transact(&[CATALOG], |entries| {
            let mut catalog = catalog(entries)?;
            if catalog.ids.len() >= limits::PLAYBOOKS {
                return Err(ToolError::limit(format!(
                    "there are {} playbooks, as many as there may be; delete_playbook removes one that is not needed \
                     any more",
                    limits::PLAYBOOKS
                )));
            }
            catalog.ids.push(id.to_string());
            Ok((vec![catalog_change(&catalog)?, Change::put(record_key(&id), bytes.clone())], ()))
        });
        if let Err(error) = added {
            self.forget(&index, &id);
            return Err(error);
        }
        Ok(record.playbook)
    }

    pub(crate) fn get(&self, id: &PlaybookId) -> Result<Playbook, ToolError> {
        let found = self.playbooks.get_many(&[&record_key(id), USED])?;
        let [Some(entry), used] = found.as_slice() else { return Err(self.absence(id)) };
        self.stay_in_use(used.as_ref(), None);
        Ok(read_record(entry)?.playbook)
    }

    /// Changes a playbook. Its id and its owner stay, whatever `change` does.
    pub(crate) fn change(
        &self,
        id: &PlaybookId,
        mut change: impl FnMut(&mut PlaybookRecord) -> Result<(), ToolError>,
    ) -> Result<Playbook, ToolError> {
        let key = record_key(id);
        let mut used = None;
        let changed = self.playbooks.transact(&[&key, USED], |entries| {
            let entry = entries.first().and_then(Option::as_ref).ok_or_else(|| self.absence(id))?;
            used = entries.get(1).cloned().flatten();
            let mut record = read_record(entry)?;
            change(&mut record)?;
            record.playbook.id = id.to_string();
            record.playbook.owner = self.owner.clone();
            Ok((vec![Change::put(&key, record_bytes(&record)?)], record.playbook))
        })?;
        self.stay_in_use(used.as_ref(), None);
        Ok(changed)
    }

    /// Removes a playbook, also one that cannot be read any more.
    pub(crate) fn delete(&self, id: &PlaybookId) -> Result<(), ToolError> {
        let key = record_key(id);
        let was_there = self.playbooks.transact(&[CATALOG, &key], |entries| {
            if entries.get(1).is_none_or(Option::is_none) {
                return Ok((Vec::new(), false));
            }
            let mut catalog = catalog(entries)?;
            catalog.ids.retain(|other| other != id.as_str());
            Ok((vec![catalog_change(&catalog)?, Change::delete(&key)], true))
        })?;
        if was_there {
            // The playbook is gone, whether the index follows or not.
            match Index::open(self.call) {
                Ok(index) => self.forget(&index, id),
                Err(error) => self.leftover(id, &error),
            }
            return Ok(());
        }
        let error = self.absence(id);
        if error.code == ErrorCode::Gone {
            self.forget(&Index::open(self.call)?, id);
        }
        Err(error)
    }

    /// A page of the playbooks, the newest first. Pages count from 1.
    pub(crate) fn page(&self, page: usize, size: usize) -> Result<Selection, ToolError> {
        let found = self.playbooks.get_many(&[CATALOG, USED])?;
        let catalog = catalog(&found)?;
        self.stay_in_use(found.get(1).and_then(Option::as_ref), Some(&catalog));
        let total = catalog.ids.len();
        let chosen = catalog.ids.iter().rev().skip(page.saturating_sub(1).saturating_mul(size)).take(size);
        let keys: Vec<String> = chosen.map(|id| format!("{RECORD}{id}")).collect();
        let mut selection = Selection { playbooks: Vec::with_capacity(keys.len()), unreadable: Vec::new(), total };
        if keys.is_empty() {
            return Ok(selection);
        }
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        // One that was deleted since the catalog was read is left out.
        for entry in self.playbooks.get_many(&keys)?.iter().flatten() {
            match read_record(entry) {
                Ok(record) => selection.playbooks.push(record.playbook),
                Err(error) => {
                    let id = entry.key.strip_prefix(RECORD).unwrap_or(&entry.key);
                    selection.unreadable.push((id.to_owned(), error));
                }
            }
        }
        Ok(selection)
    }

    /// Tells the index once a day that this owner's playbooks are in use.
    /// Where that fails, the call does not: a later one tries again.
    fn stay_in_use(&self, used: Option<&Entry>, known: Option<&Catalog>) {
        let told = used.is_some_and(|entry| read::<LastUse>(entry).is_ok_and(|used| used.day == today()));
        if !told && let Err(error) = self.tell_index(known) {
            self.call.log(Level::Warn, &format!("the index was not told that playbooks are in use: {error}"));
        }
    }

    fn tell_index(&self, known: Option<&Catalog>) -> Result<(), ToolError> {
        let found;
        let catalog = match known {
            Some(known) => known,
            None => {
                found = catalog(&[self.playbooks.get(CATALOG)?])?;
                &found
            }
        };
        if catalog.ids.is_empty() {
            return Ok(());
        }
        Index::open(self.call)?.renew(catalog.ids.iter().map(String::as_str), &self.owner)?;
        self.playbooks.apply(vec![used_today()?]).map(drop)
    }

    /// When this owner's playbooks expired, if that is why there are none.
    pub(crate) fn expired_at(&self) -> Result<Option<String>, ToolError> {
        self.playbooks.expired_at()
    }

    /// Why this owner has no such playbook.
    fn absence(&self, id: &PlaybookId) -> ToolError {
        match Index::open(self.call).and_then(|index| index.owner(id)) {
            Err(error) => error,
            Ok(None) => id::unknown(id),
            Ok(Some(owner)) if owner == self.owner => ToolError {
                code: ErrorCode::Gone,
                message: format!(
                    "the playbook `{id}` was deleted or expired; list_playbooks shows those that are left"
                ),
                retryable: false,
            },
            Ok(Some(_)) => ToolError::denied(format!(
                "Permission denied: the playbook `{id}` belongs to another owner; list_playbooks shows yours"
            )),
        }
    }

    /// Takes an id out of the index, if that is possible: one that stays leads
    /// to nothing.
    fn forget(&self, index: &Index<'_>, id: &PlaybookId) {
        if let Err(error) = index.remove(id) {
            self.leftover(id, &error);
        }
    }

    fn leftover(&self, id: &PlaybookId, error: &ToolError) {
        self.call.log(Level::Warn, &format!("the index keeps {id}, which leads to nothing: {error}"));
    }
}

/// What the key of a playbook starts with, before its id.
const RECORD: &str = "playbook/";

fn record_key(id: &PlaybookId) -> String {
    format!("{RECORD}{id}")
}

fn read_record(entry: &Entry) -> Result<PlaybookRecord, ToolError> {
    read(entry).map_err(|error| ToolError {
        message: format!("{}; delete_playbook removes it for good", error.message),
        ..error
    })
}

fn record_bytes(record: &PlaybookRecord) -> Result<Vec<u8>, ToolError> {
    write(record, limits::PLAYBOOK_BYTES, "this playbook", "fewer steps or shorter texts make it smaller")
}

fn used_today() -> Result<Change, ToolError> {
    Ok(Change::put(USED, write(&LastUse { day: today() }, USED_BYTES, "a day", "no day is")?))
}

fn catalog(entries: &[Option<Entry>]) -> Result<Catalog, ToolError> {
    entries.first().and_then(Option::as_ref).map_or_else(|| Ok(Catalog::default()), read)
}

fn catalog_change(catalog: &Catalog) -> Result<Change, ToolError> {
    let bytes = write(catalog, CATALOG_BYTES, "the list of playbooks", "delete_playbook makes room")?;
    Ok(Change::put(CATALOG, bytes))
}
