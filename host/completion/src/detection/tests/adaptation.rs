//! The inactivity limit that follows the source.

use super::*;
use AgentStatus::Error;

fn adaptive() -> Detector {
    let parameters = Parameters { adaptation: Some(Adaptation::default()), ..Preset::Agent.into() };
    Detector::new(parameters, None).expect("valid")
}

/// A turn that takes so many seconds and is answered, from `at` on.
fn answered(detector: &mut Detector, at: u64, seconds: u64) {
    goes_on(detector, [(at, INPUT), (at + 10, Event::Message)]);
    goes_on(detector, (1..seconds / 20 + 1).map(|step| (at + step * 20_000, Event::Activity)));
    assert!(detector.feed(COMPLETED, ms(at + seconds * 1_000)).is_complete());
}

/// After how much silence a turn that begins at `at` ends.
fn patience(detector: &mut Detector, at: u64) -> Duration {
    goes_on(detector, [(at, INPUT), (at, Event::Message)]);
    wait(detector, at + 450_000);
    assert_eq!(detector.decision().reason(), Some(Reason::Idle));
    detector.decision().idle
}

#[test]
fn before_the_first_answer_the_limit_is_the_configured_one() {
    assert_eq!(patience(&mut adaptive(), 0), ms(60_000));
}

#[test]
fn the_limit_is_one_and_a_half_times_the_mean_response_time() {
    let mut detector = adaptive();
    answered(&mut detector, 0, 20);
    answered(&mut detector, 100_000, 40);
    assert_eq!(patience(&mut detector, 200_000), ms(45_000));
}

#[test]
fn the_limit_keeps_its_bounds() {
    let mut quick = adaptive();
    answered(&mut quick, 0, 1);
    assert_eq!(patience(&mut quick, 100_000), ms(30_000));

    let mut slow = adaptive();
    answered(&mut slow, 0, 300);
    assert_eq!(patience(&mut slow, 400_000), ms(120_000));
}

#[test]
fn turns_that_were_given_up_teach_nothing() {
    let mut detector = adaptive();
    answered(&mut detector, 0, 40);
    for turn in 1..20 {
        assert_eq!(patience(&mut detector, turn * 1_000_000), ms(60_000));
    }
    goes_on(&mut detector, [(30_000_000, INPUT), (30_000_001, status(Error))]);
    assert!(wait(&mut detector, 40_000_000).is_some());
    assert_eq!(patience(&mut detector, 50_000_000), ms(60_000));
}

#[test]
fn a_source_that_became_slower_is_known_to_be() {
    let mut detector = adaptive();
    for turn in 0..100 {
        answered(&mut detector, turn * 1_000_000, 20);
    }
    for turn in 100..116 {
        answered(&mut detector, turn * 1_000_000, 70);
    }
    assert!(patience(&mut detector, 200_000_000) > ms(90_000));
}

#[test]
fn without_adaptation_the_limit_stays_what_it_is() {
    let mut detector = detector(Preset::Agent);
    answered(&mut detector, 0, 200);
    assert_eq!(patience(&mut detector, 1_000_000), ms(60_000));
}
