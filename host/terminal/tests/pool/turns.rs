//! Turns by the pool: how they are judged, and what a terminal's status says.

use std::time::Duration;

use wharf_completion::detection::{Layer, Preset, Reason, Tuning};
use wharf_terminal::{ProfileSettings, RefusedWord, Status, TerminalError, TurnInput, TurnOptions};
use wharf_test_support::AMPLE;

use crate::support::{TestPool, somebody};

#[tokio::test]
async fn a_turn_is_followed_by_number_also_when_the_next_one_runs() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let id = pool.shell(&owner).await;
    let (answer, turn) = pool.answer(&owner, id, "echo fir''st").await;
    assert!(answer.contains("\nfirst\n"), "{answer:?}");
    assert_eq!((turn.number, turn.decision.layer()), (1, Some(Layer::Status)));
    let running = pool.submit(&owner, id, "sleep 1000").await.expect("a turn");
    assert_eq!((running.number, pool.info(&owner, id).status), (2, Status::Busy));
    let error = pool.submit(&owner, id, "echo no").await.expect_err("one runs");
    assert!(matches!(error, TerminalError::Busy { turn: 2 }), "{error}");
    let again = pool.terminals.follow(&owner.owner(), id, 1, turn.start, 10_000, AMPLE).await.expect("kept");
    assert_eq!((again.piece.content, again.turn), (answer, turn));
    let missing = pool.terminals.follow(&owner.owner(), id, 3, 0, 10, Duration::ZERO).await.expect_err("none");
    assert!(matches!(missing, TerminalError::NoTurn { turn: 3, last: 2 }), "{missing}");
    // A key ends the command, and with it the turn. A shell forgets one that comes
    // before its child is a program.
    while pool.info(&owner, id).status != Status::Ready {
        pool.terminals.press(&owner.owner(), id, &["C-c"]).await.expect("pressed");
        let ended = pool.until(&owner, id, |info| info.status == Status::Ready);
        drop(tokio::time::timeout(Duration::from_secs(1), ended).await);
    }
    let metrics = pool.terminals.metrics();
    assert_eq!((metrics.responses.count, metrics.errors.busy), (2, 1));
}

#[tokio::test]
async fn a_question_needs_input_and_a_prompt_does_not() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let id = pool.shell(&owner).await;
    pool.answer(&owner, id, "true").await;
    assert_eq!(pool.info(&owner, id).status, Status::Ready);
    let (_, turn) = pool.answer(&owner, id, "read -p 'Go on? (y/n) ' word").await;
    assert_eq!(turn.decision.reason(), Some(Reason::StrictPrompt));
    assert_eq!(pool.info(&owner, id).status, Status::NeedsInput);
    pool.answer(&owner, id, "y").await;
    assert_eq!(pool.info(&owner, id).status, Status::Ready);
}

#[tokio::test]
async fn what_is_known_of_a_program_says_how_its_turns_are_judged_and_what_is_refused() {
    let own = ProfileSettings {
        strict_prompts: vec!["^ask> $".into()],
        refused: vec![RefusedWord { word: "exit".into(), reason: "close the terminal instead".into() }],
        ..ProfileSettings::new("own", &["sh"], Preset::Build)
    };
    let pool = TestPool::with(|settings| settings.profiles = vec![own]);
    let owner = somebody("one");
    let script = "printf 'ask> '; while read line; do echo got $line; printf 'ask> '; done";
    let id = pool.script(&owner, script).await.expect("a terminal").id;
    assert_eq!(pool.info(&owner, id).profile, "own");
    pool.printed(&owner, id, "ask> ").await;
    let (answer, turn) = pool.answer(&owner, id, "hello").await;
    assert_eq!((answer.trim_end(), turn.decision.reason()), ("hello\ngot hello\nask>", Some(Reason::StrictPrompt)));
    let error = pool.submit(&owner, id, "exit").await.expect_err("refused");
    assert!(error.to_string().contains("close the terminal instead"), "{error}");
    let options = pool.terminals.turn_options(&owner.owner(), id, Some("repl")).expect("options");
    assert_eq!(options.parameters.inactivity_timeout, Duration::from_secs(3));
    assert!(options.parameters.prompts.find("ask> ").is_some());
}

#[tokio::test]
async fn waiting_ends_with_text_or_with_the_terminal() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let id = pool.script(&owner, "read line; echo got it; read line; exit 4").await.expect("a terminal").id;
    let (name, seen) = (owner.owner(), pool.info(&owner, id).text_bytes);
    let send = async { pool.terminals.press(&owner.owner(), id, &["Enter"]).await.expect("pressed") };
    let waiting = pool.terminals.wait(&name, id, seen, AMPLE);
    let (info, ()) = tokio::join!(waiting, send);
    assert!(info.expect("a terminal").text_bytes > seen);
    pool.printed(&owner, id, "got it\n").await;
    let seen = pool.info(&owner, id).text_bytes + 100;
    let send = async { pool.terminals.press(&owner.owner(), id, &["Enter"]).await.expect("pressed") };
    let waiting = pool.terminals.wait(&name, id, seen, AMPLE);
    let (info, ()) = tokio::join!(waiting, send);
    assert_eq!(info.expect("a terminal").status, Status::Closed);
    let begun = tokio::time::Instant::now();
    let closed = pool.terminals.wait(&owner.owner(), id, seen, AMPLE).await.expect("a terminal");
    assert!(closed.ended.is_some() && begun.elapsed() < AMPLE);
    let error = pool.terminals.send(&owner.owner(), id, TurnInput::Keys(&["x"]), None).await.expect_err("closed");
    assert!(matches!(error, TerminalError::Over { because } if because == "it ended with code 4"));
}

#[tokio::test]
async fn silence_that_was_asked_for_ends_a_turn_of_a_program_that_works() {
    let (pool, owner) = (TestPool::new(), somebody("one"));
    let id = pool.shell(&owner).await;
    let usual = pool.terminals.turn_options(&owner.owner(), id, None).expect("options");
    let parameters = usual.parameters.limited(Some(Duration::from_millis(300)), None).expect("valid");
    let input = TurnInput::Submit("echo an''swer; sleep 1000");
    let turn = pool.terminals.send(&owner.owner(), id, input, Some(TurnOptions { parameters })).await.expect("a turn");
    let info = pool.until(&owner, id, |info| info.turn.as_ref().is_some_and(|turn| turn.is_over())).await;
    let over = info.turn.expect("the turn");
    assert_eq!((over.number, over.decision.reason()), (turn.number, Some(Reason::Idle)));
}

#[tokio::test]
async fn silence_follows_what_a_program_usually_takes_where_its_profile_says_so() {
    let tuning = Tuning { adaptive: Some(true), ..Tuning::default() };
    let own = ProfileSettings { tuning, ..ProfileSettings::new("own", &["bash"], Preset::Shell) };
    let pool = TestPool::with(|settings| settings.profiles = vec![own]);
    let owner = somebody("one");
    let id = pool.shell(&owner).await;
    for (turns, seconds) in [(0, 60), (1, 30)] {
        let (_, turn) = pool.answer(&owner, id, "echo an''swer").await;
        let silence = turn.decision.adaptive.expect("it adapts");
        assert_eq!((silence.turns, silence.limit), (turns, Duration::from_secs(seconds)));
    }
    // A turn that is judged otherwise does not adapt.
    let options = pool.terminals.turn_options(&owner.owner(), id, Some("repl")).expect("options");
    assert!(options.parameters.adaptation.is_none());
    let named = pool.terminals.turn_options(&owner.owner(), id, Some("own")).expect("options");
    assert!(named.parameters.adaptation.is_some());
    let error = pool.terminals.turn_options(&owner.owner(), id, Some("owl")).expect_err("no such");
    assert!(error.to_string().contains("own"), "{error}");
    let ended = pool.terminals.turns_ended();
    assert_eq!(ended.values().sum::<u64>(), 2, "{ended:?}");
}
