//! What one call of a tool may use up.

use super::{GIB, MIB, MINUTE};

limits! {
    /// Limits of one call of a tool. `[limits]` sets them for all plugins,
    /// `[plugin.NAME.limits]` for one.
    CallLimits {
        cpu_time_milliseconds = 10_000, up to 10 * MINUTE, of Call,
            "Time that the call computes, waits excluded. Ends the call with `timeout`.";
        wall_time_milliseconds = 30_000, up to 10 * MINUTE, of Call,
            "Time from start to answer where the tool declares none. Ends the call with `timeout`.";
        wall_time_ceiling_milliseconds = 10 * MINUTE, up to 10 * MINUTE, of Call,
            "What a tool may declare at most as its own wall-clock time. Clamps the declaration.";
        argument_bytes = 4 * MIB, up to 64 * MIB, of Call,
            "JSON text of the arguments. Refuses the call with `limit`.";
        check_steps = 20_000_000, up to 1_000_000_000, of Call,
            "Steps of checking the arguments against their schema, and again of the structured answer; one takes less than a microsecond. Ends the call with `limit`.";
        answer_json_bytes = 64 * MIB, up to 4 * GIB, of Call,
            "Memory that the JSON of an answer may take once it is read, its structure and each `meta` together, as estimated before. Replaces the answer by `limit`.";
        memory_bytes = 64 * MIB, up to GIB, of Call,
            "Linear memory, all memories of the component together. The guest's `memory.grow` fails.";
        memories = 16, up to 16, of Call,
            "Linear memories of the component. Ends the call with `limit`.";
        tables = 32, up to 32, of Call,
            "Tables of the component. Ends the call with `limit`.";
        table_elements = 100_000, up to 1_000_000, of Call,
            "Elements of all tables together. The guest's `table.grow` fails.";
        instances = 64, up to 64, of Call,
            "Core instances of the component. Ends the call with `limit`.";
        host_call_bytes = 4 * MIB, up to 64 * MIB, of Each,
            "Data that one host call moves. Ends the call with `limit`; a read answers `limit` and the call goes on.";
        host_call_total_bytes = 64 * MIB, up to 4 * GIB, of Call,
            "Data that all host calls of the call move, what it writes to files included, what it reads there not. Ends the call with `limit`.";
        host_calls = 100_000, up to 100_000_000, of Call,
            "Host calls. Ends the call with `limit`.";
        resource_handles = 1_024, up to 65_536, of Call,
            "Open resource handles, standard streams included. Opening another one answers `limit`.";
        output_bytes = MIB, up to 64 * MIB, of Call,
            "The answer as a whole. Replaces it by `limit`.";
        log_lines = 1_000, up to 1_000_000, of Call,
            "Log lines, standard output and standard error included. Further ones are dropped and counted.";
        events = 1_000, up to 1_000_000, of Call,
            "Progress and messages to the caller. Another one answers `limit`.";
    }
}
