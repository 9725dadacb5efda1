//! What the tools of new plugins do: the same in each language.

use crate::capability::PluginCapability;

/// A tool of a new plugin, which uses one capability.
pub(crate) struct TemplateTool {
    pub(crate) capability: PluginCapability,
    /// Its name, and the module that has it.
    pub(crate) name: &'static str,
    pub(crate) module: &'static str,
    pub(crate) does: &'static str,
    /// Why it asks, for the operator.
    pub(crate) reason: &'static str,
    /// What `wharf.toml` grants beside the reason, for trying it.
    pub(super) grant: &'static str,
    /// What `cases.toml` says of its calls.
    pub(super) cases: &'static [&'static str],
}

/// What the tools of all languages do.
pub(crate) const TOOLS: [TemplateTool; 6] = [
    TemplateTool {
        capability: PluginCapability::State,
        name: "count_visit",
        module: "visits",
        does: "counts the visits of somebody in this session",
        reason: "counts visits",
        grant: "",
        cases: &[
            "name = \"a visit is counted\"\narguments = { visitor = \"Ada\" }\nsession = \"one\"\nstructured = { count = 1 }\n",
            "name = \"the next visit counts on\"\narguments = { visitor = \"Ada\" }\nsession = \"one\"\nstructured = { count = 2 }\n",
            "name = \"another session has its own count\"\narguments = { visitor = \"Ada\" }\nsession = \"two\"\nstructured = { count = 1 }\n",
        ],
    },
    TemplateTool {
        capability: PluginCapability::Process,
        name: "compiler_version",
        module: "compiler",
        does: "starts `cc --version` and tells its first line",
        reason: "asks the compiler for its version",
        grant: "programs = [\"cc\"]\n",
        cases: &["name = \"the compiler has a version\"\ntext_contains = \".\"\n"],
    },
    TemplateTool {
        capability: PluginCapability::Terminal,
        name: "compute",
        module: "sums",
        does: "computes an expression with `python3` in a terminal",
        reason: "computes with an interpreter",
        grant: "programs = [\"python3\"]\n",
        cases: &["name = \"a product\"\narguments = { expression = \"6 * 7\" }\ntext_contains = \"42\"\n"],
    },
    TemplateTool {
        capability: PluginCapability::Webview,
        name: "page_title",
        module: "titles",
        does: "tells the title of a web page",
        reason: "reads the titles of pages",
        grant: "origins = [\"https://example.com\"]\n",
        cases: &[
            "name = \"another origin is denied\"\narguments = { url = \"https://example.org/\" }\nerror = \"denied\"\n",
        ],
    },
    TemplateTool {
        capability: PluginCapability::Http,
        name: "fetch",
        module: "fetching",
        does: "fetches an address and tells its status and size",
        reason: "fetches what it is told to",
        grant: "requests = [\"https://example.com/*\"]\n",
        cases: &[
            "name = \"another server is denied\"\narguments = { url = \"https://example.org/\" }\nerror = \"denied\"\n",
        ],
    },
    TemplateTool {
        capability: PluginCapability::Workspace,
        name: "write_note",
        module: "notes",
        does: "writes a note into the workspace of the session",
        reason: "writes notes into the workspace",
        grant: "access = \"write\"\n",
        cases: &[
            "name = \"a note is written\"\narguments = { text = \"remember\" }\nstructured = { path = \"note.txt\", bytes = 8 }\n",
        ],
    },
];
