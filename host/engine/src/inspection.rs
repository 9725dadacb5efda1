//! A component and its requests, for the operator who decides about it.

use std::collections::BTreeMap;

use crate::about::ComponentAbout;
use wharf_core::{
    Digest, ToolDefinition,
    grant::Capability,
    service::offer::{PromptDefinition, ResourceTemplate},
};

/// What runs beside the component: it has the files of the session, and tells of itself.
const RUNNING: [&str; 3] = ["wharf:plugin/process@", "wharf:plugin/terminal@", "wharf:plugin/webview@"];

/// What a component is, before anything is granted to it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Inspection {
    /// Names its bytes.
    pub digest: Digest,
    /// Size of the component.
    pub bytes: u64,
    /// What it says of itself, and what it is made of.
    pub about: ComponentAbout,
    /// Every instance that it imports, as `package/interface@version`.
    pub imports: Vec<String>,
    /// Why it asks for each capability, in its own words.
    pub reasons: BTreeMap<Capability, String>,
    /// Its tools.
    pub tools: Vec<ToolDefinition>,
    /// Its prompts.
    pub prompts: Vec<PromptDefinition>,
    /// The beginnings of the addresses of its resources; none where it has none.
    pub claims: Vec<String>,
    /// Its templates of resources.
    pub templates: Vec<ResourceTemplate>,
    /// Whether each function that it exports is a tool.
    pub functions: bool,
    /// Exported functions that are no tools, each with the reason; only where each function is one.
    pub left_out: Vec<String>,
}

impl Inspection {
    /// The capabilities that it asks the operator for: its imports of the
    /// contract, without what every plugin has, and state for `wasi:keyvalue`. The rest of
    /// WASI is never a request, since some languages bring all of it: a plugin that sends
    /// HTTP requests gives a reason for it. One that was made for another host gives none,
    /// so its import counts.
    #[must_use]
    pub fn wanted_grants(&self) -> Vec<&str> {
        let mut wanted = wanted_grants(&self.imports);
        let imports_http = || self.imports.iter().any(|import| import.starts_with("wasi:http/outgoing-handler"));
        if self.reasons.contains_key(&Capability::Http) || (self.functions && imports_http()) {
            wanted.push(Capability::Http.as_str());
            wanted.sort_unstable();
        }
        wanted
    }

    /// Whether a grant of this capability changes anything for the component, also where it does not
    /// ask for it: whether an import leads there.
    #[must_use]
    pub fn has_use_for(&self, capability: Capability) -> bool {
        let has = |interfaces: &[&str]| {
            self.imports.iter().any(|import| interfaces.iter().any(|interface| import.starts_with(interface)))
        };
        match capability {
            Capability::State => has(&["wharf:plugin/state@", "wasi:keyvalue/"]),
            Capability::Events => has(&["wharf:plugin/events@"]) || has(&RUNNING),
            Capability::Workspace => has(&["wharf:plugin/workspace@", "wasi:filesystem/"]) || has(&RUNNING),
            Capability::Process => has(&["wharf:plugin/process@"]),
            Capability::Terminal => has(&["wharf:plugin/terminal@"]),
            Capability::WebView => has(&["wharf:plugin/webview@"]),
            Capability::Http => has(&["wasi:http/outgoing-handler@"]),
        }
    }
}

fn wanted_grants(imports: &[String]) -> Vec<&str> {
    let ours = imports.iter().filter_map(|import| import.strip_prefix("wharf:plugin/"));
    let mut wanted: Vec<_> = ours
        .map(|import| import.split('@').next().unwrap_or(import))
        .filter(|interface| !matches!(*interface, "caller" | "log" | "settings" | "types"))
        .collect();
    // No language's runtime brings it, so who imports it uses it.
    if imports.iter().any(|import| import.starts_with("wasi:keyvalue/")) {
        wanted.push(Capability::State.as_str());
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}
