//! Gives a file input files, as copies that the browser's user may read.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::json;

use super::{
    Page, inject,
    orders::{Work, failed, nothing},
};
use crate::{Failure, FailureKind};

/// How often a page may have been given files that are kept for it.
const MOST_GIVEN: usize = 8;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Evaluated {
    result: Remote,
    exception_details: Option<Thrown>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remote {
    object_id: Option<String>,
    description: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Thrown {
    text: String,
    exception: Option<Remote>,
}

pub(super) fn set(page: &Arc<Page>, element: String, files: Vec<PathBuf>) -> Work {
    let page = Arc::clone(page);
    Box::pin(async move {
        let ours = Arc::clone(&page);
        let copied = tokio::task::spawn_blocking(move || copy(&ours, &files)).await.map_err(io::Error::other).flatten();
        let files = copied.map_err(|error| {
            Failure::new(FailureKind::Invalid, format!("the files cannot be handed to the page: {error}"))
        })?;
        let context = inject::isolated_context(&page).await.map_err(|error| failed(&error))?;
        let wanted = json!({ "expression": element, "contextId": context, "awaitPromise": true });
        let found: Evaluated = page.ask("Runtime.evaluate", &wanted).read().await.map_err(|error| failed(&error))?;
        if let Some(Thrown { text, exception }) = found.exception_details {
            let said = exception.and_then(|exception| exception.description).unwrap_or(text);
            let said = wharf_core::text::cut(&said, 1_024);
            return Err(Failure::new(FailureKind::Invalid, format!("`element` comes to no element: {said}")));
        }
        let Some(object) = found.result.object_id else {
            return Err(Failure::new(FailureKind::Invalid, "`element` comes to no element"));
        };
        let given = page.ask("DOM.setFileInputFiles", &json!({ "objectId": object, "files": files })).await;
        page.post(page.main_session(), "Runtime.releaseObject", &json!({ "objectId": object }));
        match given {
            Ok(_) => Ok(nothing()),
            Err(crate::chromium::connection::CallError::Refused(said)) => {
                Err(Failure::new(FailureKind::Invalid, format!("the element takes no such files: {said}")))
            }
            Err(error) => Err(failed(&error)),
        }
    })
}

/// Copies each to where the browser may read it, under its own name.
fn copy(page: &Page, files: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let profile = &page.browser.profile;
    let place = profile.files(page.id)?;
    let mut copies = Vec::with_capacity(files.len());
    for file in files {
        // A directory for each: two may have the same name.
        let own = tempfile_in(&place)?;
        profile.give(&own)?;
        let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let copy = own.join(name);
        fs::copy(file, &copy)?;
        profile.give(&copy)?;
        copies.push(copy);
    }
    let former = {
        let mut state = page.state();
        state.given.push_back(copies.clone());
        if state.given.len() > MOST_GIVEN { state.given.pop_front() } else { None }
    };
    for copy in former.unwrap_or_default() {
        let _ = copy.parent().map(fs::remove_dir_all);
    }
    Ok(copies)
}

/// Makes a directory that was not there.
fn tempfile_in(place: &Path) -> io::Result<PathBuf> {
    let name = crate::PageId::random().map_err(io::Error::other)?;
    let own = place.join(name.to_string());
    fs::create_dir(&own)?;
    Ok(own)
}
