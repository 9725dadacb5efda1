//! Downloads that begin, go on and end: held to their limits, and reported at the end.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use wharf_webview::{Download, FailedDownload, PageEvent};

use crate::{
    connection::Event,
    page::{Page, RunningDownload},
    profile,
};

/// How many downloads may be under way; a further one is cancelled without a report.
const MOST_AT_ONCE: usize = 256;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadWillBegin {
    guid: String,
    url: String,
    suggested_filename: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadProgress {
    guid: String,
    total_bytes: f64,
    received_bytes: f64,
    state: String,
}

pub(super) fn hear(page: &Arc<Page>, event: Event<'_>) {
    match event.method {
        "Browser.downloadWillBegin" => {
            if let Some(will_begin) = event.read() {
                begun(page, will_begin);
            }
        }
        "Browser.downloadProgress" => {
            if let Some(progress) = event.read() {
                progressed(page, progress);
            }
        }
        _ => {}
    }
}

fn begun(page: &Arc<Page>, will_begin: DownloadWillBegin) {
    let DownloadWillBegin { guid, url, suggested_filename } = will_begin;
    let mut state = page.state();
    state.downloads.begun += 1;
    let most = page.settings.limits.downloads;
    let refused = if !page.settings.downloads {
        Some("downloads are not granted".to_owned())
    } else if state.downloads.begun > most {
        Some(format!("the page has had {most} downloads, as many as it may (limit `downloads`)"))
    } else {
        None
    };
    if let Some(load) = state.document.last().map(|load| load.loader.clone()) {
        let load = state.document.load(&load);
        load.download |= load.url == url;
    }
    if state.downloads.known.len() >= MOST_AT_ONCE {
        drop(state);
        return stop(page, &guid);
    }
    let cancel = refused.is_some();
    let share = page.settings.shares.transfer();
    let cut = |text: &str, bytes| wharf_core::text::cut(text, bytes).to_owned();
    let entry = RunningDownload { url: cut(&url, 4_096), name: cut(&suggested_filename, 1_024), refused, share };
    state.downloads.known.insert(guid.clone(), entry);
    drop(state);
    if cancel {
        stop(page, &guid);
    }
    page.changed();
}

fn progressed(page: &Arc<Page>, progress: DownloadProgress) {
    let DownloadProgress { guid, total_bytes, received_bytes, state: how } = progress;
    let most = page.settings.limits.download_bytes;
    let mut state = page.state();
    let Some(entry) = state.downloads.known.get_mut(&guid) else { return };
    let bytes = received_bytes.max(0.0) as u64;
    if entry.refused.is_none() {
        entry.refused = if bytes.max(total_bytes.max(0.0) as u64) > most {
            Some(format!("it is larger than {most} bytes (limit `download_bytes`)"))
        } else {
            let more = bytes.saturating_sub(entry.share.amount());
            entry.share.grow(more).err().map(|full| full.to_string())
        };
        if entry.refused.is_some() && how == "inProgress" {
            drop(state);
            return stop(page, &guid);
        }
    }
    if how == "inProgress" {
        return;
    }
    let Some(RunningDownload { url, name, refused, share }) = state.downloads.known.remove(&guid) else { return };
    drop(state);
    // The path is made here, of a name that cannot lead elsewhere.
    let is_a_name = !guid.is_empty() && guid.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let place = (how == "completed" && is_a_name).then(|| page.browser.profile.downloads(page.id).join(&guid));
    let staged = match (refused, place) {
        (Some(reason), place) => {
            // It was complete before the browser heard that it is refused.
            if let Some(place) = place {
                tokio::task::spawn_blocking(move || profile::discard(&place));
            }
            Err(FailedDownload(reason))
        }
        (None, Some(place)) => Ok(place),
        (None, None) => Err(FailedDownload("it was broken off".to_owned())),
    };
    page.sink.tell(PageEvent::Download(Download { url, name, bytes, staged }));
    // The core counts it from now on.
    drop(share);
}

fn stop(page: &Page, guid: &str) {
    let which = json!({ "guid": guid, "browserContextId": page.context });
    page.browser.connection.post(None, "Browser.cancelDownload", &which);
}
