use std::thread;

use parking_lot::Mutex;
use proptest::prelude::*;

use super::*;

const SETTINGS: PollSettings =
    PollSettings { guidance: true, threshold: 5, hasty_threshold: None, language: Language::English };

/// Where something stands that is polled here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Starting,
    Running,
    Finished,
}

impl Polled for Status {
    const SUBJECT: Subject = Subject::Process;

    fn runs(self) -> bool {
        self == Self::Running
    }
}

/// Polls a running process at these seconds, and says after how many of them
/// advice came.
fn guided_at(seconds: impl IntoIterator<Item = f64>, settings: &PollSettings) -> Vec<usize> {
    let (mut polls, metrics) = (Polls::<Status>::default(), PollMetrics::default());
    let guided = |(number, at)| {
        let ran = Duration::from_secs_f64(at);
        polls.record(ran, Status::Running, settings, &metrics).map(|_| number + 1)
    };
    seconds.into_iter().enumerate().filter_map(guided).collect()
}

#[test]
fn the_fifth_poll_in_a_row_brings_the_first_advice_whatever_the_interval() {
    for interval in [0.0, 0.01, 0.2, 0.9, 2.0, 30.0, 59.0, 600.0] {
        let guided = guided_at((1..=5).map(|poll| f64::from(poll) * interval), &SETTINGS);
        assert_eq!(guided, [5], "{interval} s apart");
    }
    let patient = PollSettings { threshold: 7, ..SETTINGS };
    assert_eq!(guided_at((1..=8).map(|poll| f64::from(poll) * 2.0), &patient), [7]);
}

#[test]
fn hasty_polls_bring_advice_sooner_only_where_the_operator_says_so() {
    let sooner = PollSettings { hasty_threshold: Some(3), ..SETTINGS };
    assert_eq!(guided_at((1..=8).map(|poll| f64::from(poll) * 0.2), &sooner), [3]);
    assert_eq!(guided_at((1..=8).map(|poll| f64::from(poll) * 2.0), &sooner), [5]);
    // It makes nothing later.
    let later = PollSettings { hasty_threshold: Some(30), ..SETTINGS };
    assert_eq!(guided_at((1..=8).map(|poll| f64::from(poll) * 0.2), &later), [5]);
}

#[test]
fn advice_is_repeated_once_a_minute_at_most() {
    let guided = guided_at((1..=70).map(|poll| f64::from(poll) * 2.0), &SETTINGS);
    assert_eq!(guided, [5, 35, 65]);
}

#[test]
fn the_age_of_a_process_moves_no_first_advice() {
    let after = |minutes: f64| guided_at((0..20).map(|poll| minutes * 60.0 + f64::from(poll) * 2.0), &SETTINGS)[0];
    assert_eq!([0.0, 1.0, 2.0, 4.0, 60.0].map(after), [5; 5]);
}

#[test]
fn after_a_change_of_status_what_runs_for_long_may_be_polled_more_often() {
    // Advice was given before; then the count starts again, minutes later.
    let repeated_after = |minutes: u64| {
        let (mut polls, metrics) = (Polls::<Status>::default(), PollMetrics::default());
        for second in 0..5 {
            polls.record(Duration::from_secs(second), Status::Running, &SETTINGS, &metrics);
        }
        polls.record(Duration::from_secs(6), Status::Starting, &SETTINGS, &metrics);
        let mut poll = |number: u64| {
            let ran = Duration::from_secs(minutes * 60 + number * 2);
            polls.record(ran, Status::Running, &SETTINGS, &metrics).is_some()
        };
        (1..=20).find(|number| poll(*number)).expect("advice")
    };
    assert_eq!([2, 4, 60].map(repeated_after), [7, 8, 11]);
}

#[test]
fn a_change_of_status_starts_the_count_again() {
    let (mut polls, metrics) = (Polls::<Status>::default(), PollMetrics::default());
    let mut poll = |second, status| polls.record(Duration::from_secs(second), status, &SETTINGS, &metrics).is_some();
    for second in [1, 3] {
        assert!(!poll(second, Status::Starting));
    }
    for second in [5, 7, 9, 11] {
        assert!(!poll(second, Status::Running));
    }
    assert!(poll(13, Status::Running));
    assert!(!poll(15, Status::Finished));
    assert_eq!((polls.total(), polls.consecutive(), polls.intervals()), (8, 0, None));
}

#[test]
fn advice_that_is_switched_off_stays_away_and_polls_are_still_counted() {
    let (mut polls, metrics) = (Polls::<Status>::default(), PollMetrics::default());
    let silent = PollSettings { guidance: false, ..SETTINGS };
    for second in 1..=30 {
        assert_eq!(polls.record(Duration::from_secs(second), Status::Running, &silent, &metrics), None);
    }
    let totals = metrics.totals();
    assert_eq!((polls.consecutive(), totals.polls, totals.guidance), (30, 30, 0));
    assert_eq!((totals.long_episodes_with_guidance, totals.long_episodes_without_guidance), (0, 1));
}

#[test]
fn advice_says_how_often_how_long_and_what_would_do_in_two_languages() {
    let text = |subject, language| {
        let seconds = Duration::from_secs;
        let guidance = Guidance::new(subject, 6, seconds(10), seconds(2), seconds(60), language);
        assert_eq!(guidance.suggested_interval_seconds, 15);
        guidance.text
    };
    assert_eq!(
        text(Subject::Process, Language::English),
        "6 polls in a row found this process still running, within 10 s and 2.0 s apart on average. Polling every 15 s \
         would do; to wait once for its output or its end is better still."
    );
    assert_eq!(
        text(Subject::Process, Language::Korean),
        "이 프로세스는 연속 6번의 확인에서 모두 실행 중이었습니다(10초 동안, 평균 2.0초 간격). 15초마다 확인하면 \
         충분하며, 출력이나 종료를 한 번에 기다리는 편이 더 좋습니다."
    );
    assert_eq!(
        text(Subject::Request, Language::English),
        "6 polls in a row found this request still pending, within 10 s and 2.0 s apart on average. Polling every 15 s \
         would do; to wait once for its end is better still."
    );
    assert_eq!(
        text(Subject::Request, Language::Korean),
        "이 요청은 연속 6번의 확인에서 모두 진행 중이었습니다(10초 동안, 평균 2.0초 간격). 15초마다 확인하면 \
         충분하며, 끝날 때까지 한 번에 기다리는 편이 더 좋습니다."
    );
}

#[test]
fn the_metrics_say_whether_intervals_grew_after_advice() {
    let metrics = PollMetrics::default();
    // One heeds the advice of its fifth poll, one does not.
    for after in [20, 9] {
        let mut polls = Polls::<Status>::default();
        for second in [0, 2, 4, 6, 8, after] {
            polls.record(Duration::from_secs(second), Status::Running, &SETTINGS, &metrics);
        }
    }
    let expected = PollTotals {
        polls: 12,
        guidance: 2,
        intervals_after_guidance: 2,
        intervals_grown: 1,
        milliseconds_before: 4_000,
        milliseconds_after: 13_000,
        episodes: 2,
        ..PollTotals::default()
    };
    assert_eq!(metrics.totals(), expected);
    let english = GuidanceEffect {
        guidance: 2,
        intervals_after_guidance: 2,
        intervals_grown: 1,
        milliseconds_before: 4_000,
        milliseconds_after: 13_000,
    };
    assert_eq!(
        (metrics.effect(Language::English), metrics.effect(Language::Korean)),
        (english, GuidanceEffect::default())
    );
}

#[test]
fn polls_at_once_are_counted_exactly() {
    let (polls, metrics) = (Mutex::new(Polls::<Status>::default()), PollMetrics::default());
    thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (polls, metrics) = (&polls, &metrics);
            scope.spawn(move || {
                for poll in 0..1_000 {
                    let ran = Duration::from_micros(poll * 8 + thread);
                    polls.lock().record(ran, Status::Running, &SETTINGS, metrics);
                }
            });
        }
    });
    let polls = polls.into_inner();
    assert_eq!((polls.total(), polls.consecutive(), metrics.totals().polls), (8_000, 8_000, 8_000));
    assert_eq!(metrics.totals().guidance, 1);
}

proptest! {
    #[test]
    fn statistics_are_those_of_the_intervals(gaps in prop::collection::vec(0..100_000_u64, 1..60)) {
        let (mut polls, metrics) = (Polls::<Status>::default(), PollMetrics::default());
        let mut ran = Duration::from_secs(1);
        polls.record(ran, Status::Running, &SETTINGS, &metrics);
        for gap in &gaps {
            ran += Duration::from_millis(*gap);
            polls.record(ran, Status::Running, &SETTINGS, &metrics);
        }
        let seconds: Vec<_> = gaps.iter().map(|gap| Duration::from_millis(*gap).as_secs_f64()).collect();
        let count = seconds.len() as f64;
        let mean = seconds.iter().sum::<f64>() / count;
        let deviation = (seconds.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / count).sqrt();
        let found = polls.intervals().expect("two polls or more");
        prop_assert_eq!(found.count as usize, seconds.len());
        prop_assert!((found.mean.as_secs_f64() - mean).abs() < 1e-6);
        prop_assert!((found.deviation.as_secs_f64() - deviation).abs() < 1e-6);
        prop_assert_eq!(found.shortest.as_millis(), u128::from(*gaps.iter().min().expect("one")));
        prop_assert_eq!(polls.first_consecutive(), Some(Duration::from_secs(1)));
        prop_assert_eq!(polls.last(), Some(ran));
    }

    #[test]
    fn advice_keeps_its_distance_whatever_the_times_and_statuses(
        asked in prop::collection::vec((0..90_000_u64, 0..5_u8), 1..200),
        threshold in 0..12_u32,
    ) {
        let settings = PollSettings { threshold, ..SETTINGS };
        let (mut polls, metrics) = (Polls::<Status>::default(), PollMetrics::default());
        let (mut ran, mut guided, mut in_a_row) = (Duration::ZERO, None::<Duration>, 0_u32);
        for (gap, status) in asked {
            ran += Duration::from_millis(gap);
            let status = if status == 0 { Status::Starting } else { Status::Running };
            in_a_row = if status == Status::Running { in_a_row + 1 } else { 0 };
            let advice = polls.record(ran, status, &settings, &metrics);
            prop_assert_eq!(polls.consecutive(), in_a_row);
            if let Some(advice) = advice {
                prop_assert_eq!(status, Status::Running);
                prop_assert!(in_a_row >= threshold.max(1));
                prop_assert!(guided.is_none_or(|guided| ran - guided >= REPEAT_AFTER));
                prop_assert!((5..=600).contains(&advice.suggested_interval_seconds));
                guided = Some(ran);
            }
        }
    }

    #[test]
    fn the_text_is_bounded_whatever_the_numbers(polls: u32, over: Duration, mean: Duration, ran: Duration) {
        for language in [Language::English, Language::Korean] {
            for subject in [Subject::Process, Subject::Request] {
                prop_assert!(Guidance::new(subject, polls, over, mean, ran, language).text.len() <= MAX_TEXT_BYTES);
            }
        }
    }
}
