//! What each function does where all is well.

use serde_json::{Value, json};
use wharf_tests::Setup;

use super::{ask, followed, here, id_of, ok, printed, refused, said, script, shell, started, until};

#[tokio::test]
async fn what_holds_for_terminals_is_told_before_one_is_started() {
    let fixture = Setup::new().terminals("programs = [\"python3*\"]").terminal_limit("idle_seconds", 77).open().await;
    let status = ok(&fixture, &here(), "status", "", json!({})).await;
    let status: Value = serde_json::from_str(status.as_str().expect("a text")).expect("JSON");
    assert_eq!((&status["shell"], &status["programs"]), (&json!(false), &json!(["python3*"])));
    assert_eq!((&status["maximum_per_owner"], &status["idle_seconds"]), (&json!(1), &json!(77)));
    assert!(status["presets"].as_array().is_some_and(|presets| presets.contains(&json!("repl"))), "{status}");
    assert!(["namespaces", "landlock"].contains(&status["containment"].as_str().expect("a word")), "{status}");
    assert_eq!(status["network"], false);
    assert_eq!(ok(&fixture, &here(), "list", "", json!({})).await, json!([]));
    assert_eq!(fixture.data.workspaces(), 0, "looking makes nothing");
}

#[tokio::test]
async fn a_shell_tells_when_its_commands_end_and_with_which_code() {
    let fixture = Setup::new().terminals("shell = true").open().await;
    let told = started(&fixture, &here(), json!({"columns": 100, "rows": 30})).await;
    let terminal = &told["terminal"];
    assert_eq!((&terminal["columns"], &terminal["rows"]), (&json!(100), &json!(30)));
    assert_eq!((&told["replaced"], &terminal["recording"]), (&json!([]), &json!(false)));
    assert!(terminal["stream"].is_string() && terminal["pid"].is_u64() && terminal["turn"].is_null(), "{terminal}");
    let id = id_of(&told);

    let (text, turn) = said(&fixture, &here(), &id, "echo $((6 * 7)); (exit 3)").await;
    assert!(text.contains("42"), "{text}");
    let complete = &turn["complete"];
    assert_eq!((&complete["layer"], &complete["reason"]), (&json!("L1"), &json!("command-ended")), "{turn}");
    assert_eq!((&complete["code"], &turn["number"], &turn["cancelled"]), (&json!(3), &json!(1), &json!(false)));
    let (_, turn) = said(&fixture, &here(), &id, "true").await;
    assert_eq!((&turn["complete"]["code"], &turn["number"]), (&json!(0), &json!(2)));
    // A command that is not complete asks for the rest.
    let (_, turn) = said(&fixture, &here(), &id, "echo 'one").await;
    assert_eq!(turn["complete"]["reason"], "needs-continuation", "{turn}");
    assert_eq!(ok(&fixture, &here(), "get", &id, json!({})).await["status"], "needs-input");
    let (text, turn) = said(&fixture, &here(), &id, "two'").await;
    assert!(text.contains("one\ntwo") && turn["complete"]["reason"] == "command-ended", "{turn}: {text}");

    let listed = ok(&fixture, &here(), "list", "", json!({})).await;
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&json!(id), &json!("ready")));
}

#[tokio::test]
async fn keys_are_pressed_one_by_one_and_belong_to_the_turn_that_runs() {
    let fixture = Setup::new().terminals("shell = true").open().await;
    let id = shell(&fixture, &here()).await;
    let keys = json!({"keys": ["e", "c", "h", "o", "Space", "k", "x", "Backspace", "y", "Enter"]});
    let turn = ok(&fixture, &here(), "send", &id, keys).await;
    let (text, _) = followed(&fixture, &here(), &id, &turn).await;
    assert!(text.contains("ky"), "{text}");
    // Waits for its key, whichever it is, without an echo of it.
    let read = "IFS= read -rsn1 key; printf 'got-%s\\n' \"$key\"";
    let turn = ok(&fixture, &here(), "send", &id, json!({"text": read, "submit": true})).await;
    until(&fixture, &here(), &id, |info| info["status"] == "busy").await;
    ok(&fixture, &here(), "press", &id, json!({"keys": ["z"]})).await;
    let (text, ended) = followed(&fixture, &here(), &id, &turn).await;
    assert!(text.contains("got-z") && ended["complete"]["reason"] == "command-ended", "{ended}: {text}");
    assert_eq!(
        ok(&fixture, &here(), "get", &id, json!({})).await["turn"]["number"],
        turn["number"],
        "no turn of its own"
    );
}

#[tokio::test]
async fn the_screen_shows_what_a_person_sees_and_what_went_off_its_top() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let text = "for i in 1 2 3 4 5 6 7; do echo \"line $i\"; done; printf '\\033[31mred\\033[0m'; exec sleep 1000";
    let arguments = json!({"program": "sh", "arguments": ["-c", text], "columns": 20, "rows": 5});
    let id = id_of(&started(&fixture, &here(), arguments).await);
    printed(&fixture, &here(), &id, "red").await;
    let screen = ok(&fixture, &here(), "screen", &id, json!({"lines": 2})).await;
    assert_eq!((&screen["columns"], &screen["rows"]), (&json!(20), &json!(5)));
    assert_eq!(screen["lines"], json!(["line 4", "line 5", "line 6", "line 7", "red"]));
    assert_eq!(screen["history"], json!(["line 2", "line 3"]));
    assert_eq!((&screen["cursor"], &screen["alternate"]), (&json!([3, 4]), &json!(false)));
    let bare = ok(&fixture, &here(), "screen", &id, json!({})).await;
    assert_eq!(bare["history"], json!([]));
    // Its bytes as they came, and its text.
    let raw = ok(&fixture, &here(), "read", &id, json!({"view": "raw", "bytes": 60_000})).await;
    assert!(raw["data"].as_str().is_some_and(|raw| raw.contains("\u{1b}[31mred")), "{raw}");
    let text = ok(&fixture, &here(), "read", &id, json!({"view": "text", "from": 7, "bytes": 6})).await;
    assert_eq!((&text["data"], &text["start"], &text["next"]), (&json!("line 2"), &json!(7), &json!(13)), "{text}");
    assert_eq!(text["evicted"], 0);
    assert!(text["end"].as_u64() < raw["end"].as_u64(), "{text} {raw}");
    let (code, message) = refused(&fixture, &here(), "read", &id, json!({"view": "lines", "bytes": 10})).await;
    assert_eq!(code, "invalid", "{message}");
}

#[tokio::test]
async fn a_program_is_told_of_its_new_size() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let id = script(&fixture, &here(), "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done").await;
    printed(&fixture, &here(), &id, "ready").await;
    ok(&fixture, &here(), "resize", &id, json!({"columns": 120, "rows": 40})).await;
    printed(&fixture, &here(), &id, "40 120").await;
    let info = ok(&fixture, &here(), "get", &id, json!({})).await;
    assert_eq!((&info["columns"], &info["rows"]), (&json!(120), &json!(40)));
}

#[tokio::test]
async fn a_closed_terminal_can_be_read_and_takes_nothing() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let id = script(&fixture, &here(), "echo last words; exec sleep 1000").await;
    printed(&fixture, &here(), &id, "last words").await;
    let closed = ok(&fixture, &here(), "close", &id, json!({})).await;
    assert_eq!((&closed["status"], &closed["pid"]), (&json!("closed"), &Value::Null));
    assert_eq!(closed["outcome"]["reason"], "owner", "{closed}");
    let read =
        ok(&fixture, &here(), "read", &id, json!({"view": "text", "bytes": 100, "milliseconds": 1_u64 << 40})).await;
    assert_eq!(read["data"], "last words\n");
    let screen = ok(&fixture, &here(), "screen", &id, json!({})).await;
    assert_eq!(screen["lines"][0], "last words");
    for (function, more) in [
        ("send", json!({"text": "late", "submit": true})),
        ("press", json!({"keys": ["Enter"]})),
        ("resize", json!({"columns": 90, "rows": 20})),
    ] {
        let (code, message) = refused(&fixture, &here(), function, &id, more).await;
        assert_eq!(code, "gone", "{function}: {message}");
    }
    assert_eq!(ok(&fixture, &here(), "close", &id, json!({})).await, closed, "it is as it was");
    assert_eq!(ok(&fixture, &here(), "list", "", json!({})).await, json!([closed]));
}

#[tokio::test]
async fn how_a_program_ended_is_told_and_its_turn_ends_with_it() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let id = script(&fixture, &here(), "read line; echo \"read $line\"; exit 7").await;
    let (text, turn) = said(&fixture, &here(), &id, "a line").await;
    assert!(text.contains("read a line"), "{text}");
    assert_eq!((&turn["complete"]["layer"], &turn["complete"]["code"]), (&json!("L0"), &json!(7)), "{turn}");
    let info = until(&fixture, &here(), &id, |info| info["outcome"].is_object()).await;
    assert_eq!(info["status"], "closed");
    let outcome = &info["outcome"];
    assert_eq!((&outcome["kind"], &outcome["code"], &outcome["reason"]), (&json!("exited"), &json!(7), &Value::Null));
}

#[tokio::test]
async fn a_program_that_crashes_is_started_again_where_that_is_asked_for() {
    let fixture = Setup::new().terminals("programs = [\"sh\"]").open().await;
    let text = "if [ -e crashed ]; then echo again; exec sleep 1000; fi; : > crashed; exit 9";
    let arguments = json!({"program": "sh", "arguments": ["-c", text], "options": "{\"restart\": \"on-crash\"}"});
    let id = id_of(&started(&fixture, &here(), arguments).await);
    printed(&fixture, &here(), &id, "again").await;
    let info = until(&fixture, &here(), &id, |info| info["restarts"] == 1).await;
    assert!(info["because"].as_str().is_some_and(|because| because.contains("code 9")), "{info}");
    assert!(ask(&fixture, &here(), "press", &id, json!({"keys": ["a"]})).await.get("ok").is_some());
}
