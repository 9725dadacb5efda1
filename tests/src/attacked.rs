//! A binary that somebody names, in the place of the library: what a test does to a host, it does to that.
//!
//! `cargo xtask attack` has the tests attack it. A test that looks into the library, or moves the clock of its
//! own process, says so and shows nothing of the binary.

use std::{collections::BTreeMap, fmt, io, ops::Deref, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Mutex,
};
use wharf::{Answer, Code, Content, Context, Error, Host, ToolService as _};

use crate::{
    Data, Reply, Server,
    attack_run::NOT_OF_A_BINARY,
    blocking,
    called::{asked, called},
    viewer, wharf,
};

/// The tenants that most tests serve.
const TENANTS: [&str; 5] = ["theirs", "other", "acme", "globex", "stranger"];

/// The host that a test asks: of the library, or the named binary.
#[derive(Debug)]
pub struct TestedHost(Tested);

enum Tested {
    Library(Host),
    Named(Arc<NamedHost>),
}

impl fmt::Debug for Tested {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library(host) => host.fmt(formatter),
            Self::Named(host) => host.server.fmt(formatter),
        }
    }
}

/// The host of the library.
impl Deref for TestedHost {
    type Target = Host;

    fn deref(&self) -> &Host {
        match &self.0 {
            Tested::Library(host) => host,
            Tested::Named(_) => panic!("{NOT_OF_A_BINARY}: this test looks into the library"),
        }
    }
}

impl From<Host> for TestedHost {
    fn from(host: Host) -> Self {
        Self(Tested::Library(host))
    }
}

/// A plugin that a host did not load.
#[derive(Debug, Clone)]
pub struct RejectedPlugin {
    /// Its name in the configuration.
    pub name: String,
    /// Why, for the operator.
    pub reason: String,
}

impl TestedHost {
    /// The plugins that it did not load.
    #[must_use]
    pub fn rejected(&self) -> Vec<RejectedPlugin> {
        match &self.0 {
            Tested::Library(host) => {
                let rejected = host.rejected().into_iter();
                rejected.map(|plugin| RejectedPlugin { name: plugin.name.to_string(), reason: plugin.reason }).collect()
            }
            Tested::Named(host) => host.rejected(),
        }
    }

    /// The names of all tools that a client of the tenant `local` sees.
    pub async fn tool_names(&self) -> Vec<String> {
        match &self.0 {
            Tested::Library(host) => host.tools(viewer()).iter().map(|tool| tool.name.clone()).collect(),
            Tested::Named(host) => host.tool_names().await,
        }
    }

    /// Starts the named binary on this directory.
    pub(crate) fn named(configuration: &str, data: &Data) -> Self {
        Self(Tested::Named(Arc::new(NamedHost::start(configuration, data))))
    }

    /// The named binary, where it is that.
    pub(crate) fn as_named(&self) -> Option<Arc<NamedHost>> {
        match &self.0 {
            Tested::Library(_) => None,
            Tested::Named(host) => Some(Arc::clone(host)),
        }
    }
}

/// A named binary that serves.
pub(crate) struct NamedHost {
    server: Server,
    tenants: Mutex<ServedTenants>,
}

/// The configuration that it serves by, with a token for each tenant.
struct ServedTenants {
    text: String,
    tokens: BTreeMap<String, String>,
}

impl ServedTenants {
    fn add(&mut self, tenant: &str) -> String {
        let token = format!("token-of-{tenant}-0123456789abcdef0123456789abcdef");
        self.tokens.insert(tenant.to_owned(), token.clone());
        token
    }

    fn write(&self, data: &Data) {
        let mut text = self.text.clone();
        for (tenant, token) in self.tokens.iter().filter(|(tenant, _)| *tenant != "local") {
            let file = data.write_private(&format!("token-{tenant}"), token);
            let file = file.display();
            text.push_str(&format!(
                "\n[[http.tokens]]\nname = \"of-{tenant}\"\nfile = '{file}'\ntenant = \"{tenant}\"\n"
            ));
        }
        data.write("wharf.toml", text);
    }
}

impl NamedHost {
    fn start(configuration: &str, data: &Data) -> Self {
        let mut tenants = ServedTenants { text: configuration.to_owned(), tokens: BTreeMap::new() };
        for tenant in TENANTS {
            tenants.add(tenant);
        }
        tenants.write(data);
        // The token of the directory reads the metrics, too.
        let own = data.path().join("http-token");
        let server = Server::start_in(data.clone(), &["--http-token-file", own.to_str().expect("text")]);
        tenants.tokens.insert("local".to_owned(), server.token.clone());
        Self { server, tenants: Mutex::new(tenants) }
    }

    /// The token of a tenant. It takes the host seconds to hear of a further one.
    async fn token(&self, tenant: &str) -> String {
        let mut tenants = self.tenants.lock().await;
        if let Some(token) = tenants.tokens.get(tenant) {
            return token.clone();
        }
        let token = tenants.add(tenant);
        tenants.write(&self.server.data);
        // Whatever else the test does waits for it: a future that is sent to another thread cannot.
        blocking::until(format_args!("the tenant {tenant} is served"), || {
            self.server.ask_as(&token, "GET", "/v1/streams", None).status != 401
        });
        token
    }

    async fn message(&self, token: &str, headers: &str, message: &Value) -> io::Result<Reply> {
        let headers =
            format!("Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n{headers}");
        self.ask(token, "POST /mcp", &headers, &message.to_string()).await
    }

    async fn ask(&self, token: &str, what: &str, headers: &str, body: &str) -> io::Result<Reply> {
        let request = format!(
            "{what} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(self.server.address).await?;
        // It may have refused it by its head alone.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer).await;
        let reply = Reply::of(&String::from_utf8_lossy(&answer));
        reply.ok_or_else(|| read.err().unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into()))
    }

    /// Calls a tool. Dropping the future takes the call back.
    pub(crate) async fn call(&self, context: &Context, tool: &str, arguments: Value) -> Result<Answer, Error> {
        let token = self.token(context.tenant.as_str()).await;
        let mut named = json!({ "dev.wharf/sessionId": context.session });
        if let Some(assistant) = &context.assistant {
            named["dev.wharf/assistantId"] = json!(assistant);
        }
        if let Some(thread) = &context.thread {
            named["dev.wharf/threadId"] = json!(thread);
        }
        let (headers, message) = called(tool, &arguments, &named);
        let asked = self.message(&token, &headers, &message).await;
        let lost = |why: &dyn fmt::Display| Error::new(Code::Internal, format!("the host does not answer: {why}"));
        let reply = asked.map_err(|error| lost(&error))?;
        outcome(reply.said().ok_or_else(|| lost(&reply.head))?)
    }

    /// What the operator reads of its plugins, once none is being compiled.
    fn rejected(&self) -> Vec<RejectedPlugin> {
        let data = &self.server.data;
        let listed = || {
            let list = wharf(["plugin", "list", "--json"]).config(&data.path().join("wharf.toml")).data(data.path());
            let listed: Value = serde_json::from_str(&list.run().out).map_err(|error| error.to_string())?;
            let plugins = listed["plugins"].as_array().cloned().ok_or("no plugins")?;
            match plugins.iter().find(|plugin| plugin["state"] == "compiling" || plugin["hosts"] == 0) {
                Some(waiting) => Err(waiting.to_string()),
                None => Ok(plugins),
            }
        };
        let plugins = blocking::until("no plugin is being compiled", listed);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let rejected = plugins.iter().filter(|plugin| plugin["state"] == "rejected");
        rejected.map(|plugin| RejectedPlugin { name: text(&plugin["name"]), reason: text(&plugin["reason"]) }).collect()
    }

    async fn tool_names(&self) -> Vec<String> {
        let (mut names, mut cursor) = (Vec::new(), None::<Value>);
        loop {
            let params = cursor.take().map_or(json!({}), |cursor| json!({"cursor": cursor}));
            let (headers, message) = asked("tools/list", params, &json!({}));
            let reply = self.message(&self.server.token, &headers, &message).await.expect("an answer");
            let mut said = reply.said().expect("a message");
            let tools = said["result"]["tools"].as_array().expect("a list of tools");
            names.extend(tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned));
            match said["result"]["nextCursor"].take() {
                Value::Null => return names,
                further => cursor = Some(further),
            }
        }
    }

    /// Calls that run and that wait, by its metrics.
    pub(crate) async fn load(&self) -> (u64, u64) {
        let metrics = self.ask(&self.server.token, "GET /metrics", "", "").await.expect("metrics").body;
        let gauge = |name: &str| {
            let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.trim().parse().ok()).unwrap_or(u64::MAX)
        };
        (gauge("wharf_calls_running"), gauge("wharf_calls_waiting"))
    }
}

/// What a call came to, as the library would say it.
fn outcome(mut message: Value) -> Result<Answer, Error> {
    if let Some(refused) = message.get("error") {
        let text = refused["message"].as_str().unwrap_or_default();
        // The protocol has one code for a request that is too large and for one that is malformed.
        let code = if text.contains("(limit `") { "limit" } else { "invalid" };
        return Err(Error::new(Code::from_guest(code), text));
    }
    let mut result = message["result"].take();
    let mut meta = result["_meta"].take();
    if let Some(failed) = meta.get("dev.wharf/error") {
        let (code, text) =
            (failed["code"].as_str().unwrap_or_default(), failed["message"].as_str().unwrap_or_default());
        let error = Error::new(Code::from_guest(code), text);
        return Err(Error { retryable: failed["retryable"] == true, ..error });
    }
    Ok(Answer {
        is_error: result["isError"] == true,
        structured: Some(result["structuredContent"].take()).filter(|structured| !structured.is_null()),
        meta: meta.as_object_mut().map(std::mem::take).unwrap_or_default(),
        content: result["content"].as_array().into_iter().flatten().map(part).collect(),
        ..Answer::default()
    })
}

fn part(block: &Value) -> Content {
    let text = |value: &Value| value.as_str().map(|text| text.as_bytes().to_vec());
    let decoded = |value: &Value| value.as_str().and_then(|base64| STANDARD.decode(base64).ok());
    let about = if block["type"] == "resource" { &block["resource"] } else { block };
    let data = text(&about["text"]).or_else(|| decoded(&about["data"])).or_else(|| decoded(&about["blob"]));
    let mime_type = about["mimeType"].as_str().unwrap_or("text/plain").to_owned();
    let meta = block["_meta"].as_object().cloned().unwrap_or_default();
    Content { mime_type, data: data.unwrap_or_default(), meta }
}
