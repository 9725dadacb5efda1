//! Hosts to test: a configuration, a data directory, and calls.

use std::{collections::BTreeMap, path::Path, sync::LazyLock};

use serde_json::{Map, Value, json};
use wharf::{Answer, Configuration, Context, Error, Host, TenantId, ToolService, Viewer};

use crate::{Data, Fixture, Server, TestedHost, attack_run::is_attack, component};

/// What the binary carries.
const BUNDLED: [&str; 6] = ["browser", "content-store", "planning", "playbook", "terminal", "workspace"];

/// The variable that has hosts under test run plugins in processes of their own.
pub const ISOLATED: &str = "WHARF_TEST_ISOLATED";
const IN_PROCESSES: &str = "[isolation]\nlevel = \"process\"\nahead = 0\n";

/// A configuration in the making: the guests `echo` and `hostile`, nothing
/// granted, every limit at its default.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    top: String,
    /// The lines of each table of limits.
    limits: BTreeMap<&'static str, String>,
    hostile_top: String,
    hostile_grants: String,
    plugins: String,
    bundled: Vec<&'static str>,
    bare: bool,
}

impl Setup {
    /// The guests, nothing granted.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Without the guests.
    #[must_use]
    pub fn bare() -> Self {
        Self { bare: true, ..Self::default() }
    }

    /// Lines before every table's.
    #[must_use]
    pub fn with(mut self, lines: &str) -> Self {
        self.top.push_str(&format!("{lines}\n"));
        self
    }

    /// A limit of every plugin's calls.
    #[must_use]
    pub fn limit(self, name: &str, value: u64) -> Self {
        self.limit_of("limits", name, value)
    }

    /// A limit of the host.
    #[must_use]
    pub fn host_limit(self, name: &str, value: u64) -> Self {
        self.limit_of("host.limits", name, value)
    }

    /// Grants `hostile` state, with further lines of that grant.
    #[must_use]
    pub fn state(self, lines: &str) -> Self {
        self.grant("state", lines)
    }

    /// Grants `hostile` processes, with further lines of that grant.
    #[must_use]
    pub fn processes(self, lines: &str) -> Self {
        self.grant("process", lines)
    }

    /// Grants `hostile` the files of its session, with further lines of that
    /// grant.
    #[must_use]
    pub fn workspace(self, lines: &str) -> Self {
        self.grant("workspace", lines)
    }

    /// A limit of processes and workspaces.
    #[must_use]
    pub fn process_limit(self, name: &str, value: u64) -> Self {
        self.limit_of("process.limits", name, value)
    }

    /// Grants `hostile` terminals, with further lines of that grant.
    #[must_use]
    pub fn terminals(self, lines: &str) -> Self {
        self.grant("terminal", lines)
    }

    /// Grants `hostile` web pages, with further lines of that grant.
    #[must_use]
    pub fn webviews(self, lines: &str) -> Self {
        self.grant("webview", lines)
    }

    /// A limit of web pages.
    #[must_use]
    pub fn webview_limit(self, name: &str, value: u64) -> Self {
        self.limit_of("webview.limits", name, value)
    }

    /// Grants terminals to clients over HTTP, with further lines of that grant.
    #[must_use]
    pub fn own_terminals(self, lines: &str) -> Self {
        self.with_tables(&format!("[plugin.host.grants.terminal]\nreason = \"a test\"\n{lines}"))
    }

    /// Grants web pages to clients over HTTP, with further lines of that grant.
    #[must_use]
    pub fn own_pages(self, lines: &str) -> Self {
        self.with_tables(&format!("[plugin.host.grants.webview]\nreason = \"a test\"\n{lines}"))
    }

    /// A limit of terminals.
    #[must_use]
    pub fn terminal_limit(self, name: &str, value: u64) -> Self {
        self.limit_of("terminal.limits", name, value)
    }

    /// A limit of streams of events.
    #[must_use]
    pub fn stream_limit(self, name: &str, value: u64) -> Self {
        self.limit_of("stream.limits", name, value)
    }

    /// A limit of HTTP.
    #[must_use]
    pub fn http_limit(self, name: &str, value: u64) -> Self {
        self.limit_of("http.limits", name, value)
    }

    /// Grants `hostile` these requests, with further lines of that grant.
    #[must_use]
    pub fn requests(self, requests: &[&str], lines: &str) -> Self {
        self.grant("http", &format!("requests = {requests:?}\n{lines}"))
    }

    /// A limit of requests.
    #[must_use]
    pub fn request_limit(self, name: &str, value: u64) -> Self {
        self.limit_of("request.limits", name, value)
    }

    /// Lines of the table of `hostile` itself.
    #[must_use]
    pub fn hostile(mut self, lines: &str) -> Self {
        self.hostile_top.push_str(&format!("{lines}\n"));
        self
    }

    /// Further tables.
    #[must_use]
    pub fn with_tables(mut self, lines: &str) -> Self {
        self.plugins.push_str(&format!("{lines}\n"));
        self
    }

    /// Grants `hostile` events.
    #[must_use]
    pub fn events(self) -> Self {
        self.grant("events", "")
    }

    /// Adds the planning plugin, with state.
    #[must_use]
    pub fn planning(mut self) -> Self {
        self.bundled.push("planning");
        self.plugin("planning", &component("planning"), "[plugin.planning.grants.state]\nreason = \"a test\"")
    }

    /// Adds a bundled plugin as it is where nothing is configured, with further
    /// lines of its tables.
    ///
    /// # Panics
    /// Where there is none of this name.
    #[must_use]
    pub fn bundled(mut self, name: &str, lines: &str) -> Self {
        let known = BUNDLED.iter().find(|known| **known == name);
        self.bundled.push(known.unwrap_or_else(|| panic!("no plugin `{name}` is bundled")));
        if !lines.is_empty() {
            self.plugins.push_str(&format!("[plugin.{name}]\n{lines}\n"));
        }
        self
    }

    /// Adds a plugin, with further lines of its tables.
    #[must_use]
    pub fn plugin(mut self, name: &str, source: &Path, lines: &str) -> Self {
        self.plugins.push_str(&format!("[plugin.{name}]\nsource = '{}'\n{lines}\n", source.display()));
        self
    }

    fn limit_of(mut self, table: &'static str, name: &str, value: u64) -> Self {
        self.limits.entry(table).or_default().push_str(&format!("{name} = {value}\n"));
        self
    }

    fn grant(mut self, capability: &str, lines: &str) -> Self {
        self.hostile_grants.push_str(&format!("[plugin.hostile.grants.{capability}]\nreason = \"a test\"\n{lines}\n"));
        self
    }

    /// What it amounts to in `wharf.toml`.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { top, limits, hostile_top, hostile_grants, plugins, bundled, bare } = self;
        let guest =
            |name: &str| format!("[plugin.{name}]\nsource = '{}'\n", component(&format!("guest-{name}")).display());
        // The other plugins of the binary are not tested here.
        let off = |name: &str| format!("[plugin.{name}]\nenabled = false\n");
        let without = BUNDLED.iter().filter(|name| !bundled.contains(name)).map(|name| off(name));
        let without: String = without.collect();
        let (echo, guest) = if *bare { Default::default() } else { (guest("echo"), guest("hostile")) };
        let limits: String = limits.iter().map(|(table, lines)| format!("[{table}]\n{lines}")).collect();
        let isolation =
            if std::env::var_os(ISOLATED).is_some() && !plugins.contains("[isolation]") { IN_PROCESSES } else { "" };
        format!("{top}\n{limits}{echo}{guest}{hostile_top}{hostile_grants}{plugins}{without}{isolation}")
    }

    /// Checked.
    ///
    /// # Panics
    /// Where the configuration is refused.
    #[must_use]
    pub fn configuration(&self) -> Configuration {
        Configuration::parse(&self.text(), Path::new("/")).expect("a configuration that is accepted")
    }

    /// A host on a data directory of its own.
    ///
    /// # Panics
    /// Where it does not open, or refuses a plugin.
    pub async fn open(&self) -> Fixture {
        let fixture = self.open_in(Data::new()).await;
        if is_attack() {
            fixture.works().await;
            fixture.call("hostile__remaining", json!({"milliseconds": 0})).await.ok();
            return fixture;
        }
        assert!(fixture.host.rejected().is_empty(), "{:?}", fixture.host.rejected());
        // What the first call of a plugin does once must not count in a test.
        fixture.works().await;
        if fixture.host.tools(viewer()).iter().any(|tool| tool.name == "hostile__remaining") {
            fixture.call("hostile__remaining", json!({"milliseconds": 0})).await.ok();
        }
        fixture
    }

    /// A host on this data directory, whatever it makes of the plugins.
    ///
    /// # Panics
    /// Where it does not open.
    pub async fn open_in(&self, data: Data) -> Fixture {
        if is_attack() {
            return Fixture { host: TestedHost::named(&self.text(), &data), data };
        }
        let host = Host::open(self.configuration(), data.path()).await.expect("the host opens");
        Fixture { host: host.into(), data }
    }
}

impl Server {
    /// Starts `wharf serve --http 127.0.0.1:0` on a data directory of its own, and waits until
    /// every plugin is compiled.
    ///
    /// # Panics
    /// Where it does not serve.
    #[must_use]
    pub fn start(setup: &Setup) -> Self {
        Self::start_with(setup, &[])
    }

    /// The same with further arguments.
    ///
    /// # Panics
    /// Where it does not serve.
    #[must_use]
    pub fn start_with(setup: &Setup, arguments: &[&str]) -> Self {
        let data = Data::new();
        data.write("wharf.toml", setup.text());
        Self::start_in(data, arguments)
    }
}

/// A context of a tenant and a session.
///
/// # Panics
/// Where one of them is no legal id.
#[must_use]
pub fn context(tenant: &str, session: &str) -> Context {
    Context::new(tenant.parse().expect("a legal tenant"), session.parse().expect("a legal session"))
}

/// The viewer of what is served: the tenant of this machine, which may use every plugin.
#[must_use]
pub fn viewer() -> Viewer<'static> {
    static LOCAL: LazyLock<TenantId> = LazyLock::new(TenantId::local);
    Viewer::of_tenant(&LOCAL)
}

/// The members of a JSON object.
///
/// # Panics
/// Where it is not one.
#[must_use]
pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("no object: {other}"),
    }
}

/// What a hostile guest reported: the JSON in its one text.
///
/// # Panics
/// Where the call failed, or its answer is no such report.
pub fn found(outcome: Result<Answer, Error>) -> Value {
    let answer = outcome.expect("the guest answers");
    let text = answer.content.first().and_then(|part| part.as_text()).expect("a text");
    serde_json::from_str(text).expect("a report is JSON")
}
