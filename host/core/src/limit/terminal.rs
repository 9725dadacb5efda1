//! What terminals may use up.

use super::{GIB, HOUR_SECONDS, KIB, MIB, MINUTE};

limits! {
    /// Limits of terminals, `[terminal.limits]`. What their programs may use up
    /// is with [`ProcessLimits`](super::ProcessLimits).
    TerminalLimits {
        open = 20, up to 1_000, of Host,
            "Open terminals of all tenants. A further one closes the one of its own tenant that is unused for longest, and for `evictable_after_seconds` at least; where there is none, refuses with `limit`.";
        open_per_tenant = 16, up to 1_000, of Tenant,
            "The same of one tenant.";
        open_per_session = 8, up to 1_000, of Session,
            "The same of one session.";
        open_per_owner = 1, up to 100, of Owner,
            "Open terminals of one plugin, session and assistant. A further one replaces the one used least recently, once it runs.";
        evictable_after_seconds = 120, up to 7 * 24 * HOUR_SECONDS, of Each,
            "How long a terminal must be unused before a further one of its tenant may close it to have room. Within that time it is in use.";
        idle_seconds = 900, up to 7 * 24 * HOUR_SECONDS, of Each,
            "How long a terminal may be unused. Closes it.";
        ended = 40, up to 10_000, of Host,
            "Closed terminals of all tenants that are kept with their output. A further one displaces the oldest of its own tenant; where there is none, it is not kept.";
        ended_per_tenant = 30, up to 10_000, of Tenant,
            "The same of one tenant. The oldest goes first.";
        ended_per_session = 15, up to 10_000, of Session,
            "The same of one session. The oldest goes first.";
        ended_per_owner = 5, up to 1_000, of Owner,
            "The same of one plugin, session and assistant. The oldest goes first.";
        tombstone_seconds = HOUR_SECONDS, up to 30 * 24 * HOUR_SECONDS, of Each,
            "How long a closed terminal and its output are kept.";
        lifetime_seconds = 24 * HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS, of Each,
            "How long a terminal may be open, whatever a grant says. Closes it.";
        restarts = 5, up to 100, of Each,
            "How often a program that crashes is started again within `restart_window_seconds`. Then its terminal is closed.";
        restart_window_seconds = 600, up to 24 * HOUR_SECONDS, of Each,
            "The time in which restarts are counted.";
        wait_milliseconds = 10 * MINUTE, up to 10 * MINUTE, of Each,
            "How long one wait for a terminal may last.";
        history_bytes = 256 * KIB, up to 64 * MIB, of Each,
            "Bytes of output that each terminal keeps, and as many of its text. The oldest go first.";
        input_characters = 10_000, up to 100_000, of Each,
            "Characters of one text that is typed. Refuses a longer one with `limit`.";
        history_lines = 200, up to 10_000, of Each,
            "Lines that each terminal keeps of what went off the top of its screen, about 2 KiB each.";
        recording_bytes_per_session = 256 * MIB, up to 1_024 * GIB, of Session,
            "Bytes of recordings of terminals of one session, in blocks of 4 KiB. Removes the session's oldest recordings that have ended; where there is none, a recording that needs room ends with a note, and a further one is not begun.";
        recording_bytes_per_tenant = 512 * MIB, up to 16_384 * GIB, of Tenant,
            "The same of one tenant.";
        recording_bytes = GIB, up to 16_384 * GIB, of Host,
            "The same of all tenants. Removes recordings of the tenant that needs room, and of no other.";
    }
}
