//! What streams of events may use up.

use super::{HOUR_SECONDS, KIB, MIB};

limits! {
    /// Limits of streams of events, `[stream.limits]`.
    StreamLimits {
        streams = 256, up to 10_000, of Host,
            "Streams of all tenants, ended ones that are kept included. A further one displaces the oldest ended one of its own tenant; without one, refuses to open another with `limit`.";
        streams_per_tenant = 192, up to 10_000, of Tenant,
            "The same of one tenant.";
        streams_per_session = 32, up to 1_000, of Session,
            "The same of one session. The oldest ended one of the session goes.";
        kept_events = 1_024, up to 100_000, of Each,
            "Events that a stream keeps for readers that come back. Evicts the oldest.";
        kept_bytes = 512 * KIB, up to 64 * MIB, of Each,
            "Bytes of the events that a stream keeps. Evicts the oldest.";
        event_bytes = 64 * KIB, up to MIB, of Each,
            "JSON text of one event. Refuses it with `limit`.";
        idle_seconds = HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS, of Each,
            "How long a stream may be neither written nor read. Ends it; that of a terminal lives as long as the terminal.";
        ended_seconds = HOUR_SECONDS, up to 365 * 24 * HOUR_SECONDS, of Each,
            "How long an ended stream can still be read. Removes it.";
    }
}
