//! A page belongs to tenant, plugin, session and assistant, and to nobody else.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wharf::Context;
use wharf_tests::{Setup, Site, component, context, found};

use super::{OF_PAGE, OF_REQUEST, here, ok, page, page_at, run, value};

/// What makes sense for a function.
fn arguments(function: &str, id: &str) -> Value {
    let mut arguments = json!({
        "function": function, "id": id, "script": "document.title = 'theirs'", "operation": "navigate",
        "parameters": "{\"url\": \"about:blank\"}", "log": "console", "bytes": 10, "max": 10, "accept": true,
    });
    if function == "wait" {
        arguments["milliseconds"] = 1.into();
    }
    arguments
}

#[tokio::test]
async fn who_does_not_own_a_page_or_a_request_cannot_tell_it_from_one_that_never_was() {
    let site = Site::start();
    let grant = format!("reason = \"a test\"\norigins = [\"{}\"]\nprivate_addresses = true", site.origin());
    let other = format!("[plugin.other.grants.webview]\n{grant}");
    let setup = Setup::new().webviews(&grant.replace("reason = \"a test\"\n", ""));
    let fixture = setup.plugin("other", &component("guest-hostile"), &other).open().await;
    let id = page_at(&fixture, &here(), &site.at("/")).await;
    let done = run(&fixture, &here(), &id, "'mine'").await;
    assert_eq!(done["data"], "\"mine\"");
    let kept = ok(&fixture, &here(), "execute", &id, json!({"script": "'secret'"})).await;
    super::waited(&fixture, &here(), &kept).await;
    let pending =
        ok(&fixture, &here(), "execute", &id, json!({"script": "new Promise(() => {})", "milliseconds": 300_000}))
            .await;
    let (kept, pending) = (kept.as_str().expect("an id"), pending.as_str().expect("an id"));

    let assisted = Context { assistant: Some("a".parse().expect("legal")), ..here() };
    let contexts = [
        (context("local", "another"), "hostile"),
        (context("another", "test"), "hostile"),
        (assisted, "hostile"),
        (here(), "other"),
    ];
    let forged = |real: &str| {
        [
            "0".repeat(real.len()),
            real.to_uppercase(),
            String::new(),
            "../".repeat(10),
            format!("{real}\u{0}"),
            format!(" {real}"),
        ]
    };
    // Strangers with the real thing; the owner with what was forged, or with one in
    // the place of the other.
    let mut tries: Vec<(Context, &str, String, bool)> = Vec::new();
    for (stranger, plugin) in &contexts {
        tries.push((stranger.clone(), plugin, id.clone(), true));
        tries.extend([kept, pending].map(|request| (stranger.clone(), *plugin, request.to_owned(), false)));
    }
    tries.extend(forged(&id).map(|id| (here(), "hostile", id, true)));
    tries.extend(forged(kept).map(|id| (here(), "hostile", id, false)));
    tries.push((here(), "hostile", kept.to_owned(), true));
    tries.push((here(), "hostile", id.clone(), false));
    let mut told = BTreeSet::new();
    for (who, plugin, asked, is_page) in &tries {
        let functions: &[&str] = if *is_page { &OF_PAGE } else { &OF_REQUEST };
        for function in functions {
            let asked = found(fixture.call_in(who, &format!("{plugin}__ask_page"), arguments(function, asked)).await);
            assert_eq!(asked["refused"]["code"], "not-found", "{function} by {plugin} in {who:?}: {asked}");
            told.insert(asked["refused"]["message"].to_string());
        }
        // What the owner has is no page, and a request all the same.
        let real = *is_page && asked == kept;
        for function in ["poll", "wait"].iter().filter(|_| !real) {
            let asked = found(fixture.call_in(who, &format!("{plugin}__ask_page"), arguments(function, asked)).await);
            assert_eq!(asked["ok"]["state"], "unknown", "{function} by {plugin} in {who:?}: {asked}");
            assert_eq!((&asked["ok"]["data"], &asked["ok"]["elapsed"]), (&json!(""), &json!(0)), "{asked}");
        }
    }
    assert_eq!(told.len(), 2, "a page and a request, each in the same words: {told:?}");
    for (stranger, plugin) in &contexts {
        let listed = found(fixture.call_in(stranger, &format!("{plugin}__ask_page"), arguments("list", "")).await);
        assert_eq!(listed["ok"], json!([]));
    }
    // Its owner finds all as it was.
    assert_eq!(value(&fixture, &here(), &id, "document.title").await, "Harbour");
    assert_eq!(ok(&fixture, &here(), "poll", kept, json!({})).await["data"], "\"secret\"");
    assert_eq!(ok(&fixture, &here(), "poll", pending, json!({})).await["state"], "pending");
}

#[tokio::test]
async fn a_page_sees_nothing_that_another_one_keeps() {
    let site = Site::start();
    let fixture = super::visits(&site, "").open().await;
    let other = context("local", "another");
    let keep = "document.cookie = 'a=1'; localStorage.a = 1; sessionStorage.a = 1; \
                const cache = await caches.open('a'); await cache.put('/x', new Response('x')); [document.cookie, localStorage.a]";
    let look = "[document.cookie, Object.keys(localStorage), Object.keys(sessionStorage), await caches.keys()]";
    let one = page_at(&fixture, &here(), &site.at("/")).await;
    assert_eq!(value(&fixture, &here(), &one, keep).await, json!(["a=1", "1"]));
    for who in [here(), other] {
        let two = page_at(&fixture, &who, &site.at("/")).await;
        assert_eq!(value(&fixture, &who, &two, look).await, json!(["", [], [], []]), "{who:?}");
    }
}

#[tokio::test]
async fn an_app_that_lets_go_of_its_host_keeps_no_browser_of_it() {
    let site = Site::start();
    let scratch = super::lost::scratch();
    let table = format!("[webview]\ntemporary = '{}'", scratch.path().display());
    let fixture = super::visits(&site, "").with_tables(&table).open().await;
    page_at(&fixture, &here(), &site.at("/")).await;
    let mark = scratch.path().display().to_string();
    assert!(wharf_tests::lives(&mark), "the browser runs with a profile there");
    let wharf_tests::Fixture { host, data } = fixture;
    drop(host);
    wharf_tests::until("the browser is gone", || !wharf_tests::lives(&mark)).await;
    wharf_tests::until("nothing is left", || super::lost::left(&scratch) == 0).await;
    drop(data);
}

#[tokio::test]
async fn two_hosts_on_one_directory_keep_their_pages_apart() {
    let site = Site::start();
    let setup = super::visits(&site, "");
    let one = setup.open().await;
    let id = page(&one, &here()).await;
    let host = wharf::Host::open(setup.configuration(), one.data.path()).await.expect("a second host opens");
    let two = wharf_tests::Fixture { host: host.into(), data: wharf_tests::Data::new() };
    assert_eq!(ok(&two, &here(), "list", "", json!({})).await, json!([]));
    let asked = arguments("get", &id);
    assert_eq!(found(two.call("hostile__ask_page", asked).await)["refused"]["code"], "not-found");
    assert_eq!(ok(&one, &here(), "get", &id, json!({})).await["id"], json!(id));
}
