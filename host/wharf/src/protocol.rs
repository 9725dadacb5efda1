//! The Model Context Protocol over HTTP: puts what serves it behind the route of the server.
//! Neither of the two knows the other.

use std::sync::Arc;

use futures_util::FutureExt;
use tower_service::Service;
use wharf_core::{HttpLimits, OfferService};
use wharf_http::{Failure, ProtocolAnswer, ProtocolClient, ProtocolEndpoint, ProtocolRequest, ProtocolService};
use wharf_mcp::{EndpointRefusal, EndpointRequest, EndpointSettings, HttpEndpoint, HttpEndpoints, ServerInfo};

/// The Model Context Protocol, for an [`HttpServer`](wharf_http::HttpServer).
pub struct McpService(HttpEndpoints);

impl McpService {
    /// Offers these beside tools. `limits` are those of the server.
    #[must_use]
    pub fn new(offers: Option<Arc<dyn OfferService>>, info: ServerInfo, limits: HttpLimits) -> Self {
        Self(HttpEndpoints::new(offers, info, limits))
    }
}

impl ProtocolService for McpService {
    fn endpoint(&self, client: ProtocolClient) -> Box<dyn ProtocolEndpoint> {
        let ProtocolClient { tools, may_use, rules, calls, readers, stopping, killed } = client;
        let settings = EndpointSettings { tools, may_use, rules, calls, readers, stopping, killed };
        Box::new(Endpoint(self.0.endpoint(settings)))
    }
}

/// The endpoint of one client.
struct Endpoint(HttpEndpoint);

impl ProtocolEndpoint for Endpoint {
    fn respond(&self, request: ProtocolRequest) -> ProtocolAnswer {
        let ProtocolRequest { request, hints, trace, memory, estimate_bytes } = request;
        // It is ready at any time.
        let answering = self.0.clone().call(EndpointRequest { request, hints, trace, memory, estimate_bytes });
        answering.map(|answered| answered.map_err(failure)).boxed()
    }

    fn is_unused(&self) -> bool {
        self.0.is_unused()
    }
}

fn failure(refusal: EndpointRefusal) -> Failure {
    match refusal {
        EndpointRefusal::Busy(told) => Failure::busy(told),
        EndpointRefusal::Refused(error) => error.into(),
    }
}
