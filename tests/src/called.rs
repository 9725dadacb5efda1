//! Requests of the protocol.

use serde_json::{Value, json};

/// The headers and the message of a call.
pub(crate) fn called(tool: &str, arguments: &Value, context: &Value) -> (String, Value) {
    let (headers, request) = asked("tools/call", json!({"name": tool, "arguments": arguments}), context);
    (format!("{headers}Mcp-Name: {tool}\r\n"), request)
}

/// The headers and the message of a request that names nothing.
pub(crate) fn asked(method: &str, mut params: Value, context: &Value) -> (String, Value) {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    for (name, value) in context.as_object().into_iter().flatten() {
        meta[name] = value.clone();
    }
    params["_meta"] = meta;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    (format!("Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n"), request)
}
