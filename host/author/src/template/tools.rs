//! What the tools of new plugins do: the same in each language.

use crate::{capability::PluginCapability, language::Language};

/// A tool of a new plugin.
pub(crate) struct TemplateTool {
    /// What it needs from the operator; the first tool needs nothing.
    pub(crate) request: Option<TemplateRequest>,
    /// Its name, and the module that has it.
    pub(crate) name: &'static str,
    pub(crate) module: &'static str,
    pub(crate) does: &'static str,
    /// The text of the module.
    pub(super) source: TemplateSource,
    /// What `cases.toml` says of its calls.
    pub(super) cases: &'static [TemplateCase],
}

/// A capability, with all that `wharf.toml` says of it.
pub(crate) struct TemplateRequest {
    pub(crate) capability: PluginCapability,
    /// Why it asks, for the operator.
    pub(crate) reason: &'static str,
    /// What is granted beside the reason, for trying it.
    pub(super) grant: &'static str,
}

/// The text of a module in each language. Both kinds of JavaScript share one.
pub(crate) struct TemplateSource {
    pub(super) rust: &'static str,
    /// Its native tests, where they show something.
    pub(super) rust_tests: Option<&'static str>,
    pub(super) javascript: &'static str,
    pub(super) python: &'static str,
}

/// A call of a tool, and what is expected of its answer.
pub(crate) struct TemplateCase {
    pub(super) call: &'static str,
    pub(super) expected: &'static str,
    /// The same in TypeScript and JavaScript, where their engine says it in other words.
    pub(super) expected_of_javascript: Option<&'static str>,
    /// What is scripted for it, so that it needs no other program, browser or network.
    pub(super) scripts: &'static str,
}

impl TemplateTool {
    pub(crate) fn capability(&self) -> Option<PluginCapability> {
        self.request.as_ref().map(|request| request.capability)
    }
}

impl TemplateCase {
    const fn new(call: &'static str, expected: &'static str) -> Self {
        Self { call, expected, expected_of_javascript: None, scripts: "" }
    }

    const fn with(self, scripts: &'static str) -> Self {
        Self { scripts, ..self }
    }

    pub(super) fn expected(&self, language: Language) -> &'static str {
        match (language, self.expected_of_javascript) {
            (Language::TypeScript | Language::JavaScript, Some(expected)) => expected,
            (Language::Rust | Language::TypeScript | Language::JavaScript | Language::Python, _) => self.expected,
        }
    }
}

/// What the tools of all languages do.
pub(crate) const TOOLS: [TemplateTool; 7] = [
    TemplateTool {
        request: None,
        name: "greet",
        module: "greeting",
        does: "greets somebody by name",
        source: TemplateSource {
            rust: include_str!("../../templates/rust/src/greeting.rs"),
            rust_tests: Some(include_str!("../../templates/rust/tests/greeting.rs")),
            javascript: include_str!("../../templates/javascript/greeting.js"),
            python: include_str!("../../templates/python/greeting.py"),
        },
        cases: &[TemplateCase::new(
            "name = \"somebody is greeted\"\narguments = { name = \"Ada\" }\n",
            "text = \"Welcome, Ada.\"\n",
        )],
    },
    TemplateTool {
        request: Some(TemplateRequest { capability: PluginCapability::State, reason: "counts visits", grant: "" }),
        name: "count_visit",
        module: "visits",
        does: "counts the visits of somebody in this session",
        source: TemplateSource {
            rust: include_str!("../../templates/rust/src/visits.rs"),
            rust_tests: Some(include_str!("../../templates/rust/tests/visits.rs")),
            javascript: include_str!("../../templates/javascript/visits.js"),
            python: include_str!("../../templates/python/visits.py"),
        },
        cases: &[
            TemplateCase::new(
                "name = \"a visit is counted\"\narguments = { visitor = \"Ada\" }\nsession = \"one\"\n",
                "structured = { count = 1 }\n",
            ),
            TemplateCase::new(
                "name = \"the next visit counts on\"\narguments = { visitor = \"Ada\" }\nsession = \"one\"\n",
                "structured = { count = 2 }\n",
            ),
            TemplateCase::new(
                "name = \"another session has its own count\"\narguments = { visitor = \"Ada\" }\nsession = \"two\"\n",
                "structured = { count = 1 }\n",
            ),
        ],
    },
    TemplateTool {
        request: Some(TemplateRequest {
            capability: PluginCapability::Process,
            reason: "asks the compiler for its version",
            grant: "programs = [\"cc\"]\n",
        }),
        name: "compiler_version",
        module: "compiler",
        does: "starts `cc --version` and tells its first line",
        source: TemplateSource {
            rust: include_str!("../../templates/rust/src/compiler.rs"),
            rust_tests: None,
            javascript: include_str!("../../templates/javascript/compiler.js"),
            python: include_str!("../../templates/python/compiler.py"),
        },
        cases: &[TemplateCase::new("name = \"the compiler has a version\"\n", "text = \"cc 12.2.0\"\n").with(
            "\n# What `cc` prints, on machines that have none.\n[[case.program]]\nname = \"cc\"\narguments = [\"--version\"]\n\
             stdout = \"cc 12.2.0\\nThis is free software.\\n\"\n",
        )],
    },
    TemplateTool {
        request: Some(TemplateRequest {
            capability: PluginCapability::Terminal,
            reason: "computes with an interpreter",
            grant: "programs = [\"python3\"]\n",
        }),
        name: "compute",
        module: "sums",
        does: "computes an expression with `python3` in a terminal",
        source: TemplateSource {
            rust: include_str!("../../templates/rust/src/sums.rs"),
            rust_tests: None,
            javascript: include_str!("../../templates/javascript/sums.js"),
            python: include_str!("../../templates/python/sums.py"),
        },
        cases: &[TemplateCase::new(
            "name = \"a product\"\narguments = { expression = \"6 * 7\" }\n",
            "text_contains = \"42\"\n",
        )
        .with(
            "\n# An interpreter that knows one sum.\n[[case.program]]\nname = \"python3\"\nprompt = \">>> \"\n\
             answers = [{ input = \"6 * 7\", stdout = \"42\\n\" }]\n",
        )],
    },
    TemplateTool {
        request: Some(TemplateRequest {
            capability: PluginCapability::Webview,
            reason: "reads the titles of pages",
            grant: "origins = [\"https://example.com\"]\n",
        }),
        name: "page_title",
        module: "titles",
        does: "tells the title of a web page",
        source: TemplateSource {
            rust: include_str!("../../templates/rust/src/titles.rs"),
            rust_tests: None,
            javascript: include_str!("../../templates/javascript/titles.js"),
            python: include_str!("../../templates/python/titles.py"),
        },
        cases: &[
            TemplateCase::new(
                "name = \"a page has a title\"\narguments = { url = \"https://example.com/\" }\n",
                "text_contains = \"An Example\"\n",
            )
            .with("\n# What is at that address, without a browser.\n[[case.page]]\nurl = \"https://example.com/\"\ntitle = \"An Example\"\n"),
            TemplateCase::new(
                "name = \"another origin is denied\"\narguments = { url = \"https://example.org/\" }\n",
                "error = \"denied\"\n",
            ),
        ],
    },
    TemplateTool {
        request: Some(TemplateRequest {
            capability: PluginCapability::Http,
            reason: "fetches what it is told to",
            grant: "requests = [\"https://example.com/*\"]\n",
        }),
        name: "fetch",
        module: "fetching",
        does: "fetches an address and tells its status and size",
        source: TemplateSource {
            rust: include_str!("../../templates/rust/src/fetching.rs"),
            rust_tests: None,
            javascript: include_str!("../../templates/javascript/fetching.js"),
            python: include_str!("../../templates/python/fetching.py"),
        },
        cases: &[
            TemplateCase::new(
                "name = \"an address is fetched\"\narguments = { url = \"https://example.com/hello\" }\n",
                "structured = { status = 200, bytes = 6 }\n",
            )
            .with("\n# What the server answers, without a network.\n[[case.response]]\nurl = \"https://example.com/hello\"\nbody = \"hello\\n\"\n"),
            TemplateCase {
                call: "name = \"another server is denied\"\narguments = { url = \"https://example.org/\" }\n",
                expected: "error = \"denied\"\n",
                // The engine with a fetch says of a request no more than that it failed.
                expected_of_javascript: Some("error = \"unavailable\"\n"),
                scripts: "",
            },
        ],
    },
    TemplateTool {
        request: Some(TemplateRequest {
            capability: PluginCapability::Workspace,
            reason: "writes notes into the workspace",
            grant: "access = \"write\"\n",
        }),
        name: "write_note",
        module: "notes",
        does: "writes a note into the workspace of the session",
        source: TemplateSource {
            rust: include_str!("../../templates/rust/src/notes.rs"),
            rust_tests: None,
            javascript: include_str!("../../templates/javascript/notes.js"),
            python: include_str!("../../templates/python/notes.py"),
        },
        cases: &[TemplateCase::new(
            "name = \"a note is written\"\narguments = { text = \"remember\" }\n",
            "structured = { path = \"note.txt\", bytes = 8 }\n",
        )],
    },
];
