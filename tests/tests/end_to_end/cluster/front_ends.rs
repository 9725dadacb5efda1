//! Front ends that are connected at one host and serve calls at all.

use serde_json::{Value, json};
use wharf_tests::{
    Following, Reply, blocking,
    cluster::{Cluster, ClusterHost},
    replied,
};

use super::cluster;
use crate::{front_ends, tenants::heard::Heard};

/// A page, which any host may speak to.
struct Page {
    place: String,
}

impl Page {
    fn try_connect(at: &ClusterHost, name: &str, further: &Value) -> Reply {
        let mut wanted = front_ends::with_tools(name, [front_ends::tool("t")]);
        for (member, value) in further.as_object().into_iter().flatten() {
            wanted[member] = value.clone();
        }
        at.server.ask("POST", "/v1/front-ends", "page", Some(wanted))
    }

    #[track_caller]
    fn connect(at: &ClusterHost, name: &str, further: &Value) -> Self {
        let reply = Self::try_connect(at, name, further);
        assert_eq!(reply.status, 201, "{reply:?}\n{}", at.server.log());
        Self { place: reply.header("location").expect("a place").to_owned() }
    }

    fn follow(&self, at: &ClusterHost) -> Following {
        at.server.follow("GET", &format!("{}/calls/events", self.place), "page", "")
    }

    fn say(&self, at: &ClusterHost, call: &Value, what: &str, body: Value) -> u16 {
        at.server.ask("POST", &format!("{}/calls/{call}/{what}", self.place), "page", Some(body)).status
    }
}

/// The names of the tools of front ends that a client of this session is shown.
fn listed(host: &ClusterHost, session: &str) -> Vec<String> {
    let message = replied(host.server.say(session, &front_ends::list())).message();
    let tools = message["result"]["tools"].as_array().expect("tools").clone();
    let names = tools.iter().filter_map(|tool| tool["name"].as_str());
    names.filter(|name| name.starts_with("app_")).map(str::to_owned).collect()
}

#[track_caller]
fn until_listed(host: &ClusterHost, session: &str, names: &[&str]) {
    blocking::until(format_args!("{} lists {names:?}", host.name), || {
        let listed = listed(host, session);
        if listed == names { Ok(()) } else { Err(format!("{listed:?}\n{}", host.server.log())) }
    });
}

/// The code that a call ends with; nothing where it succeeds.
fn code(host: &ClusterHost, session: &str, tool: &str) -> Option<String> {
    let message = replied(host.server.say(session, &front_ends::call(7, tool, &json!({})))).message();
    if message["error"].is_object() {
        return Some("not-found".to_owned());
    }
    (message["result"]["isError"] == true).then(|| front_ends::failure(&message).0.to_owned())
}

#[test]
fn a_page_at_one_host_serves_calls_that_arrive_at_another_until_it_goes() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let session = two.server.handshake().expect("a session");
    assert_eq!(listed(&two, &session), [""; 0]);
    let mut heard = Heard::new(two.server.listen(&session));
    let page = Page::connect(&one, "editor", &json!({}));
    assert_eq!(heard.method(), "notifications/tools/list_changed");
    assert_eq!(listed(&two, &session), ["app_editor__t"]);
    // A host that has never heard of it lists it at once.
    let three = cluster.host("three");
    let at_three = three.server.handshake().expect("a session");
    until_listed(&three, &at_three, &["app_editor__t"]);

    // The page may follow and answer at any host, too.
    let mut following = page.follow(&three);
    let asking = two.server.say(&session, &front_ends::call(7, "app_editor__t", &json!({"line": 3})));
    let (kind, asked) = front_ends::next(&mut following);
    let rest = [&asked["tool"], &asked["arguments"], &asked["session"]];
    assert_eq!((kind.as_str(), rest), ("call", [&json!("t"), &json!({"line": 3}), &json!("agent")]));
    let number = &asked["number"];
    assert_eq!(page.say(&two, number, "progress", json!({"done": 1, "total": 2, "message": "reading"})), 204);
    assert_eq!(page.say(&one, number, "answer", json!({"content": [{"text": "to be"}]})), 204);
    let reply = replied(asking);
    assert_eq!(reply.message()["result"]["content"][0]["text"], "to be", "{reply:?}");
    assert!(reply.body.contains("notifications/progress") && reply.body.contains("reading"), "{reply:?}");

    // A caller that goes is told to the page.
    let asking = two.server.say(&session, &front_ends::call(8, "app_editor__t", &json!({})));
    let (kind, asked) = front_ends::next(&mut following);
    assert_eq!(kind, "call");
    drop(asking);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}});
    let _ = replied(two.server.say(&session, &cancel));
    let (kind, cancelled) = front_ends::next(&mut following);
    assert_eq!((kind.as_str(), &cancelled["call"]), ("cancel", &asked["number"]));

    // Its owner sees it everywhere.
    for (host, waiting) in [(&one, json!(0)), (&two, Value::Null)] {
        let owned = host.server.ask("GET", "/v1/front-ends", "page", None).json();
        let [owned] = owned["front_ends"].as_array().expect("a list").as_slice() else { panic!("{owned}") };
        assert_eq!((&owned["name"], &owned["waiting_calls"]), (&json!("editor"), &waiting), "{}", host.name);
        assert_eq!(
            (&owned["tools"], page.place.ends_with(owned["front_end"].as_str().expect("a handle"))),
            (&json!(["app_editor__t"]), true)
        );
    }

    assert_eq!(two.server.ask("DELETE", &page.place, "page", None).status, 204);
    assert_eq!(front_ends::next(&mut following).0, "end");
    assert_eq!(heard.method(), "notifications/tools/list_changed");
    until_listed(&two, &session, &[]);
    assert_eq!(code(&two, &session, "app_editor__t").as_deref(), Some("not-found"));
    // Its name is free at once.
    let _again = Page::connect(&three, "editor", &json!({}));
}

#[test]
fn a_name_is_taken_at_all_hosts_and_moves_with_the_page_that_replaces_its_own() {
    let Some(cluster) = cluster() else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let session = two.server.handshake().expect("a session");
    let first = Page::connect(&one, "editor", &json!({}));
    until_listed(&two, &session, &["app_editor__t"]);
    let refused = Page::try_connect(&two, "editor", &json!({}));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (409, &json!("conflict")), "{refused:?}");
    let mut following = first.follow(&one);
    // As a page that is loaded again, and reaches another host.
    let second = Page::connect(&two, "editor", &json!({"replace": true}));
    assert_eq!(front_ends::next(&mut following).0, "end");
    let mut following = second.follow(&one);
    let at_one = one.server.handshake().expect("a session");
    until_listed(&one, &at_one, &["app_editor__t"]);
    let asking = one.server.say(&at_one, &front_ends::call(7, "app_editor__t", &json!({})));
    let (_, asked) = front_ends::next(&mut following);
    assert_eq!(second.say(&one, &asked["number"], "answer", json!({"content": [{"text": "moved"}]})), 204);
    assert_eq!(replied(asking).message()["result"]["content"][0]["text"], "moved");
    let owned = one.server.ask("GET", "/v1/front-ends", "page", None).json();
    assert_eq!(owned["front_ends"].as_array().map(Vec::len), Some(1), "{owned}");
}

#[test]
fn the_tools_of_a_page_go_with_its_host_and_come_back_with_the_page() {
    let Some(cluster) = cluster() else { return };
    // A third one sees the death, too, and the second one knows it from its start.
    let three = cluster.host("three");
    let (two, mut one) = (cluster.host("two"), cluster.host("one"));
    let session = two.server.handshake().expect("a session");
    let page = Page::connect(&one, "editor", &json!({}));
    until_listed(&two, &session, &["app_editor__t"]);
    let asking = two.server.say(&session, &front_ends::call(7, "app_editor__t", &json!({})));
    let (kind, _) = front_ends::next(&mut page.follow(&one));
    assert_eq!(kind, "call");
    one.server.kill();
    let answered = replied(asking).message();
    let ended = front_ends::failure(&answered).0;
    assert_eq!(ended, "gone", "{}\nAs the third one tells it:\n{}", two.server.log(), three.server.log());
    let code = code(&two, &session, "app_editor__t");
    assert!(matches!(code.as_deref(), Some("gone" | "not-found")), "{code:?}");
    until_listed(&two, &session, &[]);
    let told = two.server.ask("GET", &format!("{}/calls?after=0", page.place), "page", None);
    assert_eq!(told.status, 404, "the page connects anew: {told:?}");
    let again = Page::connect(&two, "editor", &json!({}));
    until_listed(&two, &session, &["app_editor__t"]);
    // A host that is stopped in order gives its pages back at once.
    drop(again);
    let one = cluster.host("one");
    let at_one = one.server.handshake().expect("a session");
    until_listed(&one, &at_one, &["app_editor__t"]);
    drop(two.retired());
    until_listed(&one, &at_one, &[]);
}

/// What a host lists of pages at another one, under this limit.
#[track_caller]
fn is_bounded(limit: &str) {
    let Some(cluster) = Cluster::new(&format!("{}[host.limits]\n{limit} = 400\n", super::TABLES)) else { return };
    let (one, two) = (cluster.host("one"), cluster.host("two"));
    let (at_one, at_two) = [&one, &two].map(|host| host.server.handshake().expect("a session")).into();
    let _small = Page::connect(&one, "small", &json!({}));
    until_listed(&two, &at_two, &["app_small__t"]);
    let mut long = front_ends::tool("t");
    long["description"] = "x".repeat(400).into();
    let large = Page::connect(&one, "large", &json!({"tools": [long]}));
    until_listed(&one, &at_one, &["app_large__t", "app_small__t"]);
    two.server.until_logged(limit);
    until_listed(&two, &at_two, &[]);
    // There is room again.
    assert_eq!(two.server.ask("DELETE", &large.place, "page", None).status, 204);
    until_listed(&two, &at_two, &["app_small__t"]);
}

#[test]
pub(crate) fn tools_of_pages_at_other_hosts_beyond_the_bound_of_a_tenant_are_not_listed() {
    is_bounded("front_end_copy_bytes_per_tenant");
}

#[test]
pub(crate) fn tools_of_pages_at_other_hosts_beyond_the_bound_of_the_host_are_not_listed() {
    is_bounded("front_end_copy_bytes");
}
