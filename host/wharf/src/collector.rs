//! The connection to the collector of spans: its address, the headers that name the host,
//! and how long an answer may take. The form of spans is not known here.

use std::{io::Read as _, sync::Arc};

use ureq::{
    Agent,
    http::{HeaderValue, Request, header},
};
use url::Url;
use wharf_core::{Secret, SpanSink, text::with_causes};
use wharf_sources::agent;
use wharf_trace::{CollectorAnswer, OtlpSink, SpanTransport, TIMEOUT, TransportError};

use crate::{
    configuration::{TracesSettings, read_header},
    host::open_error::TracesError,
};

/// What is read of an answer, which says nothing but how many spans were refused.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

/// What sends the spans of the host of this number, where the configuration names a
/// collector.
pub(crate) fn open(settings: &TracesSettings, host: u64) -> Result<Option<Arc<dyn SpanSink>>, TracesError> {
    let Some(endpoint) = &settings.endpoint else { return Ok(None) };
    let headers = settings.headers.iter().map(read_header).collect::<Result<_, _>>()?;
    let collector = Collector { agent: agent(endpoint, TIMEOUT), endpoint: endpoint.clone(), headers };
    let resource = [
        ("service.name", &*settings.service),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", &format!("{host:016x}")),
    ];
    let sink = OtlpSink::open(collector, &resource).map_err(|error| TracesError::Sender(Box::new(error)))?;
    Ok(Some(Arc::new(sink)))
}

struct Collector {
    agent: Agent,
    endpoint: Url,
    headers: Vec<Secret>,
}

impl SpanTransport for Collector {
    fn post(&self, spans: &[u8]) -> Result<CollectorAnswer, TransportError> {
        let unsent =
            |error: &dyn std::error::Error| TransportError(format!("{}: {}", self.endpoint, with_causes(error)));
        let mut request = Request::post(self.endpoint.as_str()).header(header::CONTENT_TYPE, "application/x-protobuf");
        for secret in &self.headers {
            let mut value = HeaderValue::from_str(&secret.value()).map_err(|error| unsent(&error))?;
            value.set_sensitive(true);
            request = request.header(secret.rule().header(), value);
        }
        let request = request.body(spans).map_err(|error| unsent(&error))?;
        // A redirect would take the spans, and the secrets with them, to an address
        // that nobody configured.
        let request = self.agent.configure_request(request).max_redirects(0).http_status_as_error(false).build();
        let answered = self.agent.run(request).map_err(|error| unsent(&error))?;
        let status = answered.status().as_u16();
        let retry_after = answered.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.map(str::to_owned);
        let mut body = Vec::new();
        let mut reader = answered.into_body().into_reader().take(MAX_ANSWER_BYTES);
        reader.read_to_end(&mut body).map_err(|error| unsent(&error))?;
        Ok(CollectorAnswer { status, retry_after, body })
    }
}
