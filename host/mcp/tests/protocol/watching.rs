//! Clients of either era hear of it when prompts and resources change, each of its own.

use serde_json::{Value, json};
use wharf_core::{
    Context, ContextRules,
    service::{Audience, offer::Change},
};

use crate::{
    shelf::{Shelf, prompt, session},
    support::{Client, modern},
};

const PROMPTS: &str = "notifications/prompts/list_changed";
const RESOURCES: &str = "notifications/resources/list_changed";
const UPDATED: &str = "notifications/resources/updated";

const EVERYBODY: Audience = Audience { tenant: None, plugins: None };
const PROMPTS_CHANGED: Change = Change::Prompts(EVERYBODY);
const RESOURCES_CHANGED: Change = Change::Resources(EVERYBODY);

fn of_owner(context: Context, uri: &str) -> Change {
    Change::Resource { context, uri: uri.into(), plugin: "test".parse().expect("legal") }
}

fn changed(session_name: &str, uri: &str) -> Change {
    of_owner(session(session_name), uri)
}

/// A client of the older era that hears of everything from now on.
async fn attentive(shelf: &std::sync::Arc<Shelf>) -> Client {
    let mut client = shelf.legacy(json!({})).await;
    shelf.say(PROMPTS_CHANGED);
    assert_eq!(client.receive().await["method"], PROMPTS);
    client
}

async fn watch(client: &mut Client, method: &str, uri: &str, session: &str) -> Value {
    client.ask(1, method, json!({"uri": uri, "_meta": {"dev.wharf/sessionId": session}})).await
}

fn listen(id: i64, wanted: Value, session: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen",
           "params": {"notifications": wanted, "_meta": modern(json!({"dev.wharf/sessionId": session}))}})
}

#[tokio::test]
async fn a_client_of_2025_is_told_of_changed_lists_unasked() {
    let shelf = Shelf::new();
    let mut client = shelf.legacy(json!({})).await;
    shelf.say(PROMPTS_CHANGED);
    assert_eq!(client.receive().await, json!({"jsonrpc": "2.0", "method": PROMPTS}));
    shelf.say(RESOURCES_CHANGED);
    assert_eq!(client.receive().await, json!({"jsonrpc": "2.0", "method": RESOURCES}));
}

#[tokio::test]
async fn what_a_plugin_tells_in_a_call_reaches_the_clients_of_its_tenant_alone() {
    let shelf = Shelf::new();
    let mut client = attentive(&shelf).await;
    let reach = |tenant: &str| Audience { tenant: tenant.parse().ok(), plugins: None };
    shelf.say(Change::Resources(reach("stranger")));
    shelf.say(Change::Prompts(reach("local")));
    assert_eq!(client.receive().await["method"], PROMPTS);
}

#[tokio::test]
async fn a_client_is_not_told_of_what_was_not_announced_to_it() {
    for (prompts, unheard, heard, method) in
        [(true, RESOURCES_CHANGED, PROMPTS_CHANGED, PROMPTS), (false, PROMPTS_CHANGED, RESOURCES_CHANGED, RESOURCES)]
    {
        let shelf = Shelf::with(prompts, !prompts);
        let mut client = shelf.legacy(json!({})).await;
        shelf.say(unheard);
        shelf.say(heard);
        assert_eq!(client.receive().await["method"], method);
    }
}

#[tokio::test]
async fn who_asks_for_what_has_come_since_is_served() {
    let shelf = Shelf::with(false, false);
    let mut client = shelf.legacy(json!({})).await;
    assert_eq!(client.ask(1, "prompts/list", json!({})).await["error"]["code"], -32601);
    *shelf.prompts.lock().expect("not poisoned") = [prompt("late", &[])].into();
    let listed = client.ask(2, "prompts/list", json!({})).await;
    assert_eq!(listed["result"]["prompts"][0]["name"], "test__late", "{listed}");
}

#[tokio::test]
async fn a_client_of_2025_hears_of_the_resources_that_it_watches_in_their_conversation() {
    let shelf = Shelf::new();
    let mut client = attentive(&shelf).await;
    assert_eq!(watch(&mut client, "resources/subscribe", "test://a", "s").await["result"], json!({}));
    for unheard in [changed("other", "test://a"), changed("s", "test://b")] {
        shelf.say(unheard);
    }
    shelf.say(changed("s", "test://a"));
    assert_eq!(client.receive().await, json!({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": "test://a"}}));
    let mut foreign = session("s");
    foreign.tenant = "stranger".parse().expect("legal");
    shelf.say(of_owner(foreign, "test://a"));
    let within = Context { thread: "t".parse().ok(), ..session("s") };
    shelf.say(of_owner(within, "test://a"));
    assert_eq!(client.receive().await["method"], UPDATED, "a thread is part of its session");
    // Not that of another session: that one was never watched.
    watch(&mut client, "resources/unsubscribe", "test://a", "other").await;
    shelf.say(changed("s", "test://a"));
    assert_eq!(client.receive().await["method"], UPDATED);
    assert_eq!(watch(&mut client, "resources/unsubscribe", "test://a", "s").await["result"], json!({}));
    shelf.say(changed("s", "test://a"));
    shelf.say(PROMPTS_CHANGED);
    assert_eq!(client.receive().await["method"], PROMPTS, "and nothing before it");
}

#[tokio::test]
async fn where_changes_were_missed_everything_has_changed_for_those_whom_they_concern() {
    let shelf = Shelf::new();
    let mut client = attentive(&shelf).await;
    watch(&mut client, "resources/subscribe", "test://a", "s").await;
    let missed = |tenant: Option<&str>| {
        let tenant = tenant.map(|tenant| tenant.parse().expect("legal"));
        Change::Missed(Audience { tenant, plugins: None })
    };
    shelf.say(missed(Some("stranger")));
    shelf.say(changed("s", "test://a"));
    assert_eq!(client.receive().await["method"], UPDATED, "what another tenant missed is no news");
    for tenant in [None, Some("local")] {
        shelf.say(missed(tenant));
        let mut heard = [client.receive().await, client.receive().await, client.receive().await]
            .map(|told| told["method"].as_str().expect("a method").to_owned());
        heard.sort();
        assert_eq!(heard, [PROMPTS, RESOURCES, UPDATED]);
    }
}

#[tokio::test]
async fn watched_resources_are_bounded() {
    let shelf = Shelf::new();
    let mut client = shelf.legacy(json!({})).await;
    for at in 0..256 {
        let answer = watch(&mut client, "resources/subscribe", &format!("test://{at}"), "s").await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let refused = watch(&mut client, "resources/subscribe", "test://256", "s").await;
    assert!(refused["error"]["message"].as_str().is_some_and(|told| told.contains("256")), "{refused}");
    assert!(watch(&mut client, "resources/subscribe", "test://7", "s").await["result"].is_object(), "twice is once");
    watch(&mut client, "resources/unsubscribe", "test://7", "s").await;
    assert!(watch(&mut client, "resources/subscribe", "test://256", "s").await["result"].is_object());
    let long = format!("test://{}", "x".repeat(2 << 10));
    assert_eq!(watch(&mut client, "resources/subscribe", &long, "s").await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_client_of_2026_hears_of_what_it_has_subscribed_to() {
    let shelf = Shelf::new();
    let mut client = shelf.connect();
    let wanted = json!({"promptsListChanged": true, "resourceSubscriptions": ["test://a"]});
    client.send(listen(4, wanted.clone(), "s")).await;
    let acknowledged = client.receive().await;
    assert_eq!(acknowledged["params"]["notifications"], wanted, "{acknowledged}");
    shelf.say(RESOURCES_CHANGED);
    shelf.say(changed("other", "test://a"));
    shelf.say(changed("s", "test://b"));
    shelf.say(changed("s", "test://a"));
    let told = client.receive().await;
    assert_eq!((&told["method"], &told["params"]["uri"]), (&json!(UPDATED), &json!("test://a")), "{told}");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 4);
    shelf.say(PROMPTS_CHANGED);
    assert_eq!(client.receive().await["method"], PROMPTS);
}

#[tokio::test]
async fn what_changes_before_a_subscription_is_served_is_told() {
    let shelf = Shelf::new();
    let mut client = shelf.connect();
    for id in 1..=10 {
        client.send(listen(id, json!({"resourcesListChanged": true}), "s")).await;
        assert_eq!(client.receive().await["method"], "notifications/subscriptions/acknowledged");
        // Said as soon as the client believes that it hears everything.
        shelf.say(RESOURCES_CHANGED);
        for _ in 0..id {
            assert_eq!(client.receive().await["method"], RESOURCES);
        }
    }
}

#[tokio::test]
async fn of_too_many_addresses_the_first_are_heard() {
    let shelf = Shelf::new();
    let mut client = shelf.connect();
    let mut uris: Vec<_> = (0..300).map(|at| format!("test://{at}")).collect();
    uris[0] = "x".repeat(3_000);
    client.send(listen(1, json!({"resourceSubscriptions": uris}), "s")).await;
    let acknowledged = client.receive().await;
    let accepted = acknowledged["params"]["notifications"]["resourceSubscriptions"].as_array().expect("addresses");
    assert_eq!((accepted.len(), &accepted[0], &accepted[255]), (256, &json!("test://1"), &json!("test://256")));
}

#[tokio::test]
async fn who_could_not_follow_is_told_that_everything_has_changed() {
    let shelf = Shelf::new();
    let mut client = attentive(&shelf).await;
    watch(&mut client, "resources/subscribe", "test://a", "s").await;
    // More at once than the four that are kept, without giving anybody the time to hear of them.
    for _ in 0..9 {
        shelf.say(changed("other", "test://b"));
    }
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(client.receive().await["method"].as_str().expect("a method").to_owned());
    }
    assert_eq!(told, [PROMPTS, RESOURCES, UPDATED]);
}

#[tokio::test]
async fn a_subscription_names_its_conversation_legally_or_not_at_all() {
    let shelf = Shelf::new();
    let mut client = shelf.connect();
    client.send(listen(1, json!({"promptsListChanged": true}), "not legal")).await;
    let mut answer = client.receive().await;
    if answer["id"] != 1 {
        answer = client.receive().await;
    }
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let strict = ContextRules { require_session: true, ..ContextRules::local() };
    let mut client = Client::connect_to_all(shelf.served(), strict);
    let asked = client.ask(2, "resources/list", json!({"_meta": modern(json!({}))})).await;
    assert_eq!(asked["error"]["code"], -32602, "{asked}");
}
