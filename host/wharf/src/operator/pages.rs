//! Web pages, for the operator: watched and closed, of any owner.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use wharf_core::{
    Error,
    service::operator::{PageLookReport, PagePicture, PageReport},
};
use wharf_webview::{LogName, PageId, WebViews};

use super::{missing::none, report};
use crate::host::Host;

/// How long a page may take to close.
const CLOSING: Duration = Duration::from_secs(5);
/// Entries of a log that are shown: the newest.
const MOST_ENTRIES: usize = 200;

/// What a page has said and asked for.
pub(super) fn look(host: &Host, page: &str) -> Result<PageLookReport, Error> {
    let (webviews, id) = page_of(host, page)?;
    let (owner, info) = webviews.watched(id)?;
    let entries = |log: LogName| -> Result<Vec<Value>, Error> {
        let read = webviews.watched_entries(id, log, MOST_ENTRIES)?;
        Ok(serde_json::from_str(&read.entries).unwrap_or_default())
    };
    let (console, requests) = (entries(LogName::Console)?, entries(LogName::Network)?);
    Ok(PageLookReport { page: report::of_page(&owner, &info), console, requests })
}

/// What is seen of a page.
pub(super) async fn draw(host: &Host, page: &str) -> Result<PagePicture, Error> {
    let (webviews, id) = page_of(host, page)?;
    let jpeg = webviews.watched_picture(id).await?;
    Ok(PagePicture { jpeg: STANDARD.encode(jpeg) })
}

pub(super) async fn close(host: &Host, page: &str) -> Result<PageReport, Error> {
    let (webviews, id) = page_of(host, page)?;
    let (owner, _) = webviews.watched(id)?;
    let closed = webviews.close_for_operator(id, CLOSING).await.ok_or_else(|| none("page"))?;
    Ok(report::of_page(&owner, &closed))
}

fn page_of<'h>(host: &'h Host, id: &str) -> Result<(&'h WebViews, PageId), Error> {
    let id = id.parse().map_err(|_| none("page"))?;
    Ok((host.webviews().ok_or_else(|| none("page"))?, id))
}
