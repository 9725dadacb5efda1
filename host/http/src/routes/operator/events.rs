//! What the operator sees, live: copies of lists, sent again when they have become others. A reader
//! that is slow gets the copy of the moment in which it reads, and holds up nobody.

use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{extract::State, response::Response, routing::get};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::{sync::watch, time::sleep_until};
use wharf_core::{TenantId, service::operator::OperatorList};

use crate::{
    failure::HttpFailure,
    request::parameters::QueryParameters,
    routes::{
        event_stream::{FrameSource, Frames, event_stream},
        route::{AnswerContent, Route, RouteAnswer},
    },
    state::ServerState,
};

const EVENTS: &str = "Server-sent events, each named after its topic: the whole list, as its route answers, first of \
                      all and then whenever it has become another one, once a second at most; `approvals` at once. \
                      Comments keep the connection alive.";
/// How often lists are looked at.
const EACH: Duration = Duration::from_secs(1);
/// How old a copy may be that others have asked for.
const FRESH: Duration = Duration::from_millis(900);

pub(super) fn route() -> Route {
    Route::new(
        "get",
        "/v1/operator/events",
        ("followHost", "Follows what the host does: lists, sent again when they change."),
        get(events),
        vec![RouteAnswer { status: 200, what: "What changes.", content: AnswerContent::Events(EVENTS) }],
    )
    .query::<EventsQuery>()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EventsQuery {
    /// Which, with commas between: `hosts`, `calls`, `terminals`, `processes`, `pages`, `plugins`, `approvals`, `cluster`; `hosts`
    /// and `approvals` where absent.
    topics: Option<String>,
}

fn topic(word: &str) -> Result<OperatorList, HttpFailure> {
    OperatorList::FOLLOWED.into_iter().find(|topic| topic.as_str() == word).ok_or_else(|| {
        let names = OperatorList::FOLLOWED.map(OperatorList::as_str).join(", ");
        HttpFailure::invalid(format!("`topics` has another word than {names}"))
    })
}

async fn events(
    State(server): State<Arc<ServerState>>,
    QueryParameters(query): QueryParameters<EventsQuery>,
) -> Result<Response, HttpFailure> {
    let words = query.topics.as_deref().unwrap_or("hosts,approvals");
    let mut topics = Vec::new();
    for word in words.split(',').map(str::trim) {
        let topic = topic(word)?;
        if !topics.iter().any(|(known, _)| *known == topic) {
            topics.push((topic, Arc::from("")));
        }
    }
    let changes = super::asking::feed(&server)?.service().approval_changes();
    let place = server.reader_permit(&TenantId::local())?;
    let follower =
        Follower { server: Arc::clone(&server), topics, changes, next: Instant::now(), spoke: Instant::now() };
    Ok(event_stream(server, place, follower))
}

struct Follower {
    server: Arc<ServerState>,
    /// Each with what was sent of it last.
    topics: Vec<(OperatorList, Arc<str>)>,
    changes: watch::Receiver<()>,
    /// When the lists are looked at next.
    next: Instant,
    spoke: Instant,
}

impl FrameSource for Follower {
    async fn next(&mut self, heartbeat: Duration) -> Option<Frames> {
        let server = Arc::clone(&self.server);
        let feed = server.operator.as_ref()?;
        loop {
            let has_changed = tokio::select! {
                () = sleep_until(self.next.into()) => false,
                changed = self.changes.changed() => { changed.ok()?; true }
            };
            if !has_changed {
                self.next = Instant::now() + EACH;
            }
            let mut text = String::new();
            for (topic, sent) in &mut self.topics {
                let age = match (has_changed, *topic) {
                    (true, OperatorList::Approvals) => Duration::ZERO,
                    (true, _) => continue,
                    (false, _) => FRESH,
                };
                let copy = feed.copy(*topic, age).await;
                if copy != *sent {
                    // JSON has no line breaks of its own.
                    let _ = write!(text, "event: {}\ndata: {copy}\n\n", topic.as_str());
                    *sent = copy;
                }
            }
            if !text.is_empty() {
                self.spoke = Instant::now();
                return Some(Frames::new(text));
            }
            if self.spoke.elapsed() >= heartbeat {
                self.spoke = Instant::now();
                return Some(Frames::heartbeat());
            }
        }
    }
}
