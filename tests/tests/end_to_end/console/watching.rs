//! What the operator watches of pages, and takes away of what plugins keep.

use std::io::Read as _;

use serde_json::{Value, json};
use wharf_tests::{Data, Server, Setup, Site, blocking, wharf};

use super::Operated;

/// The width and height of a JPEG, by its frame header.
fn size(jpeg: &[u8]) -> Option<(u16, u16)> {
    let mut rest = jpeg.strip_prefix(b"\xff\xd8")?;
    loop {
        let [0xff, kind, high, low, body @ ..] = rest else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if matches!(kind, 0xc0..=0xc2) {
            let [_, height_high, height_low, width_high, width_low, ..] = body else { return None };
            let side = |high: &u8, low: &u8| u16::from_be_bytes([*high, *low]);
            return Some((side(width_high, width_low), side(height_high, height_low)));
        }
        rest = body.get(length - 2..)?;
    }
}

/// The bytes of a picture.
fn drawn_by(host: &Operated, path: &str) -> Vec<u8> {
    let mut answer = Vec::new();
    let mut stream = host.send("GET", &format!("{path}/picture"), &host.bearer(), "");
    stream.read_to_end(&mut answer).expect("an answer");
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    answer.split_off(end + 4)
}

#[test]
fn a_page_is_watched_without_being_used() {
    let site = Site::start();
    let grant = format!("origins = [\"{}\"]\nprivate_addresses = true", site.origin());
    let host = Operated::of(Server::start(&Setup::bare().own_pages(&grant)));
    let opened = host.server.ask("POST", "/v1/pages", "s", Some(json!({"width": 640, "height": 480})));
    let page = opened.json()["page"].as_str().expect("a handle").to_owned();
    let ask = |below: &str, body: Value| host.server.ask("POST", &format!("/v1/pages/{page}{below}"), "s", Some(body));
    ask("/operations", json!({"operation": "navigate", "parameters": {"url": site.at("/")}}));
    let path = format!("/v1/operator/pages/{page}");
    blocking::until("it is there", || {
        let seen = host.get(&path);
        if seen["page"]["title"] == "Harbour" { Ok(()) } else { Err(seen) }
    });
    ask("/scripts", json!({"script": "console.log('seen'); fetch('https://elsewhere.example/x').catch(() => 1)"}));
    let seen = blocking::until("the logs have it", || {
        let seen = host.get(&path);
        let said = seen["console"].to_string().contains("seen");
        let denied = seen["requests"].as_array().is_some_and(|all| all.iter().any(|one| one["denied"] == true));
        if said && denied { Ok(seen) } else { Err(seen) }
    });
    assert_eq!((&seen["page"]["title"], &seen["page"]["id"]), (&json!("Harbour"), &json!(page)), "{seen}");
    let drawn = host.ask("GET", &format!("{path}/picture"), None);
    assert_eq!((drawn.status, drawn.header("content-type")), (200, Some("image/jpeg")), "{drawn:?}");
    assert_eq!(size(&drawn_by(&host, &path)), Some((640, 480)));
    let used = host.get(&path)["page"]["last_used"].clone();
    assert_eq!(used, seen["page"]["last_used"], "a look is no use");
    let agents = host.server.ask("GET", &format!("{path}/picture"), "s", None);
    assert_eq!(agents.status, 403, "an agent's token draws nothing: {agents:?}");

    // A page that does not answer says so, however often it is looked at.
    ask("/scripts", json!({"script": "alert('stop')"}));
    blocking::until("the dialog is open", || {
        let drawn = host.ask("GET", &format!("{path}/picture"), None);
        if drawn.status == 409 && drawn.body.contains("dialog") { Ok(()) } else { Err(drawn) }
    });
    assert_eq!(host.ask("DELETE", &path, None).status, 200);
    assert_eq!(host.ask("GET", &format!("{path}/picture"), None).status, 410);
    for unknown in ["/v1/operator/pages/nothing", "/v1/operator/pages/nothing/picture"] {
        assert_eq!(host.ask("GET", unknown, None).status, 404, "{unknown}");
    }
}

#[test]
fn what_plugins_keep_is_exported_and_cleared_by_what_is_named() {
    let host = Operated::start("");
    let make = |session: &str| {
        let body = json!({"arguments": {"goal": format!("plan of {session}")}, "session": session});
        assert_eq!(host.ask("POST", "/v1/operator/tools/planning__create_goal/calls", Some(body)).status, 200);
    };
    make("one");
    make("two");
    let export = |query: &str| host.ask("GET", &format!("/v1/operator/state/export?{query}"), None);
    let all = export("tenant=local");
    assert_eq!((all.status, all.header("content-type")), (200, Some("application/jsonl")), "{all:?}");
    assert!(all.body.contains("plan of one") && all.body.contains("plan of two"), "{}", all.body);
    let one = export("tenant=local&plugin=planning&scope=thread&session=one");
    assert!(one.body.contains("plan of one") && !one.body.contains("plan of two"), "{}", one.body);
    assert_eq!(export("tenant=nobody").status, 200);
    for wrong in
        ["", "tenant=no%2Fname", "tenant=local&scope=galaxy", "tenant=local&plugin=No+Name", "tenant=local&moon=1"]
    {
        assert_eq!(export(wrong).status, 400, "{wrong}");
    }
    let buckets = host.get("/v1/operator/state/buckets?tenant=local&session=one");
    let bucket = &buckets["buckets"][0];
    assert_eq!(
        (&buckets["left_off"], &bucket["plugin"], &bucket["session"]),
        (&json!(0), &json!("planning"), &json!("one"))
    );
    assert!(bucket["entries"].as_u64() > Some(0) && bucket["bytes"].as_u64() > Some(0), "{buckets}");
    assert!(!buckets.to_string().contains("plan of"), "what is kept is not told: {buckets}");
    assert_eq!(host.get("/v1/operator/state/buckets?tenant=nobody")["buckets"], json!([]));
    assert_eq!(host.ask("GET", "/v1/operator/state/buckets", None).status, 400);
    // It is what the command reads back.
    let elsewhere = Data::new();
    let file = elsewhere.write("export.jsonl", &one.body);
    let read = wharf(["state", "import", &file.display().to_string()]).data(elsewhere.path()).run();
    assert_eq!(read.code, Some(0), "{read:?}");

    let clear = |body: Value| host.ask("POST", "/v1/operator/state/clear", Some(body));
    assert_eq!(clear(json!({"tenant": "local"})).status, 400, "nobody clears a tenant by one word");
    let cleared = clear(json!({"tenant": "local", "session": "one"}));
    assert!(cleared.status == 200 && cleared.json()["entries"].as_u64() > Some(0), "{cleared:?}");
    let left = export("tenant=local");
    assert!(!left.body.contains("plan of one") && left.body.contains("plan of two"), "{}", left.body);
}

#[test]
fn the_files_of_a_session_are_downloaded_as_they_are() {
    let host = Operated::start("profile = \"developer\"\n");
    let path = "/v1/operator/sessions/files?tenant=local&session=work";
    assert_eq!(host.ask("GET", path, None).status, 404);
    let script = "mkdir -p notes && echo kept > notes/one.txt && ln -s /etc/passwd out && mkfifo pipe && echo done";
    let ran = super::replied(host.call("work", super::SHELL, &super::command(script))).message();
    assert!(ran.to_string().contains("done"), "{ran}");
    let mut answer = Vec::new();
    host.send("GET", path, &host.bearer(), "").read_to_end(&mut answer).expect("an answer");
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let (head, tar) = (String::from_utf8_lossy(&answer[..end]).into_owned(), &answer[end + 4..]);
    assert!(head.contains(" 200 ") && head.contains("application/x-tar"), "{head}");
    let text = String::from_utf8_lossy(tar);
    assert!(text.contains("notes/one.txt") && text.contains("kept\n") && text.contains("wharf-left-out.txt"));
    assert!(!text.contains("root:"), "a link is a link");
    for wrong in ["/v1/operator/sessions/files", "/v1/operator/sessions/files?tenant=local&session=no%2Fname"] {
        assert_eq!(host.ask("GET", wrong, None).status, 400, "{wrong}");
    }
}
