//! Gives a file input the files that the core has put where the browser may read
//! them.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::json;
use wharf_webview::{Failure, FailureKind};

use super::outcome::{OrderWork, failed, nothing};
use crate::{connection::CallError, page::Page, scripts::injection};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElementEvaluation {
    result: RemoteObject,
    exception_details: Option<ThrownException>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemoteObject {
    object_id: Option<String>,
    description: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ThrownException {
    text: String,
    exception: Option<RemoteObject>,
}

pub(super) fn set(page: &Arc<Page>, element: String, files: Vec<PathBuf>) -> OrderWork {
    let page = Arc::clone(page);
    Box::pin(async move {
        // Chromium does not complain about a file that does not exist.
        let looked =
            tokio::task::spawn_blocking(move || files.iter().try_for_each(|file| is_there(file)).map(|()| files));
        let files = looked.await.map_err(io::Error::other).flatten().map_err(|error| {
            Failure::new(FailureKind::Invalid, format!("the files cannot be handed to the page: {error}"))
        })?;
        let context = injection::isolated_context(&page).await.map_err(|error| failed(&error))?;
        let wanted = json!({ "expression": element, "contextId": context, "awaitPromise": true });
        let found: ElementEvaluation =
            page.ask("Runtime.evaluate", &wanted).read().await.map_err(|error| failed(&error))?;
        if let Some(ThrownException { text, exception }) = found.exception_details {
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
            Err(CallError::Refused(said)) => {
                Err(Failure::new(FailureKind::Invalid, format!("the element takes no such files: {said}")))
            }
            Err(error) => Err(failed(&error)),
        }
    })
}

fn is_there(file: &Path) -> io::Result<()> {
    if file.metadata()?.is_file() { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
}
