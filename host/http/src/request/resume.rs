//! Where a client that comes back goes on.

use axum::http::{HeaderMap, HeaderName};
use schemars::JsonSchema;
use serde::Deserialize;

use super::headers::single;
use crate::failure::HttpFailure;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeQuery {
    /// The `id` of the last event that was read, for clients that cannot send
    /// the header `Last-Event-ID`, which comes first.
    last_event_id: Option<u64>,
}

impl ResumeQuery {
    /// The number of the last event that was read.
    pub(crate) fn last(&self, headers: &HeaderMap) -> Result<u64, HttpFailure> {
        Ok(self.given(headers)?.unwrap_or(0))
    }

    /// The same; nothing where the client reads for the first time.
    pub(crate) fn given(&self, headers: &HeaderMap) -> Result<Option<u64>, HttpFailure> {
        Ok(last_event(headers)?.or(self.last_event_id))
    }
}

fn last_event(headers: &HeaderMap) -> Result<Option<u64>, HttpFailure> {
    match single(headers, &LAST_EVENT_ID)? {
        None => Ok(None),
        Some(value) if value.is_empty() => Ok(None),
        Some(value) => {
            let number = value.to_str().ok().and_then(|text| text.parse().ok());
            number.map(Some).ok_or_else(|| HttpFailure::invalid("`Last-Event-ID` must be the `id` of an event"))
        }
    }
}
