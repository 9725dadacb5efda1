//! Origins that a person has to allow, and pages that get there by themselves.

use serde_json::json;
use wharf::approvals::ApprovalAnswer;
use wharf_tests::{Setup, Site, until};

use super::{here, ok, page, page_at, perform, value, waited};

#[tokio::test]
async fn no_redirect_link_or_script_leads_a_page_where_a_person_has_not_let_it_go() {
    let (free, guarded) = (Site::start(), Site::start());
    let granted = Setup::new()
        .webviews(&format!("origins = [\"{}\", \"{}\"]\nprivate_addresses = true", free.origin(), guarded.origin()))
        .with_tables(&format!("[approvals]\norigins = [\"{}\"]", guarded.origin()));
    let fixture = granted.open().await;
    let id = page(&fixture, &here()).await;
    let redirected = free.at(&format!("/elsewhere?{}", guarded.at("/second")));
    let outcome = perform(&fixture, &here(), &id, "navigate", json!({"url": redirected})).await;
    assert!(outcome["state"] == "failed" || outcome.to_string().contains("refused"), "{outcome}");

    let to_front = perform(&fixture, &here(), &id, "navigate", json!({"url": free.at("/")})).await;
    assert_eq!(to_front["state"], "done", "{to_front}");
    let reach = format!(
        "return await fetch({:?}, {{ mode: 'no-cors' }}).then(answer => answer.type === 'opaque' ? 'opaque' : answer.status, () => 'refused')",
        guarded.at("/by-script")
    );
    value(&fixture, &here(), &id, &reach).await;
    let leaves = page_at(&fixture, &here(), &free.at("/")).await;
    let link = format!("location.href = {:?}; return 1", guarded.at("/by-link"));
    value(&fixture, &here(), &leaves, &link).await;
    let log =
        || async { ok(&fixture, &here(), "entries", &leaves, json!({"log": "network", "max": 100})).await.to_string() };
    wharf_tests::until_async("the log of the page says why", async || {
        let log = log().await;
        if log.contains("by-link") && log.contains("a person has to allow") { Ok(()) } else { Err(log) }
    })
    .await;
    assert!(fixture.host.approvals().waiting().is_empty(), "nobody is asked");
    for path in ["/second", "/by-script", "/by-link"] {
        assert!(!guarded.was_asked(path), "{path}");
    }

    let parameters = json!({"url": guarded.at("/")}).to_string();
    let arguments = json!({"function": "perform", "id": id, "operation": "navigate", "parameters": parameters});
    let running = fixture.start(&here(), "hostile__ask_page", arguments);
    let approvals = fixture.host.approvals();
    until("a person is asked", || approvals.waiting().len() == 1).await;
    approvals.answer(&approvals.waiting()[0].id, ApprovalAnswer::Once).expect("it waits");
    let request = wharf_tests::found(running.outcome().await)["ok"].clone();
    let outcome = waited(&fixture, &here(), &request).await;
    assert_eq!(outcome["state"], "done", "{outcome}");
    assert!(guarded.was_asked("/second"), "with its frame");

    // Another page was let nowhere.
    let other = page(&fixture, &here()).await;
    perform(&fixture, &here(), &other, "navigate", json!({"url": free.at("/")})).await;
    value(&fixture, &here(), &other, &reach).await;
    assert!(!guarded.was_asked("/by-script"));
}
