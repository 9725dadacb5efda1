//! The other yardstick: an MCP server on the same protocol library that echoes
//! without any Wasm, over standard input and output or over HTTP; or with bare
//! wasmtime behind it, and nothing else.

use std::{borrow::Cow, io, path::Path, sync::Arc};

use anyhow::Result;
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio_pipes,
        streamable_http_server::session::never::NeverSessionManager,
    },
};
use serde_json::json;
use tokio::net::TcpListener;

use crate::bare::Bare;

#[derive(Clone)]
struct Echo {
    tool: Tool,
    /// What echoes; without it, this server itself.
    bare: Option<Arc<Bare>>,
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
        if let Some(bare) = &self.bare {
            let arguments = serde_json::Value::Object(arguments).to_string();
            let answer = bare.call("echo", &arguments).await;
            let answer = answer.map_err(|error| ErrorData::internal_error(format!("{error:#}"), None))?;
            let text = String::from_utf8_lossy(&answer).into_owned();
            return Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
        }
        let text = arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default().to_owned();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

fn echo(bare: Option<Bare>) -> Echo {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let schema = schema.as_object().cloned().unwrap_or_default();
    let tool = Tool::new(Cow::Borrowed("echo__echo"), Cow::Borrowed("Echoes."), Arc::new(schema));
    Echo { tool, bare: bare.map(Arc::new) }
}

/// Over standard input and output; where `code` is named, with that behind it.
pub(crate) fn serve(code: Option<&Path>) -> Result<()> {
    let bare = code.map(Bare::load_compiled).transpose()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = echo(bare).serve(stdio_pipes()).await?;
        server.waiting().await?;
        anyhow::Ok(())
    })?;
    runtime.shutdown_background();
    Ok(())
}

/// Over HTTP as it is fastest: without sessions, answers as JSON, no router before it.
pub(crate) fn serve_http() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let echo = echo(None);
        let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
        let service = move || Ok::<_, io::Error>(echo.clone());
        let service = StreamableHttpService::new(service, Arc::new(NeverSessionManager::default()), config);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        eprintln!("serving url=\"http://{}\"", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = TowerToHyperService::new(service.clone());
            // The client that measures sees a connection that breaks.
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}
