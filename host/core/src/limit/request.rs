//! What the HTTP requests of plugins may use up.

use super::{GIB, KIB, MIB, MINUTE};

limits! {
    /// Limits of the HTTP requests that plugins send, `[request.limits]`.
    RequestLimits {
        in_flight = 256, up to 10_000, of Host,
            "Requests of all tenants at once, each until the end of its answer. A further one fails with `limit`.";
        in_flight_per_tenant = 128, up to 10_000, of Tenant,
            "The same of one tenant.";
        per_call = 100, up to 10_000, of Call,
            "Requests of one call. A further one fails with `limit`.";
        connect_milliseconds = 10_000, up to MINUTE, of Each,
            "How long it may take to find a server and to connect to it, encryption included. Fails the request.";
        first_byte_milliseconds = 30_000, up to 10 * MINUTE, of Each,
            "How long it may take from there to the head of the answer. Fails the request.";
        between_bytes_milliseconds = 30_000, up to 10 * MINUTE, of Each,
            "How long an answer may pause. Ends it.";
        total_milliseconds = 2 * MINUTE, up to 10 * MINUTE, of Each,
            "How long a request may take to the end of its answer. Ends it.";
        head_bytes = 32 * KIB, up to 256 * KIB, of Each,
            "Names and values of the headers of a request, and of an answer. Fails the request.";
        sent_bytes = 4 * MIB, up to GIB, of Each,
            "Body of a request. Fails it.";
        answer_bytes = 16 * MIB, up to GIB, of Each,
            "Body of an answer. Ends it.";
    }
}
