//! The documents of a thread in its bucket: read, changed and written in one
//! step, in a format that says its version.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wharf_sdk::{Bucket, Call, Change, Entry, ErrorCode, Scope, ToolError};

/// The version of everything that is written here. A later one reads the
/// earlier ones.
const VERSION: u32 = 1;

/// One document of a thread.
pub(crate) trait ThreadDocument: Default + Serialize + DeserializeOwned {
    /// Where it lies in the bucket.
    const KEY: &'static str;
    /// How large it may get as JSON.
    const LARGEST_BYTES: usize;
    /// What makes room in one that is full.
    const ROOM: &'static str;
}

#[derive(Serialize)]
struct VersionedDocument<'a, D> {
    version: u32,
    content: &'a D,
}

#[derive(Deserialize)]
struct Read<D> {
    version: u32,
    content: D,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The state of the thread that a call belongs to.
pub(crate) struct Thread<'call> {
    pub(crate) bucket: Bucket<'call>,
}

/// The outcome of a call, and what the model should know besides.
pub(crate) struct WithNotice<T> {
    pub(crate) value: T,
    /// Said once: the thread's earlier content expired.
    pub(crate) notice: Option<String>,
}

impl<'call> Thread<'call> {
    pub(crate) fn open(call: &'call Call) -> Result<Self, ToolError> {
        let bucket = call.state(Scope::Thread, "planning")?;
        Ok(Self { bucket: bucket.when_full("clear_todos, clear_memo or clear_session makes room in this thread") })
    }

    /// Changes one document.
    pub(crate) fn change<D: ThreadDocument, R>(
        &self,
        mut change: impl FnMut(&mut D) -> Result<R, ToolError>,
    ) -> Result<WithNotice<R>, ToolError> {
        self.change_with(|document| Ok((change(document)?, Vec::new())))
    }

    /// Changes one document and writes other entries in the same step.
    pub(crate) fn change_with<D: ThreadDocument, R>(
        &self,
        mut change: impl FnMut(&mut D) -> Result<(R, Vec<Change>), ToolError>,
    ) -> Result<WithNotice<R>, ToolError> {
        let mut notice = None;
        let value = self.bucket.transact(&[D::KEY], |entries| {
            let entry = entries.first().and_then(Option::as_ref);
            notice = self.notice(entry.is_none())?;
            let mut document: D = read(entry)?;
            let (value, mut changes) = change(&mut document).map_err(|error| explain(error, notice.as_deref()))?;
            changes.push(write(&document)?);
            Ok((changes, value))
        })?;
        Ok(WithNotice { value, notice })
    }

    /// Why there is nothing, if the host removed it. Asked only of a thread
    /// that looks new, so that other calls stay at one read and one write.
    pub(crate) fn notice(&self, absent: bool) -> Result<Option<String>, ToolError> {
        let expired_at = if absent { self.bucket.expired_at()? } else { None };
        Ok(expired_at.map(|at| {
            format!(
                "The earlier plan of this thread expired at {at} because nobody used it for long; this starts anew."
            )
        }))
    }
}

/// A model that names an id of an expired plan learns why it is gone.
pub(crate) fn explain(mut error: ToolError, notice: Option<&str>) -> ToolError {
    if let Some(notice) = notice {
        error.message = format!("{}. {notice}", error.message);
    }
    error
}

pub(crate) fn read<D: ThreadDocument>(entry: Option<&Entry>) -> Result<D, ToolError> {
    let Some(entry) = entry else { return Ok(D::default()) };
    let error = match entry.json::<Read<D>>() {
        Ok(read) if read.version <= VERSION => return Ok(read.content),
        Ok(read) => return Err(too_new(read.version)),
        Err(error) => error,
    };
    match entry.json::<Version>() {
        Ok(found) if found.version > VERSION => Err(too_new(found.version)),
        _ => Err(error.with_advice("clear_session starts over")),
    }
}

fn too_new(version: u32) -> ToolError {
    ToolError {
        code: ErrorCode::Unavailable,
        message: format!(
            "this thread was written by a newer planning plugin (format {version}, this one knows {VERSION}): update \
             the plugin, or start over with clear_session"
        ),
        retryable: false,
    }
}

pub(crate) fn write<D: ThreadDocument>(document: &D) -> Result<Change, ToolError> {
    let bytes = serde_json::to_vec(&VersionedDocument { version: VERSION, content: document })?;
    if bytes.len() > D::LARGEST_BYTES {
        return Err(ToolError::limit(format!(
            "the {} of this thread would take {} bytes, and at most {} are kept; {}",
            D::KEY,
            bytes.len(),
            D::LARGEST_BYTES,
            D::ROOM
        )));
    }
    Ok(Change::put(D::KEY, bytes))
}
