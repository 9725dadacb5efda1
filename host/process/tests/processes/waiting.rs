//! Waits.

use std::{sync::Arc, time::Duration};

use wharf_process::{
    InvalidPattern, Pattern, PatternMatch, ProcessId, SpawnRequest, StreamName, WaitCondition, WaitEnd,
};
use wharf_test_support::AMPLE;

use crate::support::{TestRegistry, owner, shell};

fn until_pattern(raw: &str, from: u64) -> WaitCondition {
    let pattern = Pattern::new(raw).expect("a pattern");
    WaitCondition { pattern: Some((StreamName::Stdout, from, pattern)), ..WaitCondition::default() }
}

/// Waits for a match in the standard output; says whether it came.
pub(crate) async fn pattern(registry: &TestRegistry, id: ProcessId, raw: &str) -> bool {
    let waited = registry.processes.wait(&owner("one"), id, &until_pattern(raw, 0), AMPLE).await.expect("a wait");
    matches!(waited.reason, WaitEnd::Pattern(_))
}

#[tokio::test]
async fn a_wait_ends_by_whatever_comes_first() {
    let registry = TestRegistry::new().await;
    let id = registry.start(SpawnRequest { input: true, ..shell("while read line; do echo $line; done") }).await;
    let wait = async |until: WaitCondition, within| {
        registry.processes.wait(&owner("one"), id, &until, within).await.expect("a wait").reason
    };
    let output = |from| WaitCondition { output: Some((StreamName::Stdout, from)), ..WaitCondition::default() };
    let short = Duration::from_millis(30);
    assert_eq!(wait(output(0), short).await, WaitEnd::TimeUp);
    assert_eq!(wait(WaitCondition { idle: Some(short), ..output(0) }, AMPLE).await, WaitEnd::Idle);
    registry.processes.write(&owner("one"), id, b"hello\n", AMPLE).await.expect("written");
    assert_eq!(wait(output(0), AMPLE).await, WaitEnd::Output);
    assert_eq!(wait(until_pattern("^h.*o$", 0), AMPLE).await, WaitEnd::Pattern(PatternMatch { from: 0, to: 5 }));
    assert_eq!(wait(until_pattern("hello", 1), short).await, WaitEnd::TimeUp);
    registry.processes.close_input(&owner("one"), id).await.expect("closed");
    // Nothing that is waited for can come any more.
    assert_eq!(wait(until_pattern("never", 0), AMPLE).await, WaitEnd::Exit);
    registry.close().await;
}

#[tokio::test]
async fn a_pattern_is_found_however_the_output_is_cut_and_however_much_there_is() {
    let registry = TestRegistry::new().await;
    let id = registry
        .shell("printf 'list'; sleep 0.05; printf 'ening on 80'; sleep 0.05; printf '80> '; exec sleep 1000")
        .await;
    assert!(pattern(&registry, id, r"listening on \d{4}> $").await);

    let id =
        registry.shell("head -c 3000000 /dev/zero | tr '\\0' x; echo; seq 300000; echo the end; exec sleep 1000").await;
    assert!(pattern(&registry, id, "^the end$").await);
    assert!(pattern(&registry, id, "^299999$").await);
    registry.close().await;
}

#[tokio::test]
async fn a_pattern_that_would_take_too_much_is_refused() {
    assert!(Pattern::new(&"a".repeat(1_025)).is_err());
    assert!(Pattern::new("((a{1000}){1000}){1000}").is_err());
    assert!(Pattern::new("(").is_err());
    // What comes to nothing after each of a million characters was looked at, 90 times.
    let slow = format!("(?i){}", "[!-\u{10fffd}]{0}".repeat(90));
    let refused = Pattern::new(&slow).expect_err("it takes too long");
    assert!(matches!(refused, InvalidPattern::Costly(_)) && refused.to_string().contains("`(?-i:"), "{refused}");
    // What takes exponential time elsewhere.
    let registry = TestRegistry::new().await;
    let id = registry.shell("head -c 60000 /dev/zero | tr '\\0' a; echo").await;
    assert!(!pattern(&registry, id, "(a*)*b$").await);
    registry.close().await;
}

#[tokio::test]
async fn a_wait_that_is_dropped_loses_nothing() {
    let registry = TestRegistry::new().await;
    let id = registry.start(SpawnRequest { input: true, ..shell("exec cat") }).await;
    let processes = Arc::clone(&registry.processes);
    let waiting =
        tokio::spawn(
            async move { processes.wait(&owner("one"), id, &until_pattern("hello", 0), AMPLE).await.map(|_| ()) },
        );
    tokio::task::yield_now().await;
    waiting.abort();
    assert!(waiting.await.expect_err("dropped").is_cancelled());
    registry.processes.write(&owner("one"), id, b"hello\n", AMPLE).await.expect("written");
    assert!(pattern(&registry, id, "hello").await);
    registry.close().await;
}
