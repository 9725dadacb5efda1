//! Buckets, and changing them while others do.

use std::time::Duration;

use wharf_sdk::testing::TestCall;
use wharf_sdk::{Bucket, Call, Change, ErrorCode, Scope, ToolError};

fn bucket(call: &Call) -> Bucket<'_> {
    call.state(Scope::Thread, "notes").expect("state is granted")
}

fn code<T: std::fmt::Debug>(result: Result<T, ToolError>) -> ErrorCode {
    result.expect_err("this is refused").code
}

#[test]
fn what_is_written_is_read_in_the_order_of_the_keys_that_were_asked_for() -> Result<(), ToolError> {
    let call = TestCall::new().call();
    let bucket = bucket(&call);
    bucket.apply(vec![Change::put("a", "1"), Change::put("b", "2"), Change::put("c", "3")])?;
    bucket.delete("b")?;
    let values: Vec<_> =
        bucket.get_many(&["c", "b", "a"])?.into_iter().map(|entry| entry.map(|entry| entry.value)).collect();
    assert_eq!(values, [Some(b"3".to_vec()), None, Some(b"1".to_vec())]);
    bucket.put_json("json", &[1, 2])?;
    assert_eq!(bucket.get_json::<Vec<u32>>("json")?, Some(vec![1, 2]));
    assert_eq!(code(bucket.get_json::<String>("json")), ErrorCode::Internal);
    Ok(())
}

#[test]
fn all_changes_are_made_or_none() -> Result<(), ToolError> {
    let call = TestCall::new().call();
    let bucket = bucket(&call);
    let revision = bucket.put("a", "1")?;
    let refused = bucket.apply(vec![Change::put("b", "2"), Change::put("a", "2").if_revision(revision + 1)]);
    assert_eq!(code(refused), ErrorCode::Conflict);
    assert_eq!(bucket.get("b")?, None);
    bucket.apply(vec![Change::put("b", "2").if_revision(0), Change::put("a", "2").if_revision(revision)])?;
    assert_eq!(code(bucket.apply(vec![Change::put("b", "3").if_revision(0)])), ErrorCode::Conflict);
    assert_eq!(code(bucket.apply(vec![Change::put("x", ""), Change::delete("x")])), ErrorCode::Invalid);
    Ok(())
}

#[test]
fn a_scan_goes_through_a_prefix_page_by_page_in_key_order() -> Result<(), ToolError> {
    let call = TestCall::new().call();
    let bucket = bucket(&call);
    for key in ["b/2", "a", "b/1", "b/3", "c"] {
        bucket.put(key, "")?;
    }
    let (mut keys, mut after) = (Vec::new(), None);
    loop {
        let page = bucket.scan("b/", after.as_deref(), 2)?;
        keys.extend(page.entries.into_iter().map(|entry| entry.key));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(keys, ["b/1", "b/2", "b/3"]);
    assert_eq!(bucket.usage()?.entries, 5);
    Ok(())
}

#[test]
fn every_scope_looks_at_its_own_ids_only() -> Result<(), ToolError> {
    let here = TestCall::new().session("s").assistant("a").thread("t");
    let others = [here.clone().session("other"), here.clone().assistant("other"), here.clone().thread("other")];
    for (scope, seen) in [
        (Scope::Thread, [false, false, false]),
        (Scope::Session, [false, true, true]),
        (Scope::Assistant, [true, false, true]),
        (Scope::Plugin, [true, true, true]),
    ] {
        here.call().state(scope, "notes")?.put("key", "value")?;
        let found = others.each_ref().map(|other| {
            let call = other.call();
            call.state(scope, "notes").and_then(|bucket| bucket.get("key")).is_ok_and(|entry| entry.is_some())
        });
        assert_eq!(found, seen, "{scope:?}");
    }
    assert_eq!(code(TestCall::new().call().state(Scope::Assistant, "notes")), ErrorCode::Invalid);
    assert_eq!(code(TestCall::new().call().state(Scope::Thread, "../notes")), ErrorCode::Invalid);
    Ok(())
}

#[test]
fn an_update_that_meets_another_write_begins_anew_on_what_is_there_then() -> Result<(), ToolError> {
    let call = TestCall::new().call();
    let bucket = bucket(&call);
    let mut seen = Vec::new();
    let result = bucket.update("count", |count: &mut u32| {
        seen.push(*count);
        if seen.len() < 4 {
            bucket.put_json("count", &(*count + 10))?;
        }
        *count += 1;
        Ok(*count)
    })?;
    assert_eq!((result, seen), (31, vec![0, 10, 20, 30]));
    assert_eq!(bucket.get_json::<u32>("count")?, Some(31));
    Ok(())
}

#[test]
fn an_update_that_fails_writes_nothing() -> Result<(), ToolError> {
    let call = TestCall::new().call();
    let bucket = bucket(&call);
    let refused = bucket.update("count", |count: &mut u32| {
        *count = 7;
        Err::<(), _>(ToolError::invalid("not today"))
    });
    assert_eq!(code(refused), ErrorCode::Invalid);
    assert_eq!(bucket.get("count")?, None);
    Ok(())
}

#[test]
fn an_update_that_can_never_come_through_gives_up_while_there_is_time_to_answer() -> Result<(), ToolError> {
    let host = TestCall::new().remaining(Duration::from_millis(200));
    let call = host.call();
    let bucket = bucket(&call);
    let mut tried = 0;
    let refused = bucket.update("count", |count: &mut u32| {
        tried += 1;
        bucket.put_json("count", &tried)?;
        *count += 1;
        Ok(())
    });
    let error = refused.expect_err("somebody else wrote every time");
    assert_eq!((error.code, error.retryable, tried), (ErrorCode::Conflict, true, 1));
    Ok(())
}

#[test]
fn a_transaction_over_several_keys_holds_all_of_them_still() -> Result<(), ToolError> {
    let call = TestCall::new().call();
    let bucket = bucket(&call);
    let mut tried = 0;
    bucket.transact(&["from", "to"], |entries| {
        tried += 1;
        assert!(entries.iter().all(Option::is_none) || tried > 1);
        if tried == 1 {
            bucket.put("to", "somebody was faster")?;
        }
        Ok((vec![Change::put("to", "moved"), Change::put("log", "one line")], ()))
    })?;
    assert_eq!(tried, 2, "`to` was not as it was read");
    bucket.transact(&["to"], |_| Ok((Vec::new(), ())))?;
    Ok(())
}

#[test]
fn calls_at_the_same_time_lose_no_update() -> Result<(), ToolError> {
    let host = TestCall::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let call = host.call();
                for _ in 0..50 {
                    bucket(&call)
                        .update("count", |count: &mut u32| {
                            *count += 1;
                            Ok(())
                        })
                        .expect("every update comes through");
                }
            });
        }
    });
    assert_eq!(bucket(&host.call()).get_json::<u32>("count")?, Some(400));
    Ok(())
}

#[test]
fn what_expired_is_gone_and_the_first_write_ends_the_notice() -> Result<(), ToolError> {
    let host = TestCall::new().thread("t");
    let other = host.clone().thread("other");
    for host in [&host, &other] {
        bucket(&host.call()).put("key", "value")?;
    }
    host.expire(Scope::Thread);
    let call = host.call();
    let bucket = bucket(&call);
    assert_eq!((bucket.get("key")?, bucket.expired_at()?.is_some()), (None, true));
    bucket.put("key", "value")?;
    assert_eq!(bucket.expired_at()?, None);
    assert!(still_there(&other)?, "another thread kept its own");
    Ok(())
}

fn still_there(host: &TestCall) -> Result<bool, ToolError> {
    Ok(bucket(&host.call()).get("key")?.is_some())
}

#[test]
fn keys_and_values_have_their_bounds() {
    let call = TestCall::new().call();
    let bucket = bucket(&call);
    assert!(bucket.put(&"k".repeat(512), vec![0; 1 << 20]).is_ok());
    assert_eq!(code(bucket.put(&"k".repeat(513), "")), ErrorCode::Invalid);
    assert_eq!(code(bucket.put("", "")), ErrorCode::Invalid);
    assert_eq!(code(bucket.put("key", vec![0; (1 << 20) + 1])), ErrorCode::Invalid);
    assert_eq!(code(bucket.get_many(&["key"; 1_001])), ErrorCode::Invalid);
    let denied = TestCall::new().without_state();
    assert_eq!(code(denied.call().state(Scope::Thread, "notes")), ErrorCode::Denied);
}

#[test]
fn the_scope_default_is_what_the_operator_chose() -> Result<(), ToolError> {
    let host = TestCall::new().session("one").assistant("a");
    let call = host.call();
    call.state(Scope::Default, "notes")?.put("key", "value")?;
    assert!(call.state(Scope::Session, "notes")?.get("key")?.is_some());

    let host = host.default_scope(Scope::Assistant);
    let (here, elsewhere) = (host.call(), host.clone().session("two").call());
    assert_eq!(here.state(Scope::Default, "notes")?.get("key")?, None);
    here.state(Scope::Default, "notes")?.put("key", "value")?;
    assert!(elsewhere.state(Scope::Assistant, "notes")?.get("key")?.is_some());
    Ok(())
}

#[test]
fn settings_that_a_plugin_does_not_know_are_refused_with_their_names() {
    #[derive(Debug, PartialEq, Default, serde::Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Settings {
        language: String,
    }
    let host = TestCall::new();
    assert_eq!(host.call().settings(), Ok(Settings::default()));
    let host = host.settings(&serde_json::json!({ "language": "ko" }));
    assert_eq!(host.call().settings(), Ok(Settings { language: "ko".into() }));
    let error = host.settings(&serde_json::json!({ "langage": "ko" })).call().settings::<Settings>();
    let error = error.expect_err("misspelt");
    assert_eq!((error.code, error.retryable), (ErrorCode::Unavailable, false));
    assert!(error.message.contains("langage"), "{error}");
}
