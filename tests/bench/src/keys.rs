//! Every key of the benchmark: what it compares, what is asked of it, and where it stands in
//! the report. Nothing here measures.

/// What is asked of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
    /// It is shown, and nothing is asked of it.
    ReportOnly,
}

impl Bar {
    pub(crate) fn words(self) -> String {
        match self {
            Self::AtMost(bar) => format!("at most {bar}"),
            Self::AtLeast(bar) => format!("at least {bar}"),
            Self::ReportOnly => "report only".to_owned(),
        }
    }

    /// Whether a figure is good enough. Nothing to say where nothing is asked.
    pub(crate) fn met(self, ratio: f64) -> Option<bool> {
        match self {
            Self::AtMost(bar) => Some(ratio <= bar),
            Self::AtLeast(bar) => Some(ratio >= bar),
            Self::ReportOnly => None,
        }
    }
}

/// A figure that a run can yield.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FigureKey {
    pub(crate) name: &'static str,
    pub(crate) bar: Bar,
    /// What is divided by what, in a few words for the report.
    pub(crate) what: &'static str,
}

/// Keys that a reader looks for in one place.
pub(crate) struct Area {
    pub(crate) title: &'static str,
    pub(crate) keys: &'static [FigureKey],
}

const fn at_most(name: &'static str, bar: f64, what: &'static str) -> FigureKey {
    FigureKey { name, bar: Bar::AtMost(bar), what }
}

const fn at_least(name: &'static str, bar: f64, what: &'static str) -> FigureKey {
    FigureKey { name, bar: Bar::AtLeast(bar), what }
}

const fn report_only(name: &'static str, what: &'static str) -> FigureKey {
    FigureKey { name, bar: Bar::ReportOnly, what }
}

pub(crate) const AREAS: &[Area] = &[
    Area {
        title: "Calls",
        keys: &[
            at_most("engine_overhead", 1.2, "a call by the library / bare wasmtime with a fresh instance, p50"),
            at_most("context_overhead", 1.05, "a call with a full context / one without, p50"),
            at_least("engine_scaling", 0.9, "what a second thread gains by the library / by bare wasmtime"),
            at_most("audit_overhead", 1.05, "a call that the audit keeps / one that it does not, p50"),
            at_most("traces_overhead", 1.25, "a call whose spans are kept / an untraced one, p50"),
            at_most("traces_overhead_not_kept", 1.05, "a call whose spans are not kept / an untraced one, p50"),
        ],
    },
    Area {
        title: "Languages",
        keys: &[
            report_only("guest_rust", "milliseconds of a call of a tool that echoes, written in Rust, p50"),
            at_most("guest_javascript", 0.6, "the same written in JavaScript, with QuickJS in the component"),
            at_most("guest_python", 1.5, "the same written in Python, with CPython in the component"),
        ],
    },
    Area {
        title: "Transports",
        keys: &[
            at_most("stdio_latency", 1.6, "a call over stdio, one after the other / the same without Wasm, p50"),
            at_least("stdio_throughput", 0.75, "calls a second over stdio, 64 in flight / the same without Wasm"),
            at_least("http_throughput", 0.6, "calls a second over HTTP, 64 in flight / the same without Wasm"),
            at_least("http_throughput_session", 0.6, "the same in a session of 2025-11-25 / without Wasm and session"),
            report_only("http_throughput_system", "as http_throughput / the same with the system's allocator"),
            report_only(
                "http_throughput_session_system",
                "as http_throughput_session / the same with the system's allocator",
            ),
        ],
    },
    Area {
        title: "Start and memory",
        keys: &[
            at_most("cold_start", 2.5, "start to the list of tools, all bundled plugins, warm / without Wasm"),
            at_most("first_start", 10.0, "the same on an empty data directory / without Wasm"),
            at_most("first_call", 50.0, "milliseconds of the first call on an empty data directory, over a warm one"),
            at_most("resident", 3.0, "resident memory after 100,000 calls / bare wasmtime that served the same"),
            at_most("memory_growth", 1.1, "resident memory after 100,000 calls / after 1,000"),
            at_most("context_idle", 40_960.0, "bytes of resident memory for each of 10,000 idle contexts"),
            at_most("context_memory", 1.05, "resident memory after 1,000 contexts came and expired / before"),
            at_most("plugin_swap", 1.05, "resident memory after 1,000 swaps of a plugin under calls / before"),
            at_most("plugin_swap_http", 1.05, "the same by command, beside a server over HTTP"),
        ],
    },
    Area {
        title: "Isolation",
        keys: &[
            at_most("isolation_call", 4.0, "a call in a process of its tenant / in the host, p50"),
            report_only("isolation_call_task", "the same by a task of the runtime, as servers call"),
            report_only(
                "isolation_throughput",
                "calls a second in a process of their tenant / in the host, 64 in flight",
            ),
            report_only("isolation_throughput_tenants", "the same of 64 tenants, each in a process of its own"),
            at_most("isolation_memory", 8_388_608.0, "bytes of memory for each of 100 idle tenants in processes"),
        ],
    },
    Area {
        title: "Light for agents",
        keys: &[
            at_most("tools_bytes", 30_000.0, "bytes of the list of tools, default profile"),
            at_most("tools_bytes_all", 90_000.0, "bytes of the list of tools, all six bundled plugins"),
        ],
    },
    Area {
        title: "State and search",
        keys: &[
            at_least("state_contention", 1.0, "changes a second of 200 writers of one entry / of one writer"),
            at_least("search_overlap", 0.95, "hits among the best ten that tantivy also finds / tantivy's"),
            at_most("search_latency", 6.0, "a search by the tool / by tantivy in process, p50"),
            report_only("search_add", "tantivy's add, commit and reload / a document added and found by the tool, p50"),
            at_least("search_bulk", 0.2, "documents a second, 1,000 added by the tool / by tantivy with one commit"),
            at_least("search_korean", 0.9, "recall among the best ten of Korean texts"),
            at_most("search_scaling", 4.0, "a search of 100,000 passages / of 10,000, p50"),
        ],
    },
    Area {
        title: "Clusters",
        keys: &[
            at_most("cluster_get", 1.3, "an entry read from PostgreSQL / by a bare client of the server, p50"),
            at_most("cluster_apply", 1.5, "an entry written to PostgreSQL / by a bare client of the server, p50"),
            at_most(
                "cluster_apply_sqlite",
                1.5,
                "an entry written to PostgreSQL / to the file with durable commits, p50",
            ),
            at_most("cluster_routed_latency", 2.5, "a call that another host passes on / the same at home, p50"),
            at_least("cluster_routed_throughput", 0.45, "calls a second that another host passes on / at home"),
            at_least("cluster_three", 0.85, "calls a second of three hosts / of one on the same processors"),
            at_least("cluster_three_homed", 0.45, "the same of calls that need the home of their session"),
            at_least("cluster_contention", 0.5, "writes a second of one entry, 64 writers on three hosts / on one"),
            at_most(
                "cluster_gone_seconds",
                1.0,
                "seconds from the death of a host to `gone` of its session, the worst",
            ),
            at_most(
                "cluster_plugin_seconds",
                2.5,
                "seconds until every host serves a plugin that was added, the worst",
            ),
            at_most("cluster_plugin_seconds_nats", 1.0, "the same where NATS carries the news"),
            at_most("cluster_off_latency", 1.02, "a call of one host over stdio / of a build without clusters, p50"),
            at_least("cluster_off_throughput", 0.98, "calls a second over stdio, 64 in flight / the same without"),
            at_least("cluster_off_http", 0.98, "calls a second over HTTP, 64 in flight / the same without"),
            at_most(
                "cluster_off_start",
                1.02,
                "start to the list of tools, all bundled plugins, warm / the same without",
            ),
            at_most("cluster_lost", 0.0, "acknowledged writes that a kill lost, and sessions that two hosts acted for"),
        ],
    },
    Area {
        title: "Processes",
        keys: &[
            at_most("process_spawn", 4.0, "a command, not contained, to its first byte / posix spawn, p50"),
            at_most("process_spawn_contained", 8.0, "a contained command, with a pause before it / posix spawn, p50"),
            at_most("process_spawn_cold", 5.0, "the first contained command of a session / posix spawn, p50"),
            at_most("process_spawn_row", 4.0, "contained commands without a pause / posix spawns without one, p50"),
            at_least("process_output", 0.5, "output of a child, kept and read by cursor / `cat` into a file"),
            at_most("process_tail", 2.0, "the last 100 lines of 1 GiB of output / `tail -n 100`"),
            at_most("process_poll", 1.05, "a poll that is counted / the same questions uncounted"),
        ],
    },
    Area {
        title: "Terminals and web pages",
        keys: &[
            at_least("terminal_throughput", 0.7, "a flood read by a session, the worst kind / by a bare terminal"),
            at_most("terminal_pty_open", 1.0, "a pair of the system opened / one of portable-pty"),
            at_least("terminal_pty_read", 1.0, "a flood read from a pair of the system / from one of portable-pty"),
            at_most("terminal_memory", 1.0, "MiB of a session without its history"),
            at_most("turn_false_early", 0.0, "turns of live programs that were told too early"),
            at_most("turn_late", 0.01, "turns of live programs that were told late / all"),
            at_most("console_watchers", 1.1, "a turn of a terminal that 100 windows watch / that nobody watches, p50"),
            at_most("webview_latency", 2.0, "a script in a page by the tool / by a bare client, in turns, p50"),
            at_most("webview_row", 2.0, "scripts in a row by the tool / by a bare client in a row, p50"),
        ],
    },
];

/// What is known of a key.
pub(crate) fn find(name: &str) -> Option<FigureKey> {
    AREAS.iter().flat_map(|area| area.keys).find(|key| key.name == name).copied()
}
