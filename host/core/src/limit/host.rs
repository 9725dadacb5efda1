//! What the host as a whole may use up, and how it shares that among tenants and sessions.

use super::{GIB, KIB, MIB, MINUTE};

limits! {
    /// Limits of the host as a whole, `[host.limits]`.
    HostLimits {
        component_bytes = 64 * MIB, up to 512 * MIB, of Each,
            "Size of a component. Refuses to load it.";
        compile_milliseconds = 2 * MINUTE, up to 60 * MINUTE, of Each,
            "How long compiling a component may take. Refuses to load it.";
        compile_memory_bytes = 4 * GIB, up to 256 * GIB, of Each,
            "Memory of the process that compiles a component. Refuses to load it.";
        stack_bytes = 512 * KIB, up to 8 * MIB, of Call,
            "Wasm stack of a call. Ends the call with `limit`.";
        calls_in_flight = 64, up to 1_000, of Host,
            "Running calls of all tenants. Further ones wait.";
        calls_in_flight_per_tenant = 48, up to 1_000, of Tenant,
            "Running calls of one tenant. Further ones wait.";
        calls_in_flight_per_session = 32, up to 1_000, of Session,
            "Running calls of one session. Further ones wait.";
        calls_waiting = 16_384, up to 1_000_000, of Host,
            "Waiting calls of all tenants. Refuses a further one with `limit`.";
        calls_waiting_per_tenant = 12_288, up to 1_000_000, of Tenant,
            "Waiting calls of one tenant. Refuses a further one with `limit`.";
        calls_waiting_per_session = 1_024, up to 100_000, of Session,
            "Waiting calls of one session. Refuses a further one with `limit`.";
        waiting_bytes = 256 * MIB, up to 16 * GIB, of Host,
            "Arguments of all waiting calls together. Refuses a further one with `limit`.";
        waiting_bytes_per_tenant = 192 * MIB, up to 16 * GIB, of Tenant,
            "Arguments of the waiting calls of one tenant. Refuses a further one with `limit`.";
        waiting_approvals = 1_024, up to 100_000, of Host,
            "Calls of all tenants that wait until a person allows them. Refuses a further one with `limit`.";
        waiting_approvals_per_tenant = 256, up to 100_000, of Tenant,
            "The same of one tenant.";
        waiting_approvals_per_session = 32, up to 10_000, of Session,
            "The same of one session.";
        workers = 128, up to 10_000, of Host,
            "Processes that run plugins, of all tenants, where `[isolation]` has `level = \"process\"`. One without a call makes room; where all have one, refuses a call with `limit`.";
        workers_per_tenant = 16, up to 1_000, of Tenant,
            "The same of one tenant, where each of its plugins has its own.";
        worker_memory_bytes = GIB, up to 256 * GIB, of Each,
            "Memory of a process that runs plugins, for all of its calls. A call gets no more, or the process ends and its calls with it.";
        worker_cpu_seconds = 3_600, up to 30 * 24 * 3_600, of Each,
            "Computing time of a process that runs plugins. The system ends it and its calls; the next call has a new one.";
        worker_idle_seconds = 300, up to 24 * 3_600, of Each,
            "How long a process that runs plugins stays without a call.";
        file_handles_per_session = 2_048, up to 1_000_000, of Session,
            "Files, directories, listings and streams of files that the calls of one session hold open. Ends the call that opens another one with `limit`.";
        file_handles_per_tenant = 4_096, up to 1_000_000, of Tenant,
            "The same of one tenant.";
        file_handles = 8_192, up to 1_000_000, of Host,
            "The same of all tenants.";
        checks = 4, up to 1_000, of Host,
            "Checks of arguments, answers and schemas that take long, of all tenants at once. Further ones wait.";
        checks_per_tenant = 2, up to 1_000, of Tenant,
            "The same of one tenant. Further ones wait.";
        schema_parts = 262_144, up to 16_777_216, of Each,
            "Values in all schemas of one plugin, or of one front end. Refuses to load or to connect it.";
        schema_patterns = 1_024, up to 65_536, of Each,
            "Patterns in all schemas of one plugin, or of one front end; one that a schema has several times counts once in it, and once more in each other schema. Refuses to load or to connect it.";
        schema_pattern_bytes = 512 * KIB, up to 16 * MIB, of Each,
            "One pattern of a schema, compiled. Refuses to load or to connect whose it is.";
        schema_pattern_total_bytes = 4 * MIB, up to 256 * MIB, of Each,
            "All patterns in the schemas of one plugin, or of one front end, compiled. Refuses to load or to connect it.";
        request_json_bytes = 64 * MIB, up to 4 * GIB, of Request,
            "Memory that the JSON of one request may take once it is read, as estimated before. Refuses the request with `limit`.";
        request_json_bytes_per_tenant = 192 * MIB, up to 16 * GIB, of Tenant,
            "The same of all requests of one tenant, until they are answered. Refuses a further one with `limit`.";
        request_json_total_bytes = 256 * MIB, up to 16 * GIB, of Host,
            "The same of all tenants. Refuses a further one with `limit`.";
        answer_json_bytes_per_tenant = 192 * MIB, up to 16 * GIB, of Tenant,
            "Memory that the JSON of all answers of one tenant may take, each as `answer_json_bytes` estimates it, until they are sent. Replaces a further one by `limit`.";
        answer_json_total_bytes = 256 * MIB, up to 16 * GIB, of Host,
            "The same of all tenants. Replaces a further one by `limit`.";
        wait_milliseconds = 30_000, up to 10 * MINUTE, of Call,
            "How long a call waits for its turn. Then it is refused with `limit`.";
        listing_milliseconds = 3_000, up to 10 * MINUTE, of Each,
            "How long plugins are waited for when resources are listed. Those of the others are listed.";
        scopes_per_tenant = 100_000, up to 10_000_000, of Tenant,
            "Buckets of state with content of one tenant. Refuses to make another one with `limit`.";
        state_bytes_per_tenant = 4 * GIB, up to 1_024 * GIB, of Tenant,
            "Bytes of keys and values of one tenant. Refuses a write with `limit`.";
        state_bytes = 64 * GIB, up to 16_384 * GIB, of Host,
            "Bytes of keys and values of all tenants. Refuses a write with `limit`.";
        front_ends = 128, up to 10_000, of Host,
            "Connected front ends of all tenants. Refuses a further one with `limit`.";
        front_ends_per_tenant = 96, up to 10_000, of Tenant,
            "The same of one tenant.";
        front_ends_per_client = 8, up to 1_000, of Client,
            "Front ends that one token, or one client of an app, has connected. Refuses a further one with `limit`.";
        front_end_tools = 64, up to 256, of Each,
            "Tools of one front end. Refuses to connect it with `limit`.";
        front_end_bytes = 128 * KIB, up to 4 * MIB, of Each,
            "JSON text of the tools of one front end. Refuses to connect it with `limit`.";
        front_end_schema_parts = 16_384, up to 1_048_576, of Each,
            "Values in the schemas of one front end; `schema_parts` holds, too. Refuses to connect it.";
        front_end_pattern_bytes = 512 * KIB, up to 64 * MIB, of Each,
            "All patterns in the schemas of one front end, compiled; `schema_pattern_total_bytes` holds, too. Refuses to connect it.";
        front_end_calls = 64, up to 10_000, of Each,
            "Calls that wait for one front end. Refuses a further one with `limit`.";
        front_end_waiting_calls = 56, up to 10_000, of Host,
            "Calls that wait for front ends of all tenants. Refuses a further one with `limit`, so that other tools find places.";
        front_end_waiting_calls_per_tenant = 40, up to 10_000, of Tenant,
            "The same of one tenant.";
        front_end_waiting_calls_per_session = 24, up to 10_000, of Session,
            "The same of one session.";
        front_end_copy_bytes = 64 * MIB, up to 4 * GIB, of Host,
            "JSON text of the tools of front ends at other hosts of a cluster that this host keeps, for tenants that ask here. Those of a further tenant are not listed here.";
        front_end_copy_bytes_per_tenant = 16 * MIB, up to GIB, of Tenant,
            "The same of one tenant.";
        front_end_silent_milliseconds = 30_000, up to 10 * MINUTE, of Each,
            "How long a front end may neither follow its calls nor ask for them. Disconnects it, and its waiting calls end with `gone`.";
    }
}
