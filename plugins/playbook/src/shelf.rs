//! The playbooks of the owner that a call belongs to, and the index that says
//! whose any playbook is.
//!
//! A playbook and its place in the catalog lie in the owner's scope, which the
//! host keys: no call of another owner can reach them, so that what is found
//! there is this owner's without a further look. The index, id to owner, lies
//! in the scope of the plugin and serves only to tell "somebody else's" from
//! "nobody's" when nothing is found.
//!
//! The two cannot be written in one step. The index comes first when a playbook
//! is made and goes last when one is deleted; playbook and catalog change in
//! one step between. Whoever is killed on the way leaves an entry of the index
//! that leads to nothing: it is in no list, its owner is told that there is
//! nothing, others are refused as before, and deleting again clears it away.

use serde::{Deserialize, Serialize};
use wharf_sdk::{Bucket, Call, Change, Entry, ErrorCode, Level, Scope, ToolError};

use crate::id::{self, PlaybookId};
use crate::limits;
use crate::owner::Owner;
use crate::playbook::{Playbook, Record};
use crate::stored::{read, write};

const CATALOG: &str = "catalog";
const CATALOG_BYTES: usize = limits::PLAYBOOKS * 64;
const OWNER_BYTES: usize = 1_024;

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

/// Some playbooks of how many.
pub(crate) struct Selection {
    pub(crate) playbooks: Vec<Playbook>,
    pub(crate) total: usize,
}

impl<'call> Shelf<'call> {
    pub(crate) fn open(call: &'call Call) -> Result<Self, ToolError> {
        let owner = Owner::of(call);
        let playbooks = call.state(owner.scope(), "playbooks")?;
        Ok(Self { call, owner, playbooks })
    }

    fn owners(&self) -> Result<Bucket<'call>, ToolError> {
        self.call.state(Scope::Plugin, "owners")
    }

    /// Puts up the playbook that `make` makes of its id and owner.
    pub(crate) fn add(
        &self,
        make: impl FnOnce(&PlaybookId, Owner) -> Result<Record, ToolError>,
    ) -> Result<Playbook, ToolError> {
        let id = PlaybookId::random()?;
        let record = make(&id, self.owner.clone())?;
        let bytes = record_bytes(&record)?;
        let owners = self.owners()?;
        let owner = write(&self.owner, OWNER_BYTES, "the owner", "shorter ids do")?;
        owners.apply(vec![Change::put(id.as_str(), owner).if_revision(0)])?;
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
            self.forget(&owners, &id);
            return Err(error);
        }
        Ok(record.playbook)
    }

    pub(crate) fn get(&self, id: &PlaybookId) -> Result<Playbook, ToolError> {
        match self.playbooks.get(&record_key(id))? {
            Some(entry) => Ok(read_record(&entry)?.playbook),
            None => Err(self.absence(id)),
        }
    }

    /// Changes a playbook. Its id and its owner stay, whatever `change` does.
    pub(crate) fn change(
        &self,
        id: &PlaybookId,
        mut change: impl FnMut(&mut Record) -> Result<(), ToolError>,
    ) -> Result<Playbook, ToolError> {
        let key = record_key(id);
        self.playbooks.transact(&[&key], |entries| {
            let entry = entries.first().and_then(Option::as_ref).ok_or_else(|| self.absence(id))?;
            let mut record = read_record(entry)?;
            change(&mut record)?;
            record.playbook.id = id.to_string();
            record.playbook.owner = self.owner.clone();
            Ok((vec![Change::put(&key, record_bytes(&record)?)], record.playbook))
        })
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
            match self.owners() {
                Ok(owners) => self.forget(&owners, id),
                Err(error) => self.leftover(id, &error),
            }
            return Ok(());
        }
        let error = self.absence(id);
        if error.code == ErrorCode::Gone {
            self.forget(&self.owners()?, id);
        }
        Err(error)
    }

    /// A page of the playbooks, the newest first. Pages count from 1.
    pub(crate) fn page(&self, page: usize, size: usize) -> Result<Selection, ToolError> {
        let catalog = catalog(&[self.playbooks.get(CATALOG)?])?;
        let total = catalog.ids.len();
        let chosen = catalog.ids.iter().rev().skip(page.saturating_sub(1).saturating_mul(size)).take(size);
        let keys: Vec<String> = chosen.map(|id| format!("playbook/{id}")).collect();
        if keys.is_empty() {
            return Ok(Selection { playbooks: Vec::new(), total });
        }
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut playbooks = Vec::with_capacity(keys.len());
        // One that was deleted since the catalog was read is left out.
        for entry in self.playbooks.get_many(&keys)?.iter().flatten() {
            playbooks.push(read_record(entry)?.playbook);
        }
        Ok(Selection { playbooks, total })
    }

    /// When this owner's playbooks expired, if that is why there are none.
    pub(crate) fn expired_at(&self) -> Result<Option<String>, ToolError> {
        self.playbooks.expired_at()
    }

    /// Why this owner has no such playbook.
    fn absence(&self, id: &PlaybookId) -> ToolError {
        let found = self.owners().and_then(|owners| owners.get(id.as_str()));
        match found.and_then(|entry| entry.as_ref().map(read::<Owner>).transpose()) {
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
                "permission denied: the playbook `{id}` belongs to another owner; list_playbooks shows yours"
            )),
        }
    }

    /// Takes an id out of the index, if that is possible: one that stays leads
    /// to nothing.
    fn forget(&self, owners: &Bucket<'_>, id: &PlaybookId) {
        if let Err(error) = owners.delete(id.as_str()) {
            self.leftover(id, &error);
        }
    }

    fn leftover(&self, id: &PlaybookId, error: &ToolError) {
        self.call.log(Level::Warn, &format!("the index keeps {id}, which leads to nothing: {error}"));
    }
}

fn record_key(id: &PlaybookId) -> String {
    format!("playbook/{id}")
}

fn read_record(entry: &Entry) -> Result<Record, ToolError> {
    read(entry).map_err(|error| ToolError {
        message: format!("{}; delete_playbook removes it for good", error.message),
        ..error
    })
}

fn record_bytes(record: &Record) -> Result<Vec<u8>, ToolError> {
    write(record, limits::PLAYBOOK_BYTES, "this playbook", "fewer steps or shorter texts make it smaller")
}

fn catalog(entries: &[Option<Entry>]) -> Result<Catalog, ToolError> {
    entries.first().and_then(Option::as_ref).map_or_else(|| Ok(Catalog::default()), read)
}

fn catalog_change(catalog: &Catalog) -> Result<Change, ToolError> {
    let bytes = write(catalog, CATALOG_BYTES, "the list of playbooks", "delete_playbook makes room")?;
    Ok(Change::put(CATALOG, bytes))
}
