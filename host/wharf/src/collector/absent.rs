//! Builds without the feature `traces`: no span is sent, and a host that should send some is
//! not opened.

use std::sync::Arc;

use wharf_core::SpanSink;

use crate::{configuration::TracesSettings, host::open_error::TracesError, missing_feature};

/// No sink, where the configuration names no collector.
pub(crate) fn open(settings: &TracesSettings, _: u64) -> Result<Option<Arc<dyn SpanSink>>, TracesError> {
    match &settings.endpoint {
        None => Ok(None),
        Some(_) => Err(missing_feature::COLLECTOR.into()),
    }
}
