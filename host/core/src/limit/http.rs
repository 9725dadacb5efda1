//! What clients over HTTP may use up.

use super::{HOUR_SECONDS, MIB, MINUTE};

limits! {
    /// Limits of serving over HTTP, `[http.limits]`.
    HttpLimits {
        connections = 1_280, up to 65_536, of Host,
            "Connections at once on which a token was shown. A further one waits for a second, and is then refused with `limit`.";
        connections_per_tenant = 1_024, up to 65_536, of Tenant,
            "The same of one tenant.";
        connections_without_token = 512, up to 65_536, of Host,
            "Connections at once on which no token was shown yet; these places are apart from those of `connections`. A further one closes the oldest.";
        connections_without_token_per_address = 64, up to 65_536, of Address,
            "The same of one address, or of one /64 of IPv6. A further one closes the oldest of that address. The loopback and a socket have no limit of their own, since all their clients share one address.";
        wrong_tokens_per_address = 60, up to 1_000_000, of Address,
            "Requests within a minute with a token that opens nothing, of one address or of one /64 of IPv6. No further token of it is looked at until the minute is over, which is refused with `limit`; those under [[http.tokens]], and issued ones that held before, open the host all the same. The loopback and a socket have no such limit.";
        arrival_without_token_milliseconds = 5_000, up to 10 * MINUTE, of Each,
            "How long a connection may take, from its beginning, until a token was shown on it or its one request without a token is answered. Closes the connection.";
        readers = 1_024, up to 65_536, of Host,
            "Requests of all tenants at once that follow something or wait. Refuses a further one with `limit`.";
        readers_per_tenant = 768, up to 65_536, of Tenant,
            "The same of one tenant.";
        body_bytes = MIB, up to 64 * MIB, of Each,
            "Body of a request. Refuses it with `limit`.";
        wait_milliseconds = MINUTE, up to 10 * MINUTE, of Each,
            "How long a request may wait for something to happen. Clamps what is asked for.";
        heartbeat_milliseconds = 15_000, up to 10 * MINUTE, of Each,
            "How long a followed stream may be silent. Sends a comment.";
        arrival_milliseconds = 10_000, up to 10 * MINUTE, of Each,
            "How long the head of a request, and again its body, may take to arrive. Closes the connection.";
        stall_milliseconds = 30_000, up to 10 * MINUTE, of Each,
            "How long a client may take nothing of what is sent. Closes the connection.";
        grace_milliseconds = 5_000, up to 10 * MINUTE, of Host,
            "How long running requests may still take when the host stops. Closes the connections.";
        message_bytes = 4 * MIB, up to 16 * MIB, of Each,
            "One message of the protocol. Refuses it with `limit`.";
        calls = 1_024, up to 65_536, of Host,
            "Requests of the protocol at once, of all clients. Refuses a further one with `limit`.";
        calls_per_tenant = 768, up to 65_536, of Tenant,
            "The same of one tenant.";
        calls_per_client = 256, up to 65_536, of Client,
            "The same with one token, which may have a lower limit of its own.";
        requests_per_second = 1_000, up to 1_000_000, of Client,
            "Requests of any kind with one token, or for one tenant of an authorization server, which may have a lower limit of its own. Refuses a further one with `limit`.";
        sessions = 1_024, up to 65_536, of Host,
            "Sessions of clients that use the handshake of 2025-11-25. A further one ends the client's own one unused for longest; where all are in use, refuses with `limit`.";
        sessions_per_tenant = 256, up to 65_536, of Tenant,
            "The same of one tenant.";
        session_idle_seconds = 1_800, up to 7 * 24 * HOUR_SECONDS, of Each,
            "How long a session may be unused; a running call or a followed stream uses it. Ends it.";
        session_bytes = 2 * MIB, up to 64 * MIB, of Each,
            "Bytes that a session keeps of what its client has not read, or may ask for again. The oldest go first, answers that were read before others.";
    }
}
