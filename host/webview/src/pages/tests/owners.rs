//! Who sees what.

use std::time::Duration;

use wharf_core::{AssistantId, Context, SessionId, TenantId, WebViewLimits};

use super::support::Bench;
use crate::{DialogAnswer, LogName, OutcomeState, PageId, RequestId, Script, WebViewError};

const SHORT: Duration = Duration::from_millis(1);

fn others(bench: &Bench) -> Vec<(&'static str, Bench)> {
    let session: SessionId = "one".parse().expect("an id");
    let assistant: AssistantId = "helper".parse().expect("an id");
    let tenant: TenantId = "elsewhere".parse().expect("an id");
    let own = Context::new(TenantId::local(), session.clone());
    vec![
        ("another tenant", bench.seen_by(Context::new(tenant, session), "browser")),
        (
            "another session",
            bench.seen_by(Context { session: "two".parse().expect("an id"), ..own.clone() }, "browser"),
        ),
        ("another assistant", bench.seen_by(Context { assistant: Some(assistant), ..own.clone() }, "browser")),
        ("another plugin", bench.seen_by(own, "other")),
    ]
}

#[tokio::test(start_paused = true)]
async fn another_owner_cannot_tell_a_page_from_one_that_never_was() {
    let bench = Bench::new(WebViewLimits::default());
    let (page, absent) = (bench.open(), PageId::random().expect("randomness"));
    let (request, no_request) = (bench.execute(page), RequestId::random().expect("randomness"));
    bench.settle(page, 10);
    for (who, other) in others(&bench) {
        let owner = other.owner();
        let see = async |page: PageId, request: RequestId| {
            let pages = &other.pages;
            let answer = DialogAnswer { accept: true, text: None };
            format!(
                "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                pages.info(&owner, page),
                pages.close(&owner, page, SHORT).await,
                pages.execute(&owner, page, Script::new("1")),
                other.try_perform(page, "stop", ""),
                pages.answer_dialog(&owner, page, answer),
                pages.entries(&owner, page, LogName::Console, 0, 10),
                pages.poll(&owner, request),
                pages.wait(&owner, request, SHORT).await,
                pages.acknowledge(&owner, request),
                pages.cancel(&owner, request),
                pages.read_result(&owner, request, 0, 10, SHORT).await,
            )
        };
        assert_eq!(see(page, request).await, see(absent, no_request).await, "{who}");
        assert!(other.pages.list(&owner).is_empty(), "{who}");
        assert!(matches!(other.pages.info(&owner, page), Err(WebViewError::NoPage)), "{who}");
        assert_eq!(other.poll(request).state, OutcomeState::Unknown, "{who}");
    }
    assert_eq!(bench.poll(request).state, OutcomeState::Done, "nothing of that changed it");
    assert_eq!(bench.pages.list(&bench.owner()).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_operator_sees_and_closes_the_pages_of_all() {
    let bench = Bench::new(WebViewLimits::default());
    let page = bench.open();
    let others = others(&bench);
    let ids: Vec<_> = others.iter().map(|(_, other)| other.open()).collect();
    let all: Vec<_> = bench.pages.all().into_iter().map(|(owner, info)| (owner, info.id)).collect();
    assert_eq!(all.len(), 5);
    assert_eq!(all[0], (bench.owner(), page), "in the order in which they were opened");
    let closed = bench.pages.close_for_operator(ids[0], SHORT).await.expect("a page");
    assert_eq!(closed.closed_because.map(|why| why.as_str()), Some("operator"));
    // Of one session: another assistant and another plugin are in it, too.
    let ended = bench.pages.end_session(&bench.context.tenant, &bench.context.session, SHORT).await;
    assert_eq!((ended, bench.pages.metrics().open), (3, 1));
    assert!(bench.pages.close_for_operator(PageId::random().expect("randomness"), SHORT).await.is_none());
}
