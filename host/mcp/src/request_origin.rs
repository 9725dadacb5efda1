//! What a transport hands over of a request, whatever it asks for: by the protocol crate, or
//! past it.

use std::sync::Arc;

use rmcp::{
    RoleServer,
    model::{Extensions, ProtocolVersion, RequestId, RequestMetaObject},
    service::{Peer, RequestContext},
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wharf_core::service::CallableTool;

use crate::context_claims::PROGRESS_TOKEN;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What a client of the newer era declares with each request.
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// With one of these the client hears of its request before the answer.
const TOLD_MEANWHILE: [&str; 2] = [PROGRESS_TOKEN, "io.modelcontextprotocol/logLevel"];

/// Whether a request of 2026-07-28 has all that such a request needs, and wants to hear of nothing
/// but its answer.
pub(crate) fn is_plain(meta: &RequestMetaObject) -> bool {
    let members = &meta.0.0;
    // Reading them would cost a copy.
    let declares_nothing = || members.get(CAPABILITIES).and_then(Value::as_object).is_some_and(Map::is_empty);
    members.get(VERSION).is_some_and(|version| version == ProtocolVersion::V_2026_07_28.as_str())
        && !TOLD_MEANWHILE.iter().any(|key| members.contains_key(*key))
        && (declares_nothing() || meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty())
}

/// Where a request came from.
pub(crate) struct RequestOrigin {
    pub(crate) id: RequestId,
    pub(crate) meta: RequestMetaObject,
    pub(crate) extensions: Extensions,
    pub(crate) cancel: CancellationToken,
    /// Absent for a request of 2026-07-28 that wants to hear of nothing but its answer.
    pub(crate) peer: Option<Peer<RoleServer>>,
    /// The tool of a call, where its transport has looked it up.
    pub(crate) tool: Option<Arc<dyn CallableTool>>,
}

impl RequestOrigin {
    /// The version that the request names, else that of its connection.
    pub(crate) fn version(&self) -> Option<ProtocolVersion> {
        let of_connection = || self.peer.as_ref()?.peer_info().map(|info| info.protocol_version.clone());
        self.meta.protocol_version().or_else(of_connection)
    }
}

impl From<RequestContext<RoleServer>> for RequestOrigin {
    fn from(context: RequestContext<RoleServer>) -> Self {
        let RequestContext { ct, id, meta, extensions, peer, .. } = context;
        Self { id, meta, extensions, cancel: ct, peer: Some(peer), tool: None }
    }
}
