//! A server for each test.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use wharf_completion::{
    Streams,
    stream::{Message, OpenStream, StreamWriter, Turns},
};
use wharf_core::{
    Code, Context, ContextRules, Error, HttpLimits, RequestMemory, StreamLimits, StreamOwner, TenantId, Token,
};
use wharf_http::{
    HttpServer, HttpServices, HttpSettings, ProtocolAnswer, ProtocolClient, ProtocolEndpoint, ProtocolRequest,
    ProtocolService,
};

use crate::{client::Client, shells::Shells};

pub(crate) struct Served {
    pub(crate) client: Client,
    pub(crate) streams: Streams,
    pub(crate) shutdown: CancellationToken,
    pub(crate) serving: JoinHandle<()>,
}

/// A protocol that takes nothing up.
struct Nothing;

impl ProtocolService for Nothing {
    fn endpoint(&self, _: ProtocolClient) -> Box<dyn ProtocolEndpoint> {
        Box::new(Self)
    }
}

impl ProtocolEndpoint for Nothing {
    fn respond(&self, _: ProtocolRequest) -> ProtocolAnswer {
        Box::pin(async { Err(Error::new(Code::Invalid, "this is no message").into()) })
    }

    fn is_unused(&self) -> bool {
        true
    }
}

pub(crate) fn context(session: &str) -> Context {
    Context::new(TenantId::local(), session.parse().expect("legal"))
}

pub(crate) fn start() -> Served {
    start_with(|_| {}, StreamLimits::default())
}

pub(crate) fn start_with(change: impl FnOnce(&mut HttpSettings), streams: StreamLimits) -> Served {
    let text = Token::generate().expect("randomness");
    let mut settings = HttpSettings::new(Token::new(&text).expect("legal"));
    change(&mut settings);
    let streams = Streams::new(streams);
    let services = services(streams.clone());
    let server = HttpServer::bind("127.0.0.1:0".parse().expect("an address"), services, settings).expect("listens");
    let client = Client {
        address: server.address().port().expect("a port"),
        token: text,
        headers: vec![("wharf-session", "s".into())],
    };
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn(server.serve(shutdown.clone()));
    Served { client, streams, shutdown, serving }
}

/// What a server needs, with terminals of its own.
pub(crate) fn services(streams: Streams) -> HttpServices {
    HttpServices {
        protocol: Arc::new(Nothing),
        tracer: None,
        request_memory: RequestMemory::default(),
        terminals: Arc::new(Shells::new(streams.clone())),
        streams,
        rules: ContextRules::local(),
    }
}

/// Limits under which a test can wait for what usually takes long.
pub(crate) fn quick(settings: &mut HttpSettings) {
    settings.limits = HttpLimits { heartbeat_milliseconds: 20, ..HttpLimits::default() };
}

impl Served {
    /// A stream of the session `s` whose source decides its turns.
    pub(crate) fn stream(&self) -> StreamWriter {
        let request = OpenStream { title: "test", turns: Turns::Told, held_by: None };
        self.streams.open(StreamOwner::host(&context("s")), request).expect("opens")
    }
}

pub(crate) fn say(writer: &StreamWriter, text: &str) -> u64 {
    writer.message(Message { text, cursors: None }).expect("open")
}
