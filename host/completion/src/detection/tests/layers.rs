//! Each layer by itself.

use super::*;
use AgentStatus::{Completed, Processing, Ready};

#[test]
fn the_end_of_the_process_and_of_its_stream_are_the_end_at_once() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(10, Event::ProcessEnded { descendants: 0, exit_code: None })]);
    let decision = turn.feed(Event::StreamClosed, ms(30));
    assert_eq!(decision.reason(), Some(Reason::ProcessExited));
    assert_eq!((decision.layer(), decision.confidence()), (Some(Layer::Ended), Some(Confidence::Certain)));
    assert_eq!(decision.ask_again, None);
}

#[test]
fn a_stream_that_outlives_its_process_is_waited_for_100_milliseconds_and_told_apart() {
    let mut left = turn(Preset::Shell, "");
    goes_on(&mut left, [(10, Event::ProcessEnded { descendants: 2, exit_code: None }), (60, output("the last words"))]);
    assert_eq!(wait(&mut left, 60_000), Some((110, Reason::DescendantsAlive { descendants: 2 })));
    assert_eq!(left.decision().messages, 1);

    let mut held = turn(Preset::Shell, "");
    goes_on(&mut held, [(10, Event::ProcessEnded { descendants: 0, exit_code: None })]);
    assert_eq!(wait(&mut held, 60_000), Some((110, Reason::ProcessExited)));
}

#[test]
fn a_process_that_ends_just_before_the_time_limit_is_waited_for_no_longer_than_that() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(1_000, status(Processing))]);
    goes_on(&mut turn, [(449_950, Event::ProcessEnded { descendants: 0, exit_code: None })]);
    let ended = wait(&mut turn, 451_000).expect("it ends");
    assert_eq!(ended, (450_000, Reason::ProcessExited));
}

#[test]
fn a_closed_stream_is_not_yet_the_end_of_its_process() {
    let mut closed = turn(Preset::Shell, "");
    goes_on(&mut closed, [(10, Event::StreamClosed)]);
    assert_eq!(wait(&mut closed, 60_000), Some((110, Reason::StreamClosed)));
    assert_eq!(closed.decision().layer(), Some(Layer::Signal));

    let mut ended = turn(Preset::Shell, "");
    goes_on(&mut ended, [(10, Event::StreamClosed)]);
    assert_eq!(
        reason(&mut ended, 90, Event::ProcessEnded { descendants: 0, exit_code: None }),
        Some(Reason::ProcessExited)
    );
}

#[test]
fn a_process_that_ended_before_the_input_answers_nothing_and_that_is_said_at_once() {
    let mut detector = detector(Preset::Repl);
    assert_eq!(reason(&mut detector, 10, Event::ProcessEnded { descendants: 0, exit_code: None }), None);
    assert_eq!(reason(&mut detector, 5_000, INPUT), Some(Reason::ProcessExited));
}

#[test]
fn a_stream_that_was_closed_before_the_input_answers_nothing_either() {
    let mut detector = detector(Preset::Agent);
    goes_on(&mut detector, [(10, Event::StreamClosed)]);
    assert_eq!(reason(&mut detector, 5_000, INPUT), Some(Reason::StreamClosed));
}

#[test]
fn the_event_completed_is_believed_at_once_even_without_a_message() {
    let decision = turn(Preset::Agent, "").feed(COMPLETED, ms(5));
    assert_eq!(decision.reason(), Some(Reason::AgentCompleted));
    assert_eq!((decision.layer(), decision.messages), (Some(Layer::Signal), 0));
}

#[test]
fn a_status_counts_only_once_a_message_came() {
    for done in [Ready, Completed] {
        let mut turn = turn(Preset::Agent, "");
        goes_on(&mut turn, [(1_000, status(done))]);
        assert_eq!(wait(&mut turn, 100_000), None);
        goes_on(&mut turn, [(100_100, Event::Message)]);
        assert_eq!(wait(&mut turn, 200_000), Some((101_100, Reason::StatusReady)));
    }
}

#[test]
fn a_status_that_is_repeated_does_not_begin_to_hold_anew() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(
        &mut turn,
        [(1_000, Event::Message), (1_100, status(Ready)), (1_300, status(Ready)), (1_500, status(Completed))],
    );
    assert_eq!(wait(&mut turn, 60_000), Some((2_500, Reason::StatusReady)));
}

#[test]
fn an_agent_that_keeps_repeating_that_it_is_done_or_failed_is_believed() {
    let mut done = turn(Preset::Agent, "");
    goes_on(&mut done, [(500, status(Processing)), (1_000, Event::Message), (1_100, status(Ready))]);
    goes_on(&mut done, [(1_300, status(Ready)), (1_500, status(Ready))]);
    assert_eq!(wait(&mut done, 60_000), Some((1_600, Reason::StatusReady)));

    let mut failed = turn(Preset::Agent, "");
    goes_on(&mut failed, (0..6).map(|step| (1_000 + step * 10_000, status(AgentStatus::Error))));
    assert_eq!(wait(&mut failed, 400_000), Some((61_000, Reason::Idle)));
}

#[test]
fn a_broad_prompt_of_a_program_that_listens_there_and_elsewhere_counts_after_a_quarter() {
    let look = |listens, has_read_input| {
        let beside = if listens { Beside::Rests { wakes: ms(4_000), alone: true } } else { Beside::Unknown };
        Event::CursorRow(CursorRow { text: "> ", beside, has_read_input, ..CursorRow::default() })
    };
    let mut program = turn(Preset::Shell, "1 + 1");
    goes_on(&mut program, [(10, output("1 + 1\n2\n> ")), (500, look(true, Some(true)))]);
    assert_eq!(program.feed(look(true, Some(true)), ms(510)).reason(), Some(Reason::BroadPrompt));
    // Where it has not read what was typed, or nobody listens, it may be anything.
    for (listens, has_read) in [(true, None), (true, Some(false)), (false, Some(true))] {
        let mut program = turn(Preset::Shell, "1 + 1");
        goes_on(&mut program, [(10, output("1 + 1\n2\n> ")), (2_000, look(listens, has_read))]);
        assert_eq!(program.feed(look(listens, has_read), ms(2_010)).reason(), Some(Reason::BroadPrompt));
    }
}

#[test]
fn a_strict_prompt_counts_after_a_short_quiet_time_and_a_broad_one_only_when_idle() {
    let mut strict = turn(Preset::Shell, "sudo ls");
    goes_on(&mut strict, [(10, output("sudo ls\n[sudo] password for ann: ")), (100, row("[sudo] password for ann: "))]);
    assert_eq!(strict.decision().ask_again, Some(ms(210)));
    assert_eq!(reason(&mut strict, 210, row("[sudo] password for ann: ")), Some(Reason::StrictPrompt));

    let mut broad = turn(Preset::Shell, "./setup");
    goes_on(&mut broad, [(10, output("./setup\nYour name: ")), (210, row("Your name: "))]);
    assert_eq!(broad.decision().ask_again, Some(ms(2_010)));
    let decision = broad.feed(row("Your name: "), ms(2_010));
    assert_eq!(decision.reason(), Some(Reason::BroadPrompt));
    assert_eq!(decision.confidence(), Some(Confidence::Medium));
}

#[test]
fn a_program_known_to_wait_is_believed_its_prompt_at_once() {
    let mut turn = turn(Preset::Shell, "./setup");
    goes_on(&mut turn, [(10, output("./setup\nYour name: "))]);
    let decision = turn.feed(row_of("Your name: ", true), ms(210));
    assert_eq!((decision.reason(), decision.confidence()), (Some(Reason::BroadPrompt), Some(Confidence::High)));
}

#[test]
fn an_interpreter_answers_within_a_quarter_of_a_second() {
    let mut turn = turn(Preset::Repl, "print(1)\n");
    goes_on(&mut turn, [(5, output("print(1)\r\n")), (8, output("1\r\n>>> "))]);
    assert_eq!(turn.decision().ask_again, Some(ms(208)));
    assert_eq!(reason(&mut turn, 208, row(">>> ")), Some(Reason::StrictPrompt));
}

#[test]
fn an_interpreter_without_a_known_prompt_is_believed_three_seconds_of_quiet() {
    let mut turn = turn(Preset::Repl, "go\n");
    goes_on(&mut turn, [(5, output("go\r\n")), (8, output("gone\r\nyes, master ")), (208, row("yes, master "))]);
    assert_eq!(wait(&mut turn, 60_000), Some((3_008, Reason::Idle)));
}

#[test]
fn a_program_that_has_read_all_and_waits_is_done_whatever_it_shows() {
    for shown in ["", "~", "what now", "cat >"] {
        let mut turn = turn(Preset::Shell, "cat >\n");
        goes_on(&mut turn, [(100, output("\r\n")), (299, row_of_done(shown)), (300, row_of(shown, true))]);
        let decision = turn.feed(row_of_done(shown), ms(400));
        let verdict = decision.verdict.expect("complete");
        let reason = if shown == "cat >" { Reason::BroadPrompt } else { Reason::AwaitsInput };
        assert_eq!((verdict.reason, verdict.confidence, decision.messages), (reason, Confidence::High, 0));
    }
    // Keys may change nothing at all.
    assert_eq!(reason(&mut turn(Preset::Shell, ""), 200, row_of_done("~")), Some(Reason::AwaitsInput));
}

#[test]
fn a_screen_that_is_drawn_by_its_program_answers_by_being_drawn() {
    let mut turn = turn(Preset::Repl, "");
    goes_on(&mut turn, [(10, Event::Redraw)]);
    assert_eq!(turn.decision().ask_again, Some(ms(210)));
    assert_eq!(reason(&mut turn, 210, row("(END)")), Some(Reason::StrictPrompt));
}

#[test]
fn progress_and_a_status_that_repeats_that_it_works_keep_a_turn_alive() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(1_000, Event::Message)]);
    goes_on(
        &mut turn,
        (1..8).map(|step| (step * 50_000, if step % 2 == 0 { Event::Activity } else { status(Processing) })),
    );
    assert_eq!(turn.decision().messages, 1);
}

#[test]
fn a_turn_that_is_complete_stays_so_until_the_next_input() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(1_000, Event::Message)]);
    let decision = turn.feed(COMPLETED, ms(2_000));
    for (at, event) in [(3_000, Event::Message), (4_000, status(Processing)), (5_000, EMPTY), (900_000, Event::Tick)] {
        assert_eq!(turn.feed(event, ms(at)), decision);
    }
    let next = turn.feed(INPUT, ms(900_001));
    assert_eq!((next.is_complete(), next.messages, next.elapsed), (false, 0, ms(0)));
}

#[test]
fn who_sleeps_until_asked_needs_no_polling() {
    let mut turn = turn(Preset::Agent, "");
    assert_eq!(turn.decision().ask_again, Some(ms(450_000)));
    assert_eq!(turn.feed(Event::Message, ms(1_000)).ask_again, Some(ms(61_000)));
    assert_eq!(turn.feed(status(Ready), ms(1_200)).ask_again, Some(ms(2_200)));
    assert_eq!(turn.feed(status(Processing), ms(1_300)).ask_again, Some(ms(61_300)));
}

#[test]
fn a_look_that_never_came_is_not_asked_for_again() {
    let mut turn = turn(Preset::Shell, "x");
    let decision = turn.feed(output("x\ny"), ms(10));
    assert_eq!(decision.ask_again, Some(ms(210)));
    assert_eq!(turn.feed(Event::Tick, ms(210)).ask_again, Some(ms(60_010)));
}

#[test]
fn each_reason_has_its_word_and_its_layer() {
    let reasons = [
        Reason::ProcessExited,
        Reason::DescendantsAlive { descendants: 1 },
        Reason::AgentCompleted,
        COMMAND_ENDED,
        Reason::NeedsContinuation,
        Reason::StreamClosed,
        Reason::StatusReady,
        Reason::StrictPrompt,
        Reason::ShellIdle,
        Reason::AwaitsInput,
        Reason::BroadPrompt,
        Reason::EmptyPolls,
        Reason::Idle,
        Reason::AttemptsExhausted,
        Reason::TimeLimit,
    ];
    let words: Vec<_> = reasons.iter().map(|reason| format!("{} {reason}", reason.layer().as_str())).collect();
    assert_eq!(
        words.join(", "),
        "L0 process-exited, L0 descendants-alive, L1 agent-completed, L1 command-ended, L1 needs-continuation, \
         L1 stream-closed, L2 status-ready, L2 strict-prompt, L2 shell-idle, L2 awaits-input, L2 broad-prompt, \
         L3 empty-polls, L3 idle, L4 attempts-exhausted, L4 time-limit"
    );
    assert!(reasons.is_sorted(), "the order of the table decides ties");
}

#[test]
fn the_code_of_the_program_comes_with_the_end_of_its_turn_and_with_no_other() {
    let mut ended = turn(Preset::Repl, "");
    goes_on(&mut ended, [(10, Event::ProcessEnded { descendants: 0, exit_code: Some(3) })]);
    assert_eq!(ended.feed(Event::StreamClosed, ms(20)).exit_code, Some(3));
    let mut asked = turn(Preset::Repl, "");
    goes_on(&mut asked, [(10, output("Proceed? (y/n) "))]);
    assert_eq!(asked.decision().exit_code, None);
}

#[test]
fn a_program_seen_busy_behind_what_looks_like_a_question_is_not_done_for_one_look_that_finds_out_nothing() {
    let look = |waits_for_input| {
        Event::CursorRow(CursorRow { text: "Continue? (y/n) ", waits_for_input, ..CursorRow::default() })
    };
    let mut busy = turn(Preset::Shell, "run");
    goes_on(&mut busy, [(10, output("run\nContinue? (y/n) ")), (210, look(Some(false))), (410, look(None))]);
    goes_on(&mut busy, [(610, look(None)), (2_200, look(None))]);
    assert_eq!(busy.feed(look(None), ms(2_210)).reason(), Some(Reason::StrictPrompt));
    let mut asking = turn(Preset::Shell, "run");
    goes_on(&mut asking, [(10, output("run\nContinue? (y/n) "))]);
    assert_eq!(asking.feed(look(None), ms(210)).reason(), Some(Reason::StrictPrompt));
}
