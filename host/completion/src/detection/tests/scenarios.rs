//! The four scenarios of design document 004, and its three logs.

use super::*;
use AgentStatus::{Error, Processing, Ready, Typing};

/// Polls on, each 15 s after the one before, until the turn is complete.
fn poll(detector: &mut Detector, from: u64) -> Decision {
    let mut at = from;
    loop {
        at += 15_000;
        let decision = detector.feed(EMPTY, ms(at));
        if decision.is_complete() {
            return decision;
        }
    }
}

#[test]
fn scenario_1_a_single_message_is_complete_by_the_status() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(500, status(Processing)), (3_000, Event::Message), (3_200, status(Ready))]);
    assert_eq!(wait(&mut turn, 60_000), Some((3_700, Reason::StatusReady)));
    let decision = turn.decision();
    assert_eq!(
        (decision.layer(), decision.confidence(), decision.messages),
        (Some(Layer::Status), Some(Confidence::High), 1)
    );
}

#[test]
fn scenario_2_three_messages_are_complete_after_the_third_though_ready_came_first() {
    // The log of 004 has the status before the messages that belong to it.
    let mut turn = turn(Preset::Agent, "");
    goes_on(
        &mut turn,
        [(1_000, Event::Message), (1_010, status(Ready)), (1_400, Event::Message), (1_800, Event::Message)],
    );
    assert_eq!(wait(&mut turn, 60_000), Some((2_800, Reason::StatusReady)));
    assert_eq!(turn.decision().messages, 3);
}

#[test]
fn scenario_3_a_slow_answer_is_not_cut_while_its_status_changes() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(
        &mut turn,
        [
            (1_000, status(Processing)),
            (15_000, EMPTY),
            (30_000, EMPTY),
            (40_000, Event::Message),
            (41_000, status(Typing)),
            (57_000, EMPTY),
            (72_000, EMPTY),
            (80_000, Event::Message),
            (81_000, status(Ready)),
        ],
    );
    assert_eq!(wait(&mut turn, 200_000), Some((81_500, Reason::StatusReady)));
}

#[test]
fn scenario_4_an_error_without_a_message_ends_by_silence_and_without_the_error_not() {
    let mut failed = turn(Preset::Agent, "");
    goes_on(&mut failed, [(1_000, status(Error))]);
    assert_eq!(wait(&mut failed, 450_000), Some((61_000, Reason::Idle)));
    assert_eq!(failed.decision().messages, 0);

    let mut polled = turn(Preset::Agent, "");
    goes_on(&mut polled, [(1_000, status(Error))]);
    let decision = poll(&mut polled, 1_000);
    assert_eq!((decision.reason(), decision.elapsed), (Some(Reason::EmptyPolls), ms(46_000)));

    let mut silent = turn(Preset::Agent, "");
    goes_on(&mut silent, [(1_000, status(Processing))]);
    assert_eq!(wait(&mut silent, 450_000), Some((450_000, Reason::TimeLimit)));
}

#[test]
fn an_error_with_a_message_ends_by_silence_too() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(1_000, Event::Message), (1_100, status(Error))]);
    assert_eq!(wait(&mut turn, 450_000), Some((61_100, Reason::Idle)));
}

#[test]
fn three_empty_polls_end_a_turn_after_45_seconds_as_in_the_log() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(1_000, Event::Message), (1_000, FULL)]);
    let decision = poll(&mut turn, 1_000);
    assert_eq!(decision.reason(), Some(Reason::EmptyPolls));
    assert_eq!((decision.messages, decision.empty_polls, decision.idle), (1, 3, ms(45_000)));
    assert_eq!((decision.layer(), decision.confidence()), (Some(Layer::Inactivity), Some(Confidence::Low)));
}

#[test]
fn sixty_seconds_of_silence_end_a_turn_whose_status_still_says_processing() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(900, status(Processing)), (1_000, Event::Message)]);
    assert_eq!(wait(&mut turn, 450_000), Some((61_000, Reason::Idle)));
}

#[test]
fn two_messages_are_not_yet_an_answer_as_they_once_were() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, (1..40).map(|second| (second * 1_000, Event::Message)));
    assert_eq!(turn.decision().messages, 39);
}

#[test]
fn thirty_attempts_without_an_answer_are_the_seven_and_a_half_minutes_of_the_document() {
    let mut turn = turn(Preset::Agent, "");
    let decision = poll(&mut turn, 0);
    assert_eq!((decision.attempts, decision.empty_polls, decision.elapsed), (30, 30, ms(450_000)));
    assert_eq!((decision.layer(), decision.confidence()), (Some(Layer::Limit), Some(Confidence::None)));
}
