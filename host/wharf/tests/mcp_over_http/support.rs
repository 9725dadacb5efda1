//! A server for each test.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use wharf::{
    ContextRules,
    http::{HttpServer, HttpServices, HttpSettings, RequestMemory, Token},
    limit::{HttpLimits, StreamLimits},
    mcp::McpService,
    stream::Streams,
};

use crate::{
    client::Client,
    named_tools::Named,
    shells::Shells,
    tools::{Tools, info},
};

pub(crate) struct Served {
    pub(crate) client: Client,
    pub(crate) tools: Arc<Tools>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) serving: JoinHandle<()>,
}

pub(crate) fn start() -> Served {
    start_with(|_| {})
}

pub(crate) fn start_with(change: impl FnOnce(&mut HttpSettings)) -> Served {
    let text = Token::generate().expect("randomness");
    let mut settings = HttpSettings::new(Token::new(&text).expect("legal"));
    change(&mut settings);
    let streams = Streams::new(StreamLimits::default());
    let tools = Arc::new(Tools::default());
    let served = wharf::mcp::Served::new(Arc::new(Named(Arc::clone(&tools))), None);
    let services = HttpServices {
        protocol: Arc::new(McpService::new(served, info(), settings.limits.clone())),
        tracer: None,
        request_memory: RequestMemory::default(),
        terminals: Arc::new(Shells::new(streams.clone())),
        streams,
        rules: ContextRules::local(),
    };
    let server = HttpServer::bind("127.0.0.1:0".parse().expect("an address"), services, settings).expect("listens");
    let client = Client {
        address: server.address().port().expect("a port"),
        token: text,
        headers: vec![("wharf-session", "s".into())],
    };
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn(server.serve(shutdown.clone()));
    Served { client, tools, shutdown, serving }
}

/// Limits under which a test can wait for what usually takes long.
pub(crate) fn quick(settings: &mut HttpSettings) {
    settings.limits = HttpLimits { heartbeat_milliseconds: 20, ..HttpLimits::default() };
}
