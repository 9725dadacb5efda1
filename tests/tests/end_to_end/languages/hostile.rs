//! What a guest does to its host, in every language: it fails alone, and by name.

use serde_json::json;
use wharf::Code;
use wharf_tests::Setup;

use super::Guest;

#[tokio::test]
async fn computing_for_ever_ends_at_its_limit() {
    for guest in Guest::all() {
        let setup = Setup::new().limit("cpu_time_milliseconds", 500).limit("wall_time_milliseconds", 120_000);
        let attacked = guest.open(setup, &[]).await;
        let error = attacked.failure("spin", json!({})).await;
        assert_eq!(error.code, Code::Timeout, "{}: {error}", guest.language);
        assert!(error.message.contains("cpu_time_milliseconds"), "{}: {error}", guest.language);
    }
}

#[tokio::test]
async fn a_stack_that_ends_ends_one_call() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        let error = attacked.failure("recurse", json!({"depth": 1_000_000_000})).await;
        // Interpreters have a limit of their own, which may come first.
        assert!(matches!(error.code, Code::Limit | Code::Internal), "{}: {error}", guest.language);
    }
}

#[tokio::test]
async fn memory_that_cannot_be_had_ends_one_call() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        let wanted = 1_u64 << 31;
        let error = attacked.failure("allocate_or_die", json!({"bytes": wanted})).await;
        assert!(matches!(error.code, Code::Internal | Code::Limit), "{}: {error}", guest.language);
        // Piece by piece, what was had before is given back; some say how far they came.
        match attacked.call("allocate", json!({"bytes": wanted})).await {
            Ok(answer) => {
                let text = answer.content[0].as_text().expect("a report").to_owned();
                let got: serde_json::Value = serde_json::from_str(&text).expect("a report");
                assert!(got["got"].as_u64() < Some(wanted), "{}: {text}", guest.language);
            }
            Err(error) => {
                assert!(matches!(error.code, Code::Internal | Code::Limit), "{}: {error}", guest.language);
            }
        }
        attacked.works().await;
    }
}

#[tokio::test]
async fn what_is_thrown_ends_one_call() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        for message in ["", "an accident", "\u{1b}[2Jb", &"é".repeat(10_000)] {
            let error = attacked.failure("panic", json!({"message": message})).await;
            assert_eq!((error.code, error.retryable), (Code::Internal, false), "{}: {error}", guest.language);
            assert!(error.message.len() <= 4_096, "{}: {}", guest.language, error.message.len());
            assert!(!error.message.chars().any(char::is_control), "{}: {error}", guest.language);
        }
    }
}

#[tokio::test]
async fn an_answer_of_one_byte_too_many_is_replaced() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new().limit("output_bytes", 5_000), &[]).await;
        let bytes = |bytes: usize| json!({"bytes": bytes - "text/plain".len()});
        attacked.call("output", bytes(5_000)).await.expect("what is allowed");
        let error = attacked.failure("output", bytes(5_001)).await;
        assert_eq!(error.code, Code::Limit, "{}: {error}", guest.language);
        assert!(error.message.contains("output_bytes"), "{}: {error}", guest.language);
        // An interpreter may have no memory left for an answer far beyond.
        let error = attacked.failure("output", json!({"bytes": 30 << 20})).await;
        assert!(matches!(error.code, Code::Limit | Code::Internal), "{}: {error}", guest.language);
    }
}

#[tokio::test]
async fn an_answer_of_too_many_parts_is_refused() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        let answer = attacked.call("many_content", json!({"count": 256})).await.expect("what is allowed");
        assert_eq!(answer.content.len(), 256, "{}", guest.language);
        for count in [257, 20_000] {
            let error = attacked.failure("many_content", json!({"count": count})).await;
            assert!(error.message.contains("256"), "{}: {error}", guest.language);
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_its_schema_is_the_plugins_fault() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        let good = attacked.call("bad_structured", json!({"structured": r#"{"count":1}"#})).await.expect("conforms");
        assert_eq!(good.structured, Some(json!({"count": 1})), "{}", guest.language);
        for bad in ["{}", r#"{"count":"1"}"#, r#"{"count":null}"#, r#"{"count":1.5}"#] {
            let error = attacked.failure("bad_structured", json!({"structured": bad})).await;
            assert_eq!(error.code, Code::Internal, "{}: {bad}: {error}", guest.language);
        }
    }
}

#[tokio::test]
async fn a_structure_of_great_depth_ends_one_call() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        for depth in [200, 10_000] {
            let nested = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
            let error = attacked.failure("unpromised_structured", json!({"structured": nested})).await;
            assert!(matches!(error.code, Code::Internal | Code::Limit), "{}: {depth}: {error}", guest.language);
        }
    }
}

#[tokio::test]
async fn text_that_no_utf8_can_have_never_reaches_a_client() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new(), &[]).await;
        match attacked.call("invalid_utf8", json!({})).await {
            Ok(answer) => {
                let text = answer.content[0].as_text().expect("a text");
                assert!(["a\u{fffd}z", "a?z"].contains(&text), "{}: {text:?}", guest.language);
            }
            Err(error) => assert_eq!(error.code, Code::Internal, "{}: {error}", guest.language),
        }
        attacked.works().await;
    }
}

#[tokio::test]
async fn one_handle_too_many_is_refused_and_the_guest_goes_on() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new().limit("resource_handles", 64), &["state"]).await;
        let beyond = attacked.found("open_buckets", json!({"count": 1_000})).await;
        let opened = beyond["opened"].as_u64().expect("a number");
        assert!((32..=64).contains(&opened), "{}: {beyond}", guest.language);
        assert_eq!(beyond["refused"]["code"], "limit", "{}: {beyond}", guest.language);
        assert!(beyond["refused"]["message"].to_string().contains("resource_handles"), "{}: {beyond}", guest.language);
        let at = attacked.found("open_buckets", json!({"count": opened})).await;
        assert_eq!(at, json!({"opened": opened}), "{}", guest.language);
    }
}

#[tokio::test]
async fn a_flood_of_calls_of_the_host_ends_and_one_of_log_lines_is_dropped() {
    for guest in Guest::all() {
        // An instance of an interpreter makes some calls before the tool begins.
        let attacked = guest.open(Setup::new().limit("host_calls", 2_000).limit("log_lines", 5), &[]).await;
        assert_eq!(attacked.found("log_lines", json!({"count": 1_000})).await, json!({"logged": 1_000}));
        assert_eq!(attacked.found("host_calls", json!({"count": 1_000})).await, json!({"called": 1_000}));
        let error = attacked.failure("host_calls", json!({"count": 100_000})).await;
        assert_eq!(error.code, Code::Limit, "{}: {error}", guest.language);
        assert!(error.message.contains("host_calls"), "{}: {error}", guest.language);
    }
}

#[tokio::test]
async fn one_event_too_many_is_refused_and_the_guest_goes_on() {
    for guest in Guest::all() {
        let attacked = guest.open(Setup::new().limit("events", 5), &["events"]).await;
        for tool in ["progress", "message"] {
            assert_eq!(attacked.found(tool, json!({"count": 5})).await, json!({"sent": 5}), "{}", guest.language);
            let beyond = attacked.found(tool, json!({"count": 6})).await;
            let told = (&beyond["sent"], &beyond["refused"]["code"]);
            assert_eq!(told, (&json!(5), &json!("limit")), "{}: {beyond}", guest.language);
        }
    }
}
