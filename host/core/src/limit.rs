//! Every limit of the host: its name, unit, default and ceiling, in one table.
//!
//! Configuration, documentation and enforcement all read this table, so that
//! none of them can know a limit that the others do not.

mod time;

pub use time::{TimeLeft, WallTime};

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitInfo {
    /// The name in the configuration; its last word is the unit.
    pub name: &'static str,
    /// The value where nothing is configured.
    pub default: u64,
    /// The value that no configuration may exceed.
    pub ceiling: u64,
    /// What is limited, and what happens at the limit.
    pub description: &'static str,
}

/// A limit that cannot be set so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLimit {
    /// There is no such limit.
    #[error("there is no limit `{name}`; `wharf config limits` lists them")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// The value is zero or above the ceiling.
    #[error("`{name}` must be from 1 to {ceiling}, not {value}")]
    OutOfRange {
        /// Which limit.
        name: &'static str,
        /// What was asked for.
        value: u64,
        /// What is allowed at most.
        ceiling: u64,
    },
}

macro_rules! limits {
    (
        $(#[$doc:meta])* $group:ident {
            $($name:ident = $default:expr, up to $ceiling:expr, $description:literal;)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $group {
            $(#[doc = $description] pub $name: u64,)*
        }

        impl Default for $group {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl $group {
            /// The rows of this group, in the order of the documentation.
            pub const TABLE: &'static [LimitInfo] = &[
                $(LimitInfo {
                    name: stringify!($name), default: $default, ceiling: $ceiling, description: $description,
                },)*
            ];

            /// Sets a limit by its name.
            ///
            /// # Errors
            /// Where there is no such limit, or the value is 0 or above the
            /// ceiling; nothing is changed then.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), InvalidLimit> {
                match name {
                    $(stringify!($name) => {
                        if value == 0 || value > $ceiling {
                            return Err(InvalidLimit::OutOfRange {
                                name: stringify!($name), value, ceiling: $ceiling,
                            });
                        }
                        self.$name = value;
                        Ok(())
                    })*
                    _ => Err(InvalidLimit::Unknown { name: name.to_owned() }),
                }
            }

            /// The most that any configuration may set.
            #[must_use]
            pub fn ceilings() -> Self {
                Self { $($name: $ceiling,)* }
            }

            /// The same, with nothing above these.
            #[must_use]
            pub fn at_most(&self, ceilings: &Self) -> Self {
                Self { $($name: self.$name.min(ceilings.$name),)* }
            }

            /// Every limit with its present value.
            pub fn values(&self) -> impl Iterator<Item = (&'static LimitInfo, u64)> + '_ {
                Self::TABLE.iter().zip([$(self.$name),*])
            }
        }
    };
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const MINUTE: u64 = 60_000;
const HOUR_SECONDS: u64 = 3_600;

limits! {
    /// Limits of one call of a tool. `[limits]` sets them for all plugins,
    /// `[plugin.NAME.limits]` for one.
    CallLimits {
        cpu_time_milliseconds = 10_000, up to 10 * MINUTE,
            "Time that the call computes, waits excluded. Ends the call with `timeout`.";
        wall_time_milliseconds = 30_000, up to 10 * MINUTE,
            "Time from start to answer where the tool declares none. Ends the call with `timeout`.";
        wall_time_ceiling_milliseconds = 10 * MINUTE, up to 10 * MINUTE,
            "What a tool may declare at most as its own wall-clock time. Clamps the declaration.";
        argument_bytes = 4 * MIB, up to 64 * MIB,
            "JSON text of the arguments. Refuses the call with `limit`.";
        check_steps = 20_000_000, up to 1_000_000_000,
            "Steps of checking the arguments against their schema, and again of the structured answer; one takes less than a microsecond. Ends the call with `limit`.";
        answer_json_bytes = 64 * MIB, up to 4 * GIB,
            "Memory that the JSON of an answer may take once it is read, as estimated before. Replaces the answer by `limit`.";
        memory_bytes = 64 * MIB, up to GIB,
            "Linear memory, all memories of the component together. The guest's `memory.grow` fails.";
        memories = 16, up to 16,
            "Linear memories of the component. Ends the call with `limit`.";
        tables = 32, up to 32,
            "Tables of the component. Ends the call with `limit`.";
        table_elements = 100_000, up to 1_000_000,
            "Elements of all tables together. The guest's `table.grow` fails.";
        instances = 64, up to 64,
            "Core instances of the component. Ends the call with `limit`.";
        host_call_bytes = 4 * MIB, up to 64 * MIB,
            "Data that one host call moves. Ends the call with `limit`; a read answers `limit` and the call goes on.";
        host_call_total_bytes = 64 * MIB, up to 4 * GIB,
            "Data that all host calls of the call move, what it writes to files included, what it reads there not. Ends the call with `limit`.";
        host_calls = 100_000, up to 100_000_000,
            "Host calls. Ends the call with `limit`.";
        resource_handles = 1_024, up to 65_536,
            "Open resource handles, standard streams included. Opening another one answers `limit`.";
        output_bytes = MIB, up to 64 * MIB,
            "The answer as a whole. Replaces it by `limit`.";
        log_lines = 1_000, up to 1_000_000,
            "Log lines, standard output and standard error included. Further ones are dropped and counted.";
        events = 1_000, up to 1_000_000,
            "Progress and messages to the caller. Another one answers `limit`.";
    }
}

limits! {
    /// Limits of the host as a whole, `[host.limits]`.
    HostLimits {
        component_bytes = 64 * MIB, up to 512 * MIB,
            "Size of a component. Refuses to load it.";
        compile_milliseconds = 2 * MINUTE, up to 60 * MINUTE,
            "How long compiling a component may take. Refuses to load it.";
        compile_memory_bytes = 4 * GIB, up to 256 * GIB,
            "Memory of the process that compiles a component. Refuses to load it.";
        stack_bytes = 512 * KIB, up to 8 * MIB,
            "Wasm stack of a call. Ends the call with `limit`.";
        calls_in_flight = 64, up to 1_000,
            "Running calls of all tenants. Further ones wait.";
        calls_in_flight_per_tenant = 48, up to 1_000,
            "Running calls of one tenant. Further ones wait.";
        calls_in_flight_per_session = 32, up to 1_000,
            "Running calls of one session. Further ones wait.";
        calls_waiting = 16_384, up to 1_000_000,
            "Waiting calls of all tenants. Refuses a further one with `limit`.";
        calls_waiting_per_tenant = 12_288, up to 1_000_000,
            "Waiting calls of one tenant. Refuses a further one with `limit`.";
        calls_waiting_per_session = 1_024, up to 100_000,
            "Waiting calls of one session. Refuses a further one with `limit`.";
        waiting_bytes = 256 * MIB, up to 16 * GIB,
            "Arguments of all waiting calls together. Refuses a further one with `limit`.";
        waiting_bytes_per_tenant = 192 * MIB, up to 16 * GIB,
            "Arguments of the waiting calls of one tenant. Refuses a further one with `limit`.";
        file_handles_per_session = 2_048, up to 1_000_000,
            "Files, directories, listings and streams of files that the calls of one session hold open. Ends the call that opens another one with `limit`.";
        file_handles_per_tenant = 4_096, up to 1_000_000,
            "The same of one tenant.";
        file_handles = 8_192, up to 1_000_000,
            "The same of all tenants.";
        checks = 4, up to 1_000,
            "Checks of arguments, answers and schemas that take long, of all tenants at once. Further ones wait.";
        checks_per_tenant = 2, up to 1_000,
            "The same of one tenant. Further ones wait.";
        schema_parts = 262_144, up to 16_777_216,
            "Values in all schemas of one plugin, or of one front end. Refuses to load or to connect it.";
        schema_patterns = 1_024, up to 65_536,
            "Different patterns in all schemas of one plugin, or of one front end. Refuses to load or to connect it.";
        schema_pattern_bytes = 512 * KIB, up to 16 * MIB,
            "One pattern of a schema, compiled. Refuses to load or to connect whose it is.";
        schema_pattern_total_bytes = 4 * MIB, up to 256 * MIB,
            "All patterns in the schemas of one plugin, or of one front end, compiled. Refuses to load or to connect it.";
        request_json_bytes = 64 * MIB, up to 4 * GIB,
            "Memory that the JSON of one request may take once it is read, as estimated before. Refuses the request with `limit`.";
        request_json_bytes_per_tenant = 192 * MIB, up to 16 * GIB,
            "The same of all requests of one tenant, until they are answered. Refuses a further one with `limit`.";
        request_json_total_bytes = 256 * MIB, up to 16 * GIB,
            "The same of all tenants. Refuses a further one with `limit`.";
        wait_milliseconds = 30_000, up to 10 * MINUTE,
            "How long a call waits for its turn. Then it is refused with `limit`.";
        listing_milliseconds = 3_000, up to 10 * MINUTE,
            "How long plugins are waited for when resources are listed. Those of the others are listed.";
        scopes_per_tenant = 100_000, up to 10_000_000,
            "Buckets of state with content of one tenant. Refuses to make another one with `limit`.";
        state_bytes_per_tenant = 4 * GIB, up to 1_024 * GIB,
            "Bytes of keys and values of one tenant. Refuses a write with `limit`.";
        state_bytes = 64 * GIB, up to 16_384 * GIB,
            "Bytes of keys and values of all tenants. Refuses a write with `limit`.";
        front_ends = 128, up to 10_000,
            "Connected front ends of all tenants. Refuses a further one with `limit`.";
        front_ends_per_tenant = 96, up to 10_000,
            "The same of one tenant.";
        front_ends_per_client = 8, up to 1_000,
            "Front ends that one token, or one client of an app, has connected. Refuses a further one with `limit`.";
        front_end_tools = 64, up to 256,
            "Tools of one front end. Refuses to connect it with `limit`.";
        front_end_bytes = 128 * KIB, up to 4 * MIB,
            "JSON text of the tools of one front end. Refuses to connect it with `limit`.";
        front_end_schema_parts = 16_384, up to 1_048_576,
            "Values in the schemas of one front end; `schema_parts` holds, too. Refuses to connect it.";
        front_end_pattern_bytes = 512 * KIB, up to 64 * MIB,
            "All patterns in the schemas of one front end, compiled; `schema_pattern_total_bytes` holds, too. Refuses to connect it.";
        front_end_calls = 64, up to 10_000,
            "Calls that wait for one front end. Refuses a further one with `limit`.";
        front_end_waiting_calls = 56, up to 10_000,
            "Calls that wait for front ends of all tenants. Refuses a further one with `limit`, so that other tools find places.";
        front_end_waiting_calls_per_tenant = 40, up to 10_000,
            "The same of one tenant.";
        front_end_waiting_calls_per_session = 24, up to 10_000,
            "The same of one session.";
        front_end_silent_milliseconds = 30_000, up to 10 * MINUTE,
            "How long a front end may neither follow its calls nor ask for them. Disconnects it, and its waiting calls end with `gone`.";
    }
}

limits! {
    /// Limits of child processes and of the files of a session,
    /// `[process.limits]`.
    ProcessLimits {
        running_per_session = 20, up to 1_000,
            "Starting and running processes of one session. Refuses a further one with `limit`.";
        running_per_tenant = 100, up to 10_000,
            "The same of one tenant.";
        running = 200, up to 100_000,
            "The same of all tenants.";
        ended_per_session = 1_000, up to 100_000,
            "Ended processes of one session that are kept. The oldest goes first.";
        ended_per_tenant = 4_000, up to 1_000_000,
            "The same of one tenant.";
        ended = 16_000, up to 10_000_000,
            "The same of all tenants. The oldest of the tenant that starts another goes; where it has none, refuses to start with `limit`.";
        tombstone_seconds = 24 * HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS,
            "How long an ended process and its output are kept. Removes them, hourly.";
        lifetime_seconds = 24 * HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS,
            "How long a process may run, whatever a grant says. Kills it (`time-limit`).";
        output_kept_bytes = 256 * MIB, up to 64 * GIB,
            "Bytes of each of its two streams that are kept on disk; at least 256 KiB. Evicts the oldest.";
        output_disk_bytes_per_session = 512 * MIB, up to 1_024 * GIB,
            "Bytes of output of all processes of one session that are kept on disk. Evicts that of ended processes, the oldest first, then the oldest of what prints; refuses to start with `limit` where 512 KiB have no room.";
        output_disk_bytes_per_tenant = 2 * GIB, up to 16_384 * GIB,
            "The same of one tenant.";
        output_disk_bytes = 8 * GIB, up to 16_384 * GIB,
            "The same of all tenants. Evicts output of the tenant that needs room, and of no other.";
        output_total_bytes = 64 * GIB, up to 16_384 * GIB,
            "Bytes that each of its two streams may print in all. Kills the process (`quota`).";
        wait_milliseconds = 10 * MINUTE, up to 10 * MINUTE,
            "How long one wait for a process may last. Ends the wait with `time-up`.";
        cpu_seconds = 4 * HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS,
            "Time that each process of a tree may compute. The system ends it (SIGXCPU, then SIGKILL).";
        memory_bytes = 4 * GIB, up to 1_024 * GIB,
            "Data of each process of a tree. Its allocations fail.";
        open_files = 1_024, up to 1_000_000,
            "Open descriptors of each process of a tree. Opening another one fails.";
        processes = 512, up to 100_000,
            "Processes and threads of a session together. Its forks fail.";
        file_size_bytes = 4 * GIB, up to 16_384 * GIB,
            "Size of each file that a process writes. Its writes fail (SIGXFSZ).";
        workspace_bytes = 4 * GIB, up to 16_384 * GIB,
            "Bytes of the files of one session, counted as plugins write them and measured while it has processes or calls. Kills its processes (`quota`) and refuses to start any with `limit`; refuses writes of plugins, and at the 16th of a call ends the call with `limit`.";
        workspace_entries = 1_000_000, up to 100_000_000,
            "Files and directories of one session, or of one exchange folder; nested more than 256 deep is too many. Kills the session's processes (`quota`), and refuses to start any and its writes.";
        workspace_total_bytes_per_tenant = 64 * GIB, up to 16_384 * GIB,
            "Bytes of all workspaces of one tenant. Refuses its writes and to start processes, and kills its processes in workspaces that grow (`quota`).";
        workspace_total_bytes = 256 * GIB, up to 16_384 * GIB,
            "Bytes of all workspaces of all tenants, each counted with no more than `workspace_total_bytes_per_tenant`. The same.";
        workspace_total_entries_per_tenant = 4_000_000, up to 100_000_000,
            "Files and directories of all workspaces of one tenant. The same.";
        workspace_total_entries = 16_000_000, up to 100_000_000,
            "Files and directories of all workspaces of all tenants, counted likewise. The same.";
        workspaces_per_tenant = 4_000, up to 1_000_000,
            "Sessions of one tenant that have a workspace. Refuses to make another one with `limit`.";
        workspaces = 10_000, up to 1_000_000,
            "The same of all tenants.";
        exchange_bytes = 4 * GIB, up to 16_384 * GIB,
            "Bytes that an exchange folder may hold, what the operator put there included. Refuses writes of plugins; at the 16th of a call it ends the call with `limit`.";
    }
}

limits! {
    /// Limits of streams of events, `[stream.limits]`.
    StreamLimits {
        streams = 256, up to 10_000,
            "Streams of all tenants, ended ones that are kept included. A further one displaces the oldest ended one of its own tenant; without one, refuses to open another with `limit`.";
        streams_per_tenant = 192, up to 10_000,
            "The same of one tenant.";
        streams_per_session = 32, up to 1_000,
            "The same of one session. The oldest ended one of the session goes.";
        kept_events = 1_024, up to 100_000,
            "Events that a stream keeps for readers that come back. Evicts the oldest.";
        kept_bytes = 512 * KIB, up to 64 * MIB,
            "Bytes of the events that a stream keeps. Evicts the oldest.";
        event_bytes = 64 * KIB, up to MIB,
            "JSON text of one event. Refuses it with `limit`.";
        idle_seconds = HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS,
            "How long a stream may be neither written nor read. Ends it; that of a terminal lives as long as the terminal.";
        ended_seconds = HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS,
            "How long an ended stream can still be read. Removes it.";
    }
}

limits! {
    /// Limits of serving over HTTP, `[http.limits]`.
    HttpLimits {
        connections = 1_280, up to 65_536,
            "Connections at once on which a token was shown. A further one waits for a second, and is then refused with `limit`.";
        connections_per_tenant = 1_024, up to 65_536,
            "The same of one tenant.";
        connections_without_token = 512, up to 65_536,
            "Connections at once on which no token was shown yet; these places are apart from those of `connections`. A further one closes the oldest.";
        connections_without_token_per_address = 64, up to 65_536,
            "The same of one address, or of one /64 of IPv6. A further one closes the oldest of that address. The loopback and a socket have no limit of their own, since all their clients share one address.";
        arrival_without_token_milliseconds = 5_000, up to 10 * MINUTE,
            "How long a connection may take, from its beginning, until a token was shown on it or its one request without a token is answered. Closes the connection.";
        readers = 1_024, up to 65_536,
            "Requests of all tenants at once that follow something or wait. Refuses a further one with `limit`.";
        readers_per_tenant = 768, up to 65_536,
            "The same of one tenant.";
        body_bytes = MIB, up to 64 * MIB,
            "Body of a request. Refuses it with `limit`.";
        wait_milliseconds = MINUTE, up to 10 * MINUTE,
            "How long a request may wait for something to happen. Clamps what is asked for.";
        heartbeat_milliseconds = 15_000, up to 10 * MINUTE,
            "How long a followed stream may be silent. Sends a comment.";
        arrival_milliseconds = 10_000, up to 10 * MINUTE,
            "How long the head of a request, and again its body, may take to arrive. Closes the connection.";
        stall_milliseconds = 30_000, up to 10 * MINUTE,
            "How long a client may take nothing of what is sent. Closes the connection.";
        grace_milliseconds = 5_000, up to 10 * MINUTE,
            "How long running requests may still take when the host stops. Closes the connections.";
        message_bytes = 4 * MIB, up to 16 * MIB,
            "One message of the protocol. Refuses it with `limit`.";
        calls = 1_024, up to 65_536,
            "Requests of the protocol at once, of all clients. Refuses a further one with `limit`.";
        calls_per_tenant = 768, up to 65_536,
            "The same of one tenant.";
        calls_per_client = 256, up to 65_536,
            "The same with one token, which may have a lower limit of its own.";
        requests_per_second = 100_000, up to 1_000_000,
            "Requests of any kind with one token, which may have a lower limit of its own. Refuses a further one with `limit`.";
        sessions = 1_024, up to 65_536,
            "Sessions of clients that use the handshake of 2025-11-25. A further one ends the client's own one unused for longest; where all are in use, refuses with `limit`.";
        sessions_per_tenant = 256, up to 65_536,
            "The same of one tenant.";
        session_idle_seconds = 1_800, up to 7 * 24 * HOUR_SECONDS,
            "How long a session may be unused; a running call or a followed stream uses it. Ends it.";
        session_bytes = 2 * MIB, up to 64 * MIB,
            "Bytes that a session keeps of what its client has not read, or may ask for again. The oldest go first, answers that were read before others.";
    }
}

limits! {
    /// Limits of terminals, `[terminal.limits]`. What their programs may use up
    /// is with [`ProcessLimits`].
    TerminalLimits {
        open = 20, up to 1_000,
            "Open terminals of all tenants. A further one closes the one of its own tenant that is unused for longest, and for `evictable_after_seconds` at least; where there is none, refuses with `limit`.";
        open_per_tenant = 16, up to 1_000,
            "The same of one tenant.";
        open_per_session = 8, up to 1_000,
            "The same of one session.";
        open_per_owner = 1, up to 100,
            "Open terminals of one plugin, session and assistant. A further one replaces the one used least recently, once it runs.";
        evictable_after_seconds = 120, up to 7 * 24 * HOUR_SECONDS,
            "How long a terminal must be unused before a further one of its tenant may close it to have room. Within that time it is in use.";
        idle_seconds = 900, up to 7 * 24 * HOUR_SECONDS,
            "How long a terminal may be unused. Closes it.";
        ended = 40, up to 10_000,
            "Closed terminals of all tenants that are kept with their output. A further one displaces the oldest of its own tenant; where there is none, it is not kept.";
        ended_per_tenant = 30, up to 10_000,
            "The same of one tenant. The oldest goes first.";
        ended_per_session = 15, up to 10_000,
            "The same of one session. The oldest goes first.";
        ended_per_owner = 5, up to 1_000,
            "The same of one plugin, session and assistant. The oldest goes first.";
        tombstone_seconds = HOUR_SECONDS, up to 30 * 24 * HOUR_SECONDS,
            "How long a closed terminal and its output are kept.";
        lifetime_seconds = 24 * HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS,
            "How long a terminal may be open, whatever a grant says. Closes it.";
        restarts = 5, up to 100,
            "How often a program that crashes is started again within `restart_window_seconds`. Then its terminal is closed.";
        restart_window_seconds = 600, up to 24 * HOUR_SECONDS,
            "The time in which restarts are counted.";
        wait_milliseconds = 10 * MINUTE, up to 10 * MINUTE,
            "How long one wait for a terminal may last.";
        history_bytes = 256 * KIB, up to 64 * MIB,
            "Bytes of output that each terminal keeps, and as many of its text. The oldest go first.";
        input_characters = 10_000, up to 100_000,
            "Characters of one text that is typed. Refuses a longer one with `limit`.";
        history_lines = 200, up to 10_000,
            "Lines that each terminal keeps of what went off the top of its screen, about 2 KiB each.";
    }
}

limits! {
    /// Limits of web pages, `[webview.limits]`.
    WebViewLimits {
        pages = 20, up to 1_000,
            "Open pages of all tenants. A further one closes the tenant's own one idle for longest, after a minute at least; where none is idle, refuses with `limit`. As many closed ones are remembered.";
        pages_per_tenant = 16, up to 1_000,
            "The same of one tenant.";
        pages_per_session = 12, up to 1_000,
            "The same of one session, whichever plugins and assistants opened them.";
        requests = 1_280, up to 65_536,
            "Requests of the pages of all tenants, finished ones that are kept included. The tenant's own oldest finished goes; where all are pending, refuses with `limit`.";
        requests_per_tenant = 1_024, up to 65_536,
            "The same of one tenant.";
        requests_per_session = 768, up to 65_536,
            "The same of one session.";
        requests_per_page = 64, up to 1_024,
            "Requests of a page, finished ones that are kept included. The oldest finished goes; where all are pending, refuses with `limit`.";
        result_bytes_per_page = 8 * MIB, up to 256 * MIB,
            "Bytes of the results that are kept for a page. The oldest goes first.";
        kept_bytes = 160 * MIB, up to 64 * GIB,
            "Bytes of scripts that are pending, results and logs of all tenants. The tenant's own oldest results go; then a request fails with `limit`, and a log loses its oldest entries.";
        kept_bytes_per_tenant = 128 * MIB, up to 64 * GIB,
            "The same of one tenant.";
        kept_bytes_per_session = 96 * MIB, up to 64 * GIB,
            "The same of one session.";
        result_bytes = MIB, up to 16 * MIB,
            "Bytes of one result that are sent from the page. It is cut there, and can be paged through.";
        file_bytes = 8 * MIB, up to 64 * MIB,
            "Bytes of a screenshot or a PDF. A larger one fails with `limit`.";
        request_milliseconds = 30_000, up to 300_000,
            "How long a request may take that says nothing else. Ends it with `time-out`.";
        request_ceiling_milliseconds = 300_000, up to 300_000,
            "How long a request may ask to take. Refuses more with `invalid`.";
        kept_seconds = 120, up to HOUR_SECONDS,
            "How long the result of a request is kept that nobody acknowledged. Then it is `expired`.";
        tombstones_per_page = 1_024, up to 65_536,
            "Requests that are remembered as `expired`. The oldest is forgotten first.";
        dialog_milliseconds = 30_000, up to 300_000,
            "How long a dialog may wait for an answer. Dismisses it.";
        idle_seconds = 900, up to 7 * 24 * HOUR_SECONDS,
            "How long a page may be unused. Closes it.";
        closed_seconds = 120, up to HOUR_SECONDS,
            "How long a closed page is remembered, with its logs and results.";
        log_entries = 1_000, up to 100_000,
            "Entries of each log of a page. The oldest go first.";
        log_bytes = 256 * KIB, up to 16 * MIB,
            "Bytes of each log of a page. The oldest entries go first.";
        download_bytes = 256 * MIB, up to 64 * GIB,
            "Bytes of one download, and of all files that a page is given. Cancels a larger one; refuses more with `invalid`.";
        downloads = 32, up to 10_000,
            "Downloads of a page. Further ones are cancelled.";
        transfer_bytes = 4 * GIB, up to 1_024 * GIB,
            "Bytes of downloads under way and of files that pages were given, of all tenants. Cancels a download; refuses a file with `limit`.";
        transfer_bytes_per_tenant = 2 * GIB, up to 1_024 * GIB,
            "The same of one tenant.";
        transfer_bytes_per_session = GIB, up to 1_024 * GIB,
            "The same of one session.";
        connections_per_page = 256, up to 4_096,
            "Connections of a page at once. Further ones are refused.";
        connections = 1_024, up to 65_536,
            "Connections of the pages of all tenants at once. Further ones are refused.";
        connections_per_tenant = 768, up to 65_536,
            "The same of one tenant.";
        connections_per_session = 512, up to 65_536,
            "The same of one session.";
        wait_milliseconds = 10 * MINUTE, up to 10 * MINUTE,
            "How long one wait for a request may last.";
        backend_idle_seconds = 60, up to 24 * HOUR_SECONDS,
            "How long the browser runs without a page. Stops it.";
        crashes = 5, up to 100,
            "How often a browser that crashes is started again within `crash_window_seconds`. Then pages are refused with `unavailable` until that time is over.";
        crash_window_seconds = 600, up to 24 * HOUR_SECONDS,
            "The time in which crashes are counted.";
    }
}

limits! {
    /// Limits of the HTTP requests that plugins send, `[request.limits]`.
    RequestLimits {
        in_flight = 256, up to 10_000,
            "Requests of all tenants at once, each until the end of its answer. A further one fails with `limit`.";
        in_flight_per_tenant = 128, up to 10_000,
            "The same of one tenant.";
        per_call = 100, up to 10_000,
            "Requests of one call. A further one fails with `limit`.";
        connect_milliseconds = 10_000, up to MINUTE,
            "How long it may take to find a server and to connect to it, encryption included. Fails the request.";
        first_byte_milliseconds = 30_000, up to 10 * MINUTE,
            "How long it may take from there to the head of the answer. Fails the request.";
        between_bytes_milliseconds = 30_000, up to 10 * MINUTE,
            "How long an answer may pause. Ends it.";
        total_milliseconds = 2 * MINUTE, up to 10 * MINUTE,
            "How long a request may take to the end of its answer. Ends it.";
        head_bytes = 32 * KIB, up to 256 * KIB,
            "Names and values of the headers of a request, and of an answer. Fails the request.";
        sent_bytes = 4 * MIB, up to GIB,
            "Body of a request. Fails it.";
        answer_bytes = 16 * MIB, up to GIB,
            "Body of an answer. Ends it.";
    }
}

#[cfg(test)]
mod tests;
