//! A call as a request of the protocol.

use serde_json::{Value, json};

/// The headers and the message of a call.
pub(crate) fn called(tool: &str, arguments: &Value, context: &Value) -> (String, Value) {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    for (name, value) in context.as_object().into_iter().flatten() {
        meta[name] = value.clone();
    }
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = format!("Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
    (headers, request)
}
