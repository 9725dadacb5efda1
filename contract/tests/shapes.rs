//! What goes over the wall as JSON: the very texts.

use std::collections::BTreeMap;

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
