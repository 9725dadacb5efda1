//! What goes over the wall as JSON: the very texts.

use std::{collections::BTreeMap, fmt::Debug};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, from_str, from_value, json, to_string};
use wharf_contract::{events, process, terminal, turn, types::ErrorCode, webview};

#[test]
fn a_word_is_written_as_it_is_and_an_unknown_one_is_named_with_those_that_there_are() {
    for signal in process::Signal::ALL {
        assert_eq!(signal.as_str().parse(), Ok(signal));
        assert_eq!(to_string(&signal).expect("JSON"), format!("\"{signal}\""));
        assert_eq!(from_value::<process::Signal>(json!(signal.as_str())).expect("a word"), signal);
    }
    let unknown = "SIGKILL".parse::<process::Signal>().expect_err("no word").to_string();
    assert!(unknown.starts_with("there is no signal \"SIGKILL\"; there are hangup, interrupt, "), "{unknown}");
    let long = "x".repeat(1_000).parse::<turn::Preset>().expect_err("no word").to_string();
    assert!(long.len() < 200, "{long}");
    assert_eq!(ErrorCode::from_word("a-word-of-tomorrow"), ErrorCode::Internal);
}

#[test]
fn a_word_of_tomorrow_stays_what_it_is() {
    for word in ["starting", "needs-input", "frozen", ""] {
        let read: terminal::AnyStatus = from_value(json!(word)).expect("any word");
        assert_eq!((read.as_str(), to_string(&read).expect("JSON")), (word, format!("\"{word}\"")));
        assert_eq!(read.known(), terminal::Status::find(word));
        assert_eq!(String::from(read), word);
    }
    assert_eq!(turn::AnyReason::from(turn::Reason::TimeLimit), turn::AnyReason::from("time-limit".to_owned()));
}

#[test]
fn what_a_plugin_asks_for_is_refused_where_a_member_is_unknown_or_null() {
    type Stream = events::StreamOptions<BTreeMap<String, Value>>;
    type Turn = terminal::TurnOptions<BTreeMap<String, Value>>;
    let options: Stream = from_str(r#"{"preset": "agent"}"#).expect("options");
    assert_eq!(
        (options.parameters.is_none(), to_string(&options).expect("JSON")),
        (true, r#"{"preset":"agent"}"#.into())
    );
    assert!(from_str::<Stream>(r#"{"parameters": null}"#).is_err());
    assert!(from_str::<Stream>(r#"{"presets": "agent"}"#).is_err());
    assert!(from_str::<Turn>(r#"{"parameter": {}}"#).is_err());
    assert!(from_str::<terminal::LaunchOptions>(r#"{"restarts": "never"}"#).is_err());
    assert!(from_str::<webview::ScriptOptions>(r#"{"frames": "f"}"#).is_err());
    let mouse = r#"{"kind":"click","x":1.5,"y":2.0,"button":"right","count":2,"modifiers":["Control"]}"#;
    assert_eq!(to_string(&from_str::<webview::Mouse>(mouse).expect("parameters")).expect("JSON"), mouse);
    for wrong in [
        r#"{"kind":"tap","x":1,"y":2}"#,
        r#"{"kind":"move","x":1,"y":2,"z":3}"#,
        r#"{"kind":"up","x":1,"y":2,"button":null}"#,
    ] {
        assert!(from_str::<webview::Mouse>(wrong).is_err(), "{wrong}");
    }
    let usual: webview::Screenshot = from_str("{}").expect("all of it may be absent");
    assert_eq!(to_string(&usual).expect("JSON"), r#"{"format":"png"}"#);
    let unknown = from_str::<webview::Screenshot>(r#"{"format":"gif"}"#).expect_err("no format").to_string();
    assert!(unknown.starts_with("unknown variant `gif`, expected `png` or `jpeg`"), "{unknown}");
}

#[test]
fn what_a_host_says_is_read_with_members_missing_and_members_of_tomorrow() {
    let rules: process::ProcessRules =
        from_str(r#"{"shell": true, "containment": "jail", "colour": 1}"#).expect("rules");
    assert!(rules.shell && rules.containment.known().is_none() && rules.polls == process::PollRules::default());
    let written =
        to_string(&process::ProcessRules { containment: process::Containment::None.into(), ..rules }).expect("JSON");
    assert_eq!(
        written,
        r#"{"shell":true,"programs":[],"containment":"none","network":false,"directory":"","maximum_concurrent":0,"lifetime_seconds":0,"polls":{"guidance":false,"threshold":0,"language":""}}"#
    );
    let polls = process::PollStatistics { total: 2, in_a_row: 1, ..Default::default() };
    assert_eq!(
        to_string(&process::Meta { explanation: None, polls: Some(polls) }).expect("JSON"),
        r#"{"polls":{"first_in_a_row":null,"in_a_row":1,"intervals":null,"last":null,"total":2}}"#
    );
}

#[test]
fn entries_of_logs_are_written_without_what_is_absent_and_read_with_members_of_tomorrow() {
    let dialog = webview::ConsoleLogEntry {
        kind: webview::ConsoleKind::Dialog.into(),
        text: "Sure?".into(),
        dialog: Some(webview::DialogKind::Confirm.into()),
        answer: Some(webview::DialogOutcome::Dismissed.into()),
        ..Default::default()
    };
    let dialog = webview::NumberedEntry { number: 1, time: "2026-12-31T23:59:59.000Z".into(), entry: dialog };
    same(
        &dialog,
        r#"{"number":1,"time":"2026-12-31T23:59:59.000Z","kind":"dialog","text":"Sure?","dialog":"confirm","answer":"dismissed"}"#,
    );
    let failed = webview::NetworkLogEntry {
        method: "GET".into(),
        url: "http://a/".into(),
        kind: "image".into(),
        failure: Some("it is not granted".into()),
        denied: true,
        ..Default::default()
    };
    same(&failed, r#"{"method":"GET","url":"http://a/","kind":"image","failure":"it is not granted","denied":true}"#);
    let loaded = webview::NetworkLogEntry { status: Some(200), failure: None, denied: false, ..failed };
    same(&loaded, r#"{"method":"GET","url":"http://a/","kind":"image","status":200}"#);
    let download = webview::DownloadLogEntry {
        url: "http://a/".into(),
        name: "a.csv".into(),
        path: Some("downloads/a.csv".into()),
        bytes: 4,
        state: webview::DownloadState::Done.into(),
        failure: None,
    };
    same(&download, r#"{"url":"http://a/","name":"a.csv","path":"downloads/a.csv","bytes":4,"state":"done"}"#);
    let read: webview::NumberedEntry<webview::ConsoleLogEntry> =
        from_str(r#"{"number": 2, "kind": "trace", "colour": "red", "line": 7}"#).expect("an entry");
    assert_eq!((read.number, read.entry.kind.as_str(), read.entry.line), (2, "trace", Some(7)));
    assert!(read.time.is_empty() && read.entry.text.is_empty() && read.entry.kind.known().is_none());
}

#[test]
fn results_of_operations_are_written_without_what_is_absent_and_read_with_members_of_tomorrow() {
    let loaded = webview::NavigationResult {
        url: "http://a/".into(),
        title: "A".into(),
        mime_type: Some("text/html".into()),
        redirects: 1,
        status: Some(200),
        download: false,
    };
    same(&loaded, r#"{"url":"http://a/","title":"A","mime_type":"text/html","redirects":1,"status":200}"#);
    let download = webview::NavigationResult { mime_type: None, status: None, download: true, ..loaded };
    same(&download, r#"{"url":"http://a/","title":"A","redirects":1,"download":true}"#);
    let read: webview::NavigationResult = from_str(r#"{"status": 404, "protocol": "h3"}"#).expect("a result");
    assert_eq!(read, webview::NavigationResult { status: Some(404), ..Default::default() });
    let frame = |id: &str, parent: Option<&str>| webview::FrameInfo {
        id: id.into(),
        parent: parent.map(str::to_owned),
        url: "http://a/".into(),
        name: String::new(),
    };
    same(
        &webview::FramesResult { frames: vec![frame("A", None), frame("B", Some("A"))] },
        r#"{"frames":[{"id":"A","parent":null,"url":"http://a/","name":""},{"id":"B","parent":"A","url":"http://a/","name":""}]}"#,
    );
    assert!(from_str::<webview::FramesResult>("{}").expect("a result").frames.is_empty());
}

/// Writes this text, and reads the same from it.
fn same<T: Serialize + DeserializeOwned + PartialEq + Debug>(shape: &T, text: &str) {
    assert_eq!(to_string(shape).expect("JSON"), text);
    assert_eq!(&from_str::<T>(text).expect("the shape"), shape);
}
