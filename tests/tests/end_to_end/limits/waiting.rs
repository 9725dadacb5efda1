//! Calls that wait for a person.

use serde_json::json;
use wharf::{Code, approvals::ApprovalAnswer};
use wharf_tests::{Setup, context, until};

use super::assert_ended_by;

#[tokio::test]
pub(super) async fn calls_that_wait_for_a_person_are_bounded_by_session_tenant_and_host() {
    for (limit, full, free) in [
        ("waiting_approvals_per_session", ("local", "s"), Some(("local", "t"))),
        ("waiting_approvals_per_tenant", ("local", "t"), Some(("other", "s"))),
        ("waiting_approvals", ("other", "s"), None),
    ] {
        let setup = Setup::new().host_limit(limit, 1).with_tables("[approvals]\napprove = [\"hostile__caller\"]");
        let fixture = setup.open().await;
        let first = fixture.start(&context("local", "s"), "hostile__caller", json!({}));
        let approvals = fixture.host.approvals().clone();
        until("it waits", || approvals.waiting().len() == 1).await;
        assert_ended_by(
            limit,
            Code::Limit,
            fixture.call_in(&context(full.0, full.1), "hostile__caller", json!({})).await,
        );
        let other =
            free.map(|(tenant, session)| fixture.start(&context(tenant, session), "hostile__caller", json!({})));
        until("there is room", || approvals.waiting().len() == 1 + usize::from(free.is_some())).await;
        for waiting in approvals.waiting() {
            approvals.answer(&waiting.id, ApprovalAnswer::Once).expect("it waits");
        }
        first.outcome().await.expect("it runs");
        if let Some(other) = other {
            other.outcome().await.expect("it runs");
        }
    }
}
