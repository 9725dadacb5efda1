//! Which rule wins where two could fire: the second table of the module.

use super::*;
use AgentStatus::Ready;

#[test]
fn at_one_moment_the_strongest_layer_wins() {
    // Silence, the limit and the status, all due at 450 s.
    let late = || {
        let mut turn = turn(Preset::Agent, "");
        goes_on(&mut turn, (1..40).map(|step| (step * 10_000, Event::Message)).chain([(390_000, Event::Message)]));
        turn
    };
    let mut silent = late();
    assert_eq!(reason(&mut silent, 450_000, Event::Tick), Some(Reason::Idle));
    assert_eq!(reason(&mut late(), 450_000, COMPLETED), Some(Reason::AgentCompleted));

    let mut ready = turn(Preset::Agent, "");
    goes_on(&mut ready, [(1_000, status(AgentStatus::Typing))]);
    goes_on(&mut ready, (1..9).map(|step| (step * 50_000, Event::Message)));
    goes_on(&mut ready, [(449_500, Event::Message), (449_500, status(Ready))]);
    assert_eq!(reason(&mut ready, 450_000, Event::Tick), Some(Reason::StatusReady));
}

#[test]
fn of_silence_by_polls_and_by_time_the_polls_are_named() {
    let mut turn = turn(Preset::Sensitive, "");
    goes_on(&mut turn, [(1_000, Event::Message), (16_000, EMPTY)]);
    assert_eq!(reason(&mut turn, 31_000, EMPTY), Some(Reason::EmptyPolls));
}

#[test]
fn at_different_times_the_earlier_rule_wins_though_it_is_weaker() {
    let mut turn = turn(Preset::SimpleAnswer, "");
    goes_on(&mut turn, [(1_000, Event::Message)]);
    let decision = turn.feed(COMPLETED, ms(40_000));
    assert_eq!((decision.reason(), decision.elapsed), (Some(Reason::Idle), ms(31_000)));
}

#[test]
fn once_the_process_has_ended_nothing_else_is_the_reason() {
    let events = [COMPLETED, ENDED, Event::StreamClosed, EMPTY, Event::Tick, Event::Message, row_of("(y/n) ", true)];
    for event in events {
        let mut turn = turn(Preset::Sensitive, "");
        goes_on(
            &mut turn,
            [(449_000, Event::Message), (449_950, Event::ProcessEnded { descendants: 0, exit_code: None })],
        );
        turn.feed(event, ms(449_990));
        // The limit passes while the stream drains.
        turn.feed(Event::Tick, ms(450_000));
        assert_eq!(turn.feed(Event::Tick, ms(450_050)).reason(), Some(Reason::ProcessExited), "{event:?}");
    }
}

#[test]
fn an_event_at_the_very_moment_of_a_limit_came_in_time() {
    let mut turn = turn(Preset::Repl, "");
    goes_on(&mut turn, [(1_000, Event::Message), (4_000, Event::Message), (7_000, Event::Message)]);
    assert_eq!(reason(&mut turn, 10_000, Event::Tick), Some(Reason::Idle));
}

#[test]
fn a_limit_that_passed_before_an_event_has_decided() {
    let mut turn = turn(Preset::Repl, "");
    goes_on(&mut turn, [(1_000, Event::Message)]);
    let decision = turn.feed(Event::Message, ms(4_001));
    assert_eq!((decision.reason(), decision.messages, decision.idle), (Some(Reason::Idle), 1, ms(3_000)));
}

#[test]
fn a_strict_prompt_wins_over_a_shell_that_waits_and_over_a_broad_one() {
    let mut turn = turn(Preset::Shell, "");
    goes_on(&mut turn, [(5, output("Password: "))]);
    assert_eq!(reason(&mut turn, 205, row_of_shell("Password: ", Some(true))), Some(Reason::StrictPrompt));
}

#[test]
fn a_status_that_says_that_work_goes_on_wins_over_what_may_be_a_prompt() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(5, output("thinking\r\n> ")), (6, status(AgentStatus::Processing))]);
    goes_on(&mut turn, [(300, row_of("> ", true)), (20_000, row("> "))]);
    goes_on(&mut turn, [(20_001, status(Ready))]);
    assert_eq!(wait(&mut turn, 60_000), Some((20_501, Reason::StatusReady)));
}
