//! The other yardstick: an MCP server on the same protocol library that echoes
//! without any Wasm.

use std::{borrow::Cow, sync::Arc};

use anyhow::Result;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::stdio_pipes,
};
use serde_json::json;

#[derive(Clone)]
struct Echo {
    tool: Tool,
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default().to_owned();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

pub(crate) fn serve() -> Result<()> {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let schema = schema.as_object().cloned().unwrap_or_default();
    let echo = Echo { tool: Tool::new(Cow::Borrowed("echo__echo"), Cow::Borrowed("Echoes."), Arc::new(schema)) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = echo.serve(stdio_pipes()).await?;
        server.waiting().await?;
        anyhow::Ok(())
    })?;
    runtime.shutdown_background();
    Ok(())
}
