//! Which playbook is in force for the thread that a call belongs to.

use wharf_sdk::{Bucket, Call, Change, ErrorCode, Scope, ToolError};

use crate::id::PlaybookId;
use crate::limits;
use crate::playbook::Playbook;
use crate::progress::PlaybookProgress;
use crate::shelf::Shelf;
use crate::stored::{read, write};

const KEY: &str = "active";

pub(crate) struct Thread<'call> {
    bucket: Bucket<'call>,
}

impl<'call> Thread<'call> {
    pub(crate) fn open(call: &'call Call) -> Result<Self, ToolError> {
        let bucket = call.state(Scope::Thread, "active")?;
        Ok(Self { bucket: bucket.when_full("shorter outputs of steps take less, and select_playbook starts over") })
    }

    /// Puts a playbook in force, with nothing of it done.
    pub(crate) fn begin(&self, progress: &PlaybookProgress) -> Result<(), ToolError> {
        self.bucket.put(KEY, bytes(progress)?).map(drop)
    }

    /// The playbook that is in force, if one is.
    pub(crate) fn active(&self, shelf: &Shelf<'_>) -> Result<Option<(Playbook, PlaybookProgress)>, ToolError> {
        let Some(entry) = self.bucket.get(KEY)? else { return Ok(None) };
        let progress: PlaybookProgress = read(&entry).map_err(start_over)?;
        Ok(Some((playbook_of(&progress, shelf)?, progress)))
    }

    /// Changes the progress with the playbook that is in force.
    pub(crate) fn advance(
        &self,
        shelf: &Shelf<'_>,
        mut change: impl FnMut(&Playbook, &mut PlaybookProgress) -> Result<(), ToolError>,
    ) -> Result<(Playbook, PlaybookProgress), ToolError> {
        self.bucket.transact(&[KEY], |entries| {
            let Some(entry) = entries.first().and_then(Option::as_ref) else {
                return Err(self.nothing_in_force()?);
            };
            let mut progress: PlaybookProgress = read(entry).map_err(start_over)?;
            let playbook = playbook_of(&progress, shelf)?;
            change(&playbook, &mut progress)?;
            Ok((vec![Change::put(KEY, bytes(&progress)?)], (playbook, progress)))
        })
    }

    /// When the progress expired, if that is why there is none.
    pub(crate) fn expired(&self) -> Result<Option<String>, ToolError> {
        Ok(self.bucket.expired_at()?.map(|at| {
            format!(
                "The progress of this thread expired at {at} because nobody used it for long; the playbook is kept."
            )
        }))
    }

    fn nothing_in_force(&self) -> Result<ToolError, ToolError> {
        let notice = self.expired()?.map(|notice| format!(". {notice}")).unwrap_or_default();
        Ok(ToolError::not_found(format!(
            "no playbook is in force for this thread; select_playbook puts one in force{notice}"
        )))
    }
}

fn bytes(progress: &PlaybookProgress) -> Result<Vec<u8>, ToolError> {
    write(
        progress,
        limits::PROGRESS_BYTES,
        "the outputs of this thread's steps",
        "keep long outputs elsewhere and record where they are",
    )
}

fn playbook_of(progress: &PlaybookProgress, shelf: &Shelf<'_>) -> Result<Playbook, ToolError> {
    shelf.get(&PlaybookId::parse(&progress.playbook_id)?).map_err(|error| match error.code {
        ErrorCode::NotFound | ErrorCode::Gone => ToolError {
            code: ErrorCode::Gone,
            message: format!(
                "the playbook `{}` that was in force for this thread is gone: it was deleted or expired. Its goal was: \
                 {}. select_playbook puts another one in force",
                progress.playbook_id, progress.goal
            ),
            retryable: false,
        },
        _ => error,
    })
}

fn start_over(error: ToolError) -> ToolError {
    error.with_advice("select_playbook starts over")
}
