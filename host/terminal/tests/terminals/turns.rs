//! Turns: what they are given, how they stand, and who may begin one.

use std::time::Duration;

use wharf_completion::detection::{Parameters, Preset, Reason};
use wharf_core::{Code, Error};
use wharf_terminal::{InputError, TerminalError, TurnInput, TurnOptions};
use wharf_test_support::blocking;

use crate::support::{all_text, answered, bash, begin, close, over, printed, said, shell, until};

#[tokio::test]
async fn a_turn_is_its_input_and_all_that_follows_until_the_prompt() {
    let session = bash().await;
    let state = answered(&session, "echo on''e; echo tw''o", Preset::Shell).await;
    assert_eq!((state.number, state.decision.reason(), state.cancelled), (1, Some(Reason::ShellIdle), false));
    assert_eq!(said(&session, &state), "echo on''e; echo tw''o\none\ntwo\n$ ");
    let next = answered(&session, "echo thr''ee", Preset::Shell).await;
    assert_eq!((next.number, next.start), (2, state.end.expect("over")));
    assert_eq!(session.turn().expect("the last").state(), next);
    close(&session).await;
}

#[tokio::test]
async fn a_second_turn_is_a_conflict_until_the_first_is_over() {
    let session = shell("read a; sleep 1000").await;
    let turn = begin(&session, "one", Preset::Shell).await;
    let options = TurnOptions::default();
    let refused = session.begin_turn(TurnInput::Submit("two"), options.clone()).await.expect_err("a conflict");
    assert!(matches!(refused, TerminalError::Busy { turn: 1 }));
    let error = Error::from(refused);
    assert_eq!(error.code, Code::Conflict);
    assert!(error.message.contains("cancel it first"), "{}", error.message);
    assert!(matches!(session.submit("two").await, Err(TerminalError::Busy { .. })));
    assert!(matches!(session.type_text("two").await, Err(TerminalError::Busy { .. })));
    // Keys belong to the turn.
    session.press(&["x", "Enter"]).await.expect("pressed");
    assert!(!turn.state().is_over());
    turn.cancel();
    session.begin_turn(TurnInput::Submit("two"), options).await.expect("a turn");
    close(&session).await;
}

#[tokio::test]
async fn a_turn_that_is_given_up_is_over_at_once_and_the_program_is_sent_nothing() {
    let session = bash().await;
    let turn = begin(&session, "sleep 0.2; echo do''ne", Preset::Shell).await;
    printed(&session, "sleep").await;
    turn.cancel();
    let state = turn.state();
    assert!(state.is_over() && state.cancelled && !state.decision.is_complete(), "{state:?}");
    // A second time changes nothing.
    turn.cancel();
    assert_eq!(turn.state(), state);
    printed(&session, "done").await;
    assert_eq!(turn.state(), state);
    close(&session).await;
}

#[tokio::test]
async fn a_turn_goes_on_whoever_looks_and_can_be_followed_later() {
    let session = bash().await;
    drop(begin(&session, "sleep 0.1; echo do''ne", Preset::Shell).await);
    printed(&session, "done").await;
    let state = over(&session.turn().expect("the turn")).await;
    assert_eq!(state.decision.reason(), Some(Reason::ShellIdle));
    close(&session).await;
}

#[tokio::test]
async fn the_chunks_of_a_turn_are_its_text_once_and_end_where_it_ends() {
    let session = bash().await;
    let turn = begin(&session, "seq 1 5000; sleep 0.2; echo é; sleep 0.2; echo la''st", Preset::Shell).await;
    let (mut from, mut text) = (turn.state().start, String::new());
    loop {
        let piece = turn.next(from, 600, Duration::from_secs(60)).await;
        assert!(piece.content.len() <= 600);
        text += &piece.content;
        from = piece.next;
        if piece.content.is_empty() {
            break;
        }
    }
    let state = turn.state();
    assert_eq!(state.end, Some(from));
    assert_eq!(text, said(&session, &state));
    assert!(text.contains("\n5000\né\nlast\n"));
    // The turn does not get what comes after it.
    let next = begin(&session, "echo mo''re", Preset::Shell).await;
    over(&next).await;
    assert_eq!(turn.next(from, 600, Duration::from_secs(60)).await.content, "");
    close(&session).await;
}

#[tokio::test]
async fn a_chunk_comes_before_the_turn_is_over_and_patience_ends() {
    let session = shell("read a; echo working; sleep 1000").await;
    let turn = begin(&session, "go", Preset::Shell).await;
    let mut text = String::new();
    while !text.ends_with("working\n") {
        let from = turn.state().start + text.len() as u64;
        text += &turn.next(from, 4096, Duration::from_secs(60)).await.content;
    }
    let from = turn.state().start + text.len() as u64;
    assert_eq!(turn.next(from, 4096, Duration::from_millis(1)).await.content, "");
    assert!(!turn.completed(Duration::from_millis(1)).await.is_over());
    close(&session).await;
}

#[tokio::test]
async fn what_may_not_be_typed_begins_no_turn() {
    let session = bash().await;
    let begin = |input| session.begin_turn(input, TurnOptions::default());
    let refused = begin(TurnInput::Submit("\u{3}")).await.expect_err("refused");
    assert!(matches!(refused, TerminalError::Input(InputError::Key { .. })));
    assert!(matches!(begin(TurnInput::Keys(&["F99"])).await, Err(TerminalError::Key(_))));
    let parameters = Parameters { broad_quiet: Duration::ZERO, ..Parameters::default() };
    let refused = session.begin_turn(TurnInput::Submit("ls"), TurnOptions { parameters }).await;
    assert!(matches!(&refused, Err(TerminalError::Parameters(_))), "{refused:?}");
    assert!(session.turn().is_none());
    assert_eq!(all_text(&session), "$ ");
    close(&session).await;
}

#[tokio::test]
async fn the_end_of_the_program_ends_the_turn_and_letting_go_of_the_session_gives_it_up() {
    let session = shell("read a; echo last; exit 3").await;
    let state = answered(&session, "go", Preset::Shell).await;
    assert_eq!(state.decision.reason(), Some(Reason::ProcessExited));
    assert_eq!(said(&session, &state), "go\nlast\n");
    assert!(matches!(
        session.begin_turn(TurnInput::Keys(&[]), TurnOptions::default()).await,
        Err(TerminalError::Closed)
    ));

    let session = shell("read a; sleep 1000").await;
    let turn = begin(&session, "go", Preset::Shell).await;
    drop(session);
    assert!(over(&turn).await.cancelled);
    assert_eq!(turn.next(0, 100, Duration::from_secs(60)).await.content, "");
}

#[tokio::test]
async fn input_that_nobody_reads_keeps_the_turn_from_being_complete_and_is_taken_back_with_it() {
    let session = shell("stty raw -echo; printf 'Password: '; sleep 1000").await;
    printed(&session, "Password: ").await;
    until(&session, |session| session.line_mode().is_some_and(|mode| !mode.canonical)).await;
    let text = "x".repeat(10_000);
    let turn = begin(&session, &text, Preset::Shell).await;
    let other = session.begin_turn(TurnInput::Keys(&["x"]), TurnOptions::default()).await;
    assert!(matches!(other, Err(TerminalError::Busy { .. })));
    turn.cancel();
    // What was not typed is gone, so a key gets its turn, and the end, too.
    close(&session).await;
}

#[tokio::test]
async fn a_host_that_is_held_up_takes_none_of_that_time_for_silence() {
    let session =
        shell("read a; for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done; echo l''ast; exec sleep 1000").await;
    let limit = Duration::from_secs(1);
    let parameters = Parameters {
        broad_quiet: limit,
        inactivity_timeout: limit,
        busy_inactivity_timeout: limit,
        ..Parameters::default()
    };
    let turn = session.begin_turn(TurnInput::Submit("go"), TurnOptions { parameters }).await.expect("a turn");
    turn.changes().wait_for(|state| state.decision.messages > 0).await.expect("it begins to answer");
    // Nothing of this test's host runs meanwhile, and the program goes on.
    blocking::let_time_pass(Duration::from_millis(2600), "the host is held up");
    let state = over(&turn).await;
    assert_eq!(state.decision.reason(), Some(Reason::Idle));
    assert!(said(&session, &state).ends_with("\n6\nlast\n"), "{:?}", said(&session, &state));
    // As long after the last as it would have been otherwise.
    assert!(state.decision.elapsed > Duration::from_millis(2600), "{state:?}");
    close(&session).await;
}
