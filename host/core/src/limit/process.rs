//! What child processes and the files of sessions may use up.

use super::{GIB, HOUR_SECONDS, MIB, MINUTE};

limits! {
    /// Limits of child processes and of the files of a session,
    /// `[process.limits]`.
    ProcessLimits {
        running_per_session = 20, up to 1_000, of Session,
            "Starting and running processes of one session. Refuses a further one with `limit`.";
        running_per_tenant = 100, up to 10_000, of Tenant,
            "The same of one tenant.";
        running = 200, up to 100_000, of Host,
            "The same of all tenants.";
        ended_per_session = 1_000, up to 100_000, of Session,
            "Ended processes of one session that are kept. The oldest goes first.";
        ended_per_tenant = 4_000, up to 1_000_000, of Tenant,
            "The same of one tenant.";
        ended = 16_000, up to 10_000_000, of Host,
            "The same of all tenants. The oldest of the tenant that starts another goes; where it has none, refuses to start with `limit`.";
        tombstone_seconds = 24 * HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS, of Each,
            "How long an ended process and its output are kept. Removes them, hourly.";
        lifetime_seconds = 24 * HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS, of Each,
            "How long a process may run, whatever a grant says. Kills it (`time-limit`).";
        output_kept_bytes = 256 * MIB, up to 64 * GIB, of Each,
            "Bytes of each of its two streams that are kept on disk; at least 256 KiB. Evicts the oldest.";
        output_disk_bytes_per_session = 512 * MIB, up to 1_024 * GIB, of Session,
            "Bytes of output of all processes of one session that are kept on disk. Evicts that of ended processes, the oldest first, then the oldest of what prints; refuses to start with `limit` where 512 KiB have no room.";
        output_disk_bytes_per_tenant = 2 * GIB, up to 16_384 * GIB, of Tenant,
            "The same of one tenant.";
        output_disk_bytes = 8 * GIB, up to 16_384 * GIB, of Host,
            "The same of all tenants. Evicts output of the tenant that needs room, and of no other.";
        output_total_bytes = 64 * GIB, up to 16_384 * GIB, of Each,
            "Bytes that each of its two streams may print in all. Kills the process (`quota`).";
        wait_milliseconds = 10 * MINUTE, up to 10 * MINUTE, of Each,
            "How long one wait for a process may last. Ends the wait with `time-up`.";
        cpu_seconds = 4 * HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS, of Each,
            "Time that each process of a tree may compute. The system ends it (SIGXCPU, then SIGKILL).";
        memory_bytes = 4 * GIB, up to 1_024 * GIB, of Each,
            "Data of each process of a tree. Its allocations fail.";
        open_files = 1_024, up to 1_000_000, of Each,
            "Open descriptors of each process of a tree. Opening another one fails.";
        processes = 512, up to 100_000, of Session,
            "Processes and threads of a session together. Its forks fail.";
        file_size_bytes = 4 * GIB, up to 16_384 * GIB, of Each,
            "Size of each file that a process writes. Its writes fail (SIGXFSZ).";
        workspace_bytes = 4 * GIB, up to 16_384 * GIB, of Session,
            "Bytes of the files of one session, counted as plugins write them and measured while it has processes or calls. Kills its processes (`quota`) and refuses to start any with `limit`; refuses writes of plugins, and at the 16th of a call ends the call with `limit`.";
        workspace_entries = 1_000_000, up to 100_000_000, of Session,
            "Files and directories of one session; nested more than 256 deep is too many. Kills the session's processes (`quota`), and refuses to start any and its writes.";
        workspace_total_bytes_per_tenant = 64 * GIB, up to 16_384 * GIB, of Tenant,
            "Bytes of all workspaces of one tenant. Refuses its writes and to start processes, and kills its processes in workspaces that grow (`quota`).";
        workspace_total_bytes = 256 * GIB, up to 16_384 * GIB, of Host,
            "Bytes of all workspaces of all tenants, each counted with no more than `workspace_total_bytes_per_tenant`. The same.";
        workspace_total_entries_per_tenant = 4_000_000, up to 100_000_000, of Tenant,
            "Files and directories of all workspaces of one tenant. The same.";
        workspace_total_entries = 16_000_000, up to 100_000_000, of Host,
            "Files and directories of all workspaces of all tenants, counted likewise. The same.";
        workspaces_per_tenant = 4_000, up to 1_000_000, of Tenant,
            "Sessions of one tenant that have a workspace. Refuses to make another one with `limit`.";
        workspaces = 10_000, up to 1_000_000, of Host,
            "The same of all tenants.";
        exchange_bytes = 4 * GIB, up to 16_384 * GIB, of Each,
            "Bytes that an exchange folder may hold, what the operator put there included. Refuses writes of plugins; at the 16th of a call it ends the call with `limit`.";
        exchange_bytes_per_tenant = 2 * GIB, up to 16_384 * GIB, of Tenant,
            "Bytes that calls of one tenant have written to an exchange folder and that still exist. The same.";
        exchange_entries = 1_000_000, up to 100_000_000, of Each,
            "Files and directories that an exchange folder may hold, likewise. The same.";
        exchange_entries_per_tenant = 250_000, up to 100_000_000, of Tenant,
            "Files and directories that calls of one tenant have made in an exchange folder and that still exist. The same.";
    }
}
