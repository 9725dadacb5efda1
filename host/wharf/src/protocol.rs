//! The Model Context Protocol over HTTP: puts the endpoints of the protocol behind the route
//! of the HTTP server. Neither crate knows the other.

use futures_util::FutureExt;
use tower_service::Service;
use wharf_core::HttpLimits;
use wharf_http::{HttpFailure, ProtocolAnswer, ProtocolClient, ProtocolEndpoint, ProtocolRequest, ProtocolService};
use wharf_mcp::{EndpointRefusal, EndpointRequest, HttpEndpoint, HttpEndpoints, Served, ServerInfo};

use crate::Host;

/// The Model Context Protocol, for an [`HttpServer`](wharf_http::HttpServer).
pub struct McpService(HttpEndpoints);

impl McpService {
    /// Serves this. `limits` are those of the server.
    #[must_use]
    pub fn new(served: Served, info: ServerInfo, limits: HttpLimits) -> Self {
        Self(HttpEndpoints::new(served, info, limits))
    }

    /// Names sessions of 2025-11-25 as this host names all that it has, so that the other hosts
    /// of its cluster pass their requests on to it, and writes them down, so that another one goes
    /// on with them once this one has ended; and seals what clients carry from one round of input
    /// to the next with the keys of the cluster.
    #[must_use]
    pub fn of_host(self, host: &Host) -> Self {
        let mut endpoints = self.0.with_handles(host.handles());
        if let Some(keys) = host.state_keys() {
            endpoints = endpoints.with_state_keys(keys);
        }
        if let Some(shelf) = host.session_shelf() {
            endpoints = endpoints.with_session_shelf(shelf);
        }
        Self(endpoints)
    }
}

impl ProtocolService for McpService {
    fn endpoint(&self, client: ProtocolClient) -> Box<dyn ProtocolEndpoint> {
        Box::new(Endpoint(self.0.endpoint(client)))
    }
}

/// The endpoint of one client.
struct Endpoint(HttpEndpoint);

impl ProtocolEndpoint for Endpoint {
    fn respond(&self, request: ProtocolRequest) -> ProtocolAnswer {
        let ProtocolRequest { request, claims, trace, memory, estimate_bytes } = request;
        // It is ready at any time.
        let answering = self.0.clone().call(EndpointRequest { request, claims, trace, memory, estimate_bytes });
        answering.map(|answered| answered.map_err(failure)).boxed()
    }

    fn is_unused(&self) -> bool {
        self.0.is_unused()
    }
}

fn failure(refusal: EndpointRefusal) -> HttpFailure {
    match refusal {
        EndpointRefusal::Busy(told) => HttpFailure::busy(told),
        EndpointRefusal::Refused(error) => error.into(),
    }
}
