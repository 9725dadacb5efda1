//! The defaults of the documents, the presets, and what is refused.

use super::*;

fn refused(change: impl FnOnce(&mut Parameters)) -> String {
    let mut parameters = Parameters::default();
    change(&mut parameters);
    Detector::new(parameters, None).expect_err("refused").to_string()
}

#[test]
fn the_defaults_are_those_of_design_document_004() {
    let defaults = Parameters::default();
    let found = (
        defaults.wait_for_data.as_secs(),
        defaults.max_attempts,
        defaults.consecutive_empty_polls,
        defaults.inactivity_timeout.as_secs(),
        defaults.time_limit.as_secs(),
    );
    assert_eq!(found, (15, 30, 3, 60, 450));
    assert_eq!(defaults.wait_for_data * defaults.max_attempts, defaults.time_limit);
}

#[test]
fn the_presets_are_valid_and_have_the_numbers_of_the_documents() {
    let found = Preset::ALL.map(|preset| {
        let parameters = Parameters::from(preset);
        parameters.validate().expect("valid");
        assert_eq!(preset.as_str().parse(), Ok(preset));
        (preset.as_str(), parameters.consecutive_empty_polls, parameters.inactivity_timeout.as_secs())
    });
    let expected = [
        ("shell", 3, 60),
        ("repl", 3, 3),
        ("agent", 3, 60),
        ("build", 20, 300),
        ("sensitive", 2, 30),
        ("patient", 5, 120),
        ("search", 6, 90),
        ("simple-answer", 3, 30),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_unknown_preset_is_told_the_known_ones() {
    assert_eq!(
        "Shell".parse::<Preset>().expect_err("unknown").to_string(),
        "there is no preset \"Shell\"; there are shell, repl, agent, build, sensitive, patient, search, simple-answer"
    );
}

#[test]
fn a_number_out_of_range_is_refused_with_its_name() {
    assert_eq!(refused(|all| all.settle = ms(0)), "`settle_milliseconds` must be from 1 to 86400000, not 0");
    assert_eq!(
        refused(|all| all.time_limit = ms(86_400_001)),
        "`time_limit_milliseconds` must be from 1 to 86400000, not 86400001"
    );
    assert_eq!(refused(|all| all.max_attempts = 0), "`max_attempts` must be from 1 to 100000, not 0");
    assert_eq!(
        refused(|all| all.consecutive_empty_polls = 31),
        "`consecutive_empty_polls` must be from 1 to 30, not 31"
    );
}

#[test]
fn a_rule_that_could_never_fire_is_refused() {
    assert_eq!(
        refused(|all| all.inactivity_timeout = ms(61_000)),
        "`inactivity_timeout_milliseconds` (61000) must not exceed `busy_inactivity_timeout_milliseconds` (60000)"
    );
    assert_eq!(
        refused(|all| all.strict_quiet = ms(3_000)),
        "`strict_quiet_milliseconds` (3000) must not exceed `broad_quiet_milliseconds` (2000)"
    );
    assert_eq!(
        refused(|all| all.adaptation = Some(Adaptation { shortest: ms(9_000), longest: ms(8_000) })),
        "`adaptive_shortest_milliseconds` (9000) must not exceed `adaptive_longest_milliseconds` (8000)"
    );
}

#[test]
fn a_detector_is_small_and_stays_so_whatever_it_is_told() {
    assert!(size_of::<Detector>() <= 1_024, "{}", size_of::<Detector>());
    let mut turn = turn(Preset::Agent, &"x".repeat(1 << 20));
    turn.feed(output(&"y ".repeat(1 << 20)), ms(1));
    turn.feed(row(&"> ".repeat(1 << 20)), ms(300));
    assert_eq!(turn.decision().messages, 1);
}
