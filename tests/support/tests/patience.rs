//! Waits end when it is so, and those in vain say what they waited for.

use std::{
    cell::Cell,
    panic::catch_unwind,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use wharf_test_support::{AMPLE, blocking, in_time, let_time_pass, processes, soon_once, until, until_async};

/// What holds at the third look.
fn third() -> impl FnMut() -> bool {
    let mut looks = 0;
    move || {
        looks += 1;
        looks == 3
    }
}

#[test]
fn a_wait_ends_at_the_first_look_that_finds_it() {
    blocking::until("the third look", third());
    assert_eq!(blocking::until("a number", || Some(3)), 3);
    assert_eq!(blocking::until("a number", || Ok::<_, String>(3)), 3);
    let looks = Cell::new(0);
    blocking::until("once is enough", || looks.replace(looks.get() + 1) == 0);
    assert_eq!(looks.get(), 1);
}

#[tokio::test]
async fn a_wait_of_a_task_ends_the_same_way() {
    until("the third look", third()).await;
    let mut look = third();
    until_async("the third look", async || look()).await;
    assert_eq!(in_time("a number", async { 3 }).await, 3);
}

#[tokio::test(start_paused = true)]
async fn what_never_ends_is_named_with_its_place() {
    let told = tokio::spawn(in_time("the sea is empty", std::future::pending::<()>())).await.expect_err("in vain");
    let told = told.into_panic().downcast::<String>().expect("words");
    assert!(told.contains("tests/patience.rs:") && told.contains("in vain: the sea is empty"), "{told}");
    let told = tokio::spawn(until_async("an answer", std::future::pending::<bool>)).await.expect_err("in vain");
    let told = told.into_panic().downcast::<String>().expect("words");
    assert!(told.contains("tests/patience.rs:") && told.contains("in vain: an answer"), "{told}");
}

#[tokio::test]
async fn what_has_to_be_soon_may_be_late_twice() {
    let mut look = third();
    soon_once("the third", async || if look() { Ok(()) } else { Err("late") }).await;
    let mut look = third();
    assert_eq!(blocking::soon_once("the third", || if look() { Ok(3) } else { Err("late") }), 3);
    let told = catch_unwind(|| blocking::soon_once("a bird", || Err::<(), _>("late"))).expect_err("late");
    let told = told.downcast::<String>().expect("words");
    assert!(told.contains("tests/patience.rs:"), "{told}");
    assert!(told.ends_with("too late each time: a bird: [\"late\", \"late\", \"late\"]"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn time_passes_on_the_clock_of_the_test() {
    let (began, real) = (tokio::time::Instant::now(), Instant::now());
    let_time_pass(AMPLE * 10, "the clock is paused").await;
    assert_eq!(began.elapsed(), AMPLE * 10);
    assert!(real.elapsed() < AMPLE);
}

#[test]
fn time_passes_for_a_reason_alone() {
    let began = Instant::now();
    blocking::let_time_pass(Duration::from_millis(3), "so long");
    assert!(began.elapsed() >= Duration::from_millis(3));
    catch_unwind(|| blocking::let_time_pass(Duration::ZERO, "")).expect_err("no reason");
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_lives_until_it_has_ended_and_not_until_somebody_asks() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("a child");
    assert!(processes::lives(child.id()));
    assert_eq!(processes::parent(child.id()), std::process::id());
    assert!(processes::below(processes::parent(std::process::id())).contains(&child.id()));
    assert_eq!(processes::children_of(std::process::id()), 1);
    assert!(processes::below(child.id()).is_empty());
    drop(child.stdin.take());
    processes::until_dead(child.id());
    assert!(processes::state_and_parent(child.id()).is_some_and(|(state, _)| state == 'Z'), "nobody has asked");
    child.wait().expect("its end");
    assert!(!processes::lives(child.id()));
}
