//! The files of a session that is at home here: entered in the database before a call uses them,
//! and removed first where later ones were lost with another host.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;
use wharf_core::{Code, Error};

use super::{
    Membership,
    routing::{moving, unavailable},
};
use crate::{
    FilesHere, FilesUse, SessionKey,
    held::{HeldCall, TenureFiles},
};

impl Membership {
    /// Enters that files of the session are here, where a call may use them.
    ///
    /// # Errors
    /// `gone` where an earlier home had some, for the calls that began before this was told.
    pub(super) async fn with_files(
        self: &Arc<Self>,
        key: &SessionKey,
        call: &HeldCall,
        keeps_files: bool,
    ) -> Result<(), Error> {
        if !keeps_files || call.files_were_entered {
            return Ok(());
        }
        let files = &call.files;
        let were_lost = Arc::clone(&files.were_lost).lock_owned().await;
        if files.are_entered() {
            return if *were_lost { Err(lost()) } else { Ok(()) };
        }
        match self.use_files(key, FilesHere::AsTheyWere).await? {
            FilesUse::Kept => files.enter(),
            FilesUse::Lost => {
                // The caller may go; what has begun to be removed is removed before the next call.
                let (cell, key, files) = (Arc::clone(self), key.clone(), Arc::clone(files));
                let removing = self.tasks.spawn(async move { cell.remove_files(&key, &files, were_lost).await });
                return removing.await.map_err(|_| moving())?.and(Err(lost()));
            }
            FilesUse::NotHome => return self.not_home(key),
        }
        Ok(())
    }

    /// Removes what is here of the session's files, from before they were on another host.
    async fn remove_files(
        &self,
        key: &SessionKey,
        files: &TenureFiles,
        mut were_lost: OwnedMutexGuard<bool>,
    ) -> Result<(), Error> {
        let host = self.host.get().ok_or_else(moving)?;
        host.remove_files(&key.tenant, &key.session).await?;
        match self.use_files(key, FilesHere::Removed).await? {
            FilesUse::Kept => {
                *were_lost = true;
                files.enter();
                Ok(())
            }
            FilesUse::Lost | FilesUse::NotHome => self.not_home(key),
        }
    }

    async fn use_files(&self, key: &SessionKey, here: FilesHere) -> Result<FilesUse, Error> {
        self.homes.use_files(key, self.standing.incarnation(), here).await.map_err(unavailable)
    }

    fn not_home(&self, key: &SessionKey) -> Result<(), Error> {
        self.held.remove(key);
        Err(moving())
    }
}

fn lost() -> Error {
    Error::retryable(
        Code::Gone,
        "the files of this session were on a host that has ended, and are lost; the session goes on with an empty \
         workspace: call again",
    )
}
