//! Serving over HTTP: to whom, and where.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Result;
use tokio_util::sync::CancellationToken;
use wharf::{
    Channel, ContextRules, Host, ToolService as _,
    configuration::{HttpSection, TlsFiles},
    http::{CONSOLE_FILES, HttpAddress, HttpClient, HttpError, HttpServer, HttpServices, HttpSettings},
    mcp::McpService,
};

use super::{ServeArguments, clients, info, place::Listening};
use crate::{exit::Unusable, global::absolute};

/// HTTP that is served.
pub(super) struct HttpServing {
    pub(super) url: String,
    pub(super) token_file: Option<PathBuf>,
    pub(super) clients: usize,
    pub(super) task: tokio::task::JoinHandle<()>,
}

impl ServeArguments {
    pub(super) fn serve_http(
        &self,
        host: &Host,
        data: &Path,
        listening: Listening,
        rules: &ContextRules,
        section: HttpSection,
        shutdown: CancellationToken,
    ) -> Result<HttpServing> {
        let (clients, files) = self.clients(&section, data)?;
        let tls = section.tls.as_ref().map(TlsFiles::read).transpose().map_err(|error| Unusable::of(&error))?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        // Those that an agent may be.
        let number = clients.iter().filter(|client| !client.rights.operator).count();
        let mut settings = HttpSettings::of_clients(clients);
        settings.oauth = section.oauth.clone().map(wharf::http::protected_resource);
        settings.limits = section.limits;
        (settings.hosts, settings.origins) = (section.hosts, section.origins);
        (settings.tls, settings.allow_public) = (tls, self.http_allow_public);
        settings.version = env!("CARGO_PKG_VERSION").to_owned();
        let tools = wharf::mcp::Served::new(Arc::new(host.clone()), Some(Arc::new(host.clone())));
        let services = HttpServices {
            protocol: Arc::new(McpService::new(tools, info(), settings.limits.clone()).of_host(host)),
            tracer: host.tracer(),
            request_memory: host.request_memory().unwrap_or_default(),
            terminals: host.terminal_service(),
            streams: host.streams().clone(),
            rules: ContextRules {
                channel: Channel::Open,
                // Clients over HTTP are many, and a new session is of one.
                fallback_session: rules.fallback_session.clone().filter(|_| !self.is_new()),
                ..rules.clone()
            },
        };
        let server = match listening {
            Listening::Address(address) => HttpServer::bind(address, services, settings),
            #[cfg(target_os = "linux")]
            Listening::Passed(socket) => HttpServer::take_over(socket, services, settings),
        };
        let server = server.map_err(|error| match error {
            HttpError::Public { .. } => Unusable(format!("{error}: [http.tls] in wharf.toml, or --http-allow-public")),
            error => Unusable::of(&error),
        })?;
        let server = server
            .with_metrics(Arc::new(host.clone()))
            .with_front_ends(host.front_end_service())
            .with_pages(host.web_pages())
            .with_refusals(host.refusal_sink())
            .with_operator(host.all_hosts(data))
            .with_console(CONSOLE_FILES);
        let server = match host.elsewhere() {
            Some(elsewhere) => server.with_elsewhere(elsewhere),
            None => server,
        };
        let url = match server.address() {
            HttpAddress::Port(address) => format!("{scheme}://{address}"),
            socket => socket.to_string(),
        };
        if let (HttpAddress::Port(address), false) = (server.address(), CONSOLE_FILES.is_empty()) {
            let place = console_address(scheme, address);
            let console = server.console();
            host.serve_console(move || Ok(format!("{place}#{}", console.link()?)));
        }
        let token_file = files.default.clone();
        let renewing = tokio::spawn(clients::renew(host.token_settings(), server.clients(), files));
        let serving = async move {
            server.serve(shutdown).await;
            renewing.abort();
        };
        Ok(HttpServing { url, token_file, clients: number, task: tokio::spawn(serving) })
    }

    /// Whether this command makes a token of the data directory's own.
    pub(super) fn makes_a_token(&self, section: &HttpSection) -> bool {
        self.http.is_some() && self.http_token_file.is_none() && section.tokens.is_empty() && section.oauth.is_none()
    }

    /// The clients that may call, and the files with tokens of this host alone.
    fn clients(&self, section: &HttpSection, data: &Path) -> Result<(Vec<HttpClient>, clients::TokenFiles)> {
        let file = self.http_token_file.as_deref().map(absolute).transpose()?;
        let nobody = section.tokens.is_empty() && section.oauth.is_none();
        let default = file.or_else(|| nobody.then(|| data.join("http-token")));
        let files = clients::TokenFiles { default, operator: data.join("operator-token") };
        Ok((clients::named(&section.tokens, &files)?, files))
    }
}

/// Where a browser of this machine finds the console of a server that listens at this address.
fn console_address(scheme: &str, address: &SocketAddr) -> String {
    match address.ip().is_unspecified() {
        true => format!("{scheme}://localhost:{}/console", address.port()),
        false => format!("{scheme}://{address}/console"),
    }
}
