//! What holds whatever happens, and whenever.

use proptest::prelude::*;

use super::*;

const FORGED: &str = "ffffffffffffffff";
const INPUTS: [&str; 4] = ["", "ls\n", "a\nb\n", "cat >"];
const TEXTS: [&str; 8] = ["", "\r\n", "ls", "a", "cat >", ">>> ", "log:\r\n", "(y/n) "];
const ROWS: [&str; 6] = ["", "> ", "$ cat >", "(y/n) ", ">>> ", "50%"];
const STATUSES: [AgentStatus; 5] =
    [AgentStatus::Processing, AgentStatus::Typing, AgentStatus::Ready, AgentStatus::Completed, AgentStatus::Error];

fn input() -> impl Strategy<Value = Event<'static>> {
    prop::sample::select(&INPUTS).prop_map(|text| Event::Input { text })
}

fn look() -> impl Strategy<Value = Event<'static>> {
    let known = prop::option::of(any::<bool>());
    let rests = (0..5_000_u64, any::<bool>()).prop_map(|(wakes, alone)| Beside::Rests { wakes: ms(wakes), alone });
    let beside = prop_oneof![Just(Beside::Unknown), Just(Beside::Computes), rests];
    let facts = (known.clone(), known.clone(), known, beside);
    (prop::sample::select(&ROWS), facts).prop_map(
        |(text, (shell_in_front, waits_for_input, has_read_input, beside))| {
            Event::CursorRow(CursorRow { text, shell_in_front, waits_for_input, has_read_input, beside })
        },
    )
}

/// A look that does not find the program done with its input.
fn early_look() -> impl Strategy<Value = Event<'static>> {
    look().prop_map(|look| match look {
        Event::CursorRow(row) => Event::CursorRow(CursorRow { has_read_input: Some(false), ..row }),
        other => other,
    })
}

fn signal() -> impl Strategy<Value = Event<'static>> {
    let nonce = prop::sample::select(&[NONCE, FORGED]);
    (nonce, 0..3_u8).prop_map(|(nonce, kind)| {
        Event::Signal(match kind {
            0 => Signal::CommandStarted { nonce },
            1 => Signal::CommandEnded { nonce, exit_code: None },
            _ => Signal::Continuation { nonce },
        })
    })
}

/// Events that go with a turn, none of which is the end of anything.
fn part() -> impl Strategy<Value = Event<'static>> {
    prop_oneof![
        2 => Just(Event::Message),
        3 => prop::sample::select(&TEXTS).prop_map(|text| Event::Output { text }),
        1 => Just(Event::Redraw),
        1 => Just(Event::Activity),
        3 => prop::sample::select(&STATUSES).prop_map(Event::Status),
        3 => look(),
        2 => any::<bool>().prop_map(|empty| Event::Polled { empty }),
        1 => Just(Event::Tick),
    ]
}

fn anything() -> impl Strategy<Value = Event<'static>> {
    prop_oneof![
        12 => part(),
        2 => input(),
        2 => signal(),
        1 => Just(COMPLETED),
        1 => Just(Event::StreamClosed),
        1 => (0..3_u32).prop_map(|descendants| Event::ProcessEnded { descendants, exit_code: None }),
    ]
}

/// What comes after how many steps of 2 ms: bursts, pauses, and long silence.
fn script(event: impl Strategy<Value = Event<'static>>) -> impl Strategy<Value = Vec<(u64, Event<'static>)>> {
    let gap = prop_oneof![4 => 0..200_u64, 3 => 0..2_000_u64, 1 => 0..40_000_u64];
    prop::collection::vec((gap, event), 1..40)
}

fn presets() -> impl Strategy<Value = Preset> {
    prop::sample::select(&Preset::ALL)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_no_answer_completes_nothing_before_the_limit(
        preset in presets(),
        script in script(prop_oneof![
            early_look(),
            any::<bool>().prop_map(|empty| Event::Polled { empty }),
            Just(Event::Tick),
            Just(Event::Activity),
            Just(Event::Output { text: "" }),
            Just(Event::Output { text: "\r\n" }),
            (0..4_usize).prop_map(|status| Event::Status(STATUSES[status])),
            Just(Event::Signal(Signal::CommandEnded { nonce: FORGED, exit_code: Some(0) })),
            Just(Event::Signal(Signal::Continuation { nonce: FORGED })),
        ]),
    ) {
        let mut turn = turn(preset, "ls\n");
        turn.feed(output("ls\r\n"), ms(0));
        let mut at = 0;
        for (gap, event) in script {
            at += gap * 2;
            let layer = turn.feed(event, ms(at)).layer();
            prop_assert!(layer.is_none_or(|layer| layer == Layer::Limit), "{:?}", layer);
        }
    }

    #[test]
    fn a_decision_stays_until_the_next_input(preset in presets(), script in script(anything())) {
        let mut turn = turn(preset, "ls\n");
        let (mut at, mut decided) = (0, None::<Decision>);
        for (gap, event) in script {
            at += gap * 2;
            let decision = turn.feed(event, ms(at));
            if matches!(event, Event::Input { .. }) {
                decided = None;
            }
            if let Some(decided) = &decided {
                prop_assert_eq!(&decision, decided);
            }
            decided = decision.is_complete().then_some(decision);
        }
    }

    #[test]
    fn ticks_change_nothing_however_they_are_spaced(
        preset in presets(),
        script in script(anything()),
        ticks in prop::collection::vec(0..20_000_u64, 0..60),
    ) {
        let (mut plain, mut ticked) = (turn(preset, "ls\n"), turn(preset, "ls\n"));
        let mut ticks: Vec<_> = ticks.into_iter().map(|tick| tick * 2 + 1).collect();
        ticks.sort_unstable();
        let (mut at, mut ticks) = (0, ticks.into_iter().peekable());
        for (gap, event) in script {
            at += gap * 2;
            while let Some(tick) = ticks.next_if(|tick| *tick < at) {
                ticked.feed(Event::Tick, ms(tick));
            }
            prop_assert_eq!(plain.feed(event, ms(at)), ticked.feed(event, ms(at)));
        }
    }

    #[test]
    fn who_asks_only_when_told_to_learns_it_at_the_very_time(preset in presets(), script in script(part())) {
        let mut turn = turn(preset, "ls\n");
        let mut at = 0;
        for (gap, event) in script {
            at += gap * 2;
            turn.feed(event, ms(at));
        }
        let mut eager = turn.clone();
        wait(&mut turn, 500_000_000);
        while !eager.decision().is_complete() {
            at += 100;
            eager.feed(Event::Tick, ms(at));
        }
        prop_assert_eq!(turn.decision(), eager.decision());
    }

    #[test]
    fn the_end_of_the_process_always_wins(preset in presets(), before in script(part()), after in script(anything())) {
        let mut turn = turn(preset, "ls\n");
        let mut at = 0;
        for (gap, event) in before {
            at += gap * 2;
            turn.feed(event, ms(at));
        }
        let was_over = turn.feed(Event::ProcessEnded { descendants: 1, exit_code: None }, ms(at)).is_complete();
        for (gap, event) in after {
            at += gap * 2;
            let decision = turn.feed(event, ms(at));
            let over = was_over && !matches!(event, Event::Input { .. });
            if over {
                break;
            }
            prop_assert!(decision.layer().is_none_or(|layer| layer == Layer::Ended), "{:?}", decision);
        }
        if !was_over {
            let decision = turn.feed(Event::Tick, ms(at + 100));
            prop_assert_eq!(decision.reason(), Some(Reason::DescendantsAlive { descendants: 1 }));
        }
    }

    #[test]
    fn the_absolute_limit_ends_every_turn(preset in presets(), script in script(part())) {
        let (mut turn, limit) = (turn(preset, "ls\n"), Parameters::from(preset).time_limit);
        let mut at = 0;
        for (gap, event) in script {
            at += gap * 2;
            prop_assert!(turn.feed(event, ms(at)).elapsed <= limit);
        }
        prop_assert!(turn.feed(Event::Tick, limit).is_complete());
        prop_assert!(turn.decision().elapsed <= limit);
    }

    #[test]
    fn no_order_of_events_and_times_is_too_odd(
        preset in presets(),
        script in prop::collection::vec((any::<Duration>(), anything()), 0..60),
        last in prop_oneof![Just(Duration::MAX), Just(Duration::ZERO)],
    ) {
        let mut detector = detector(preset);
        let mut now = Duration::ZERO;
        for (at, event) in script.into_iter().chain([(last, INPUT), (last, Event::Message), (last, Event::Tick)]) {
            now = now.max(at);
            let decision = detector.feed(event, at);
            prop_assert!(decision.ask_again.is_none_or(|again| again > now));
        }
        let decision = detector.decision();
        prop_assert_eq!(decision.is_complete(), decision.ask_again.is_none());
    }

    #[test]
    fn the_echo_is_found_however_the_output_is_cut(
        line in "[a-c]{0,6}( [a-c]{1,3})?",
        shown in "[a-c >]{0,30}",
        cuts in prop::collection::vec(0..31_usize, 0..6),
    ) {
        let (mut whole, mut pieces) = (echo::Echo::new(&line), echo::Echo::new(&line));
        let answers = whole.read(&shown);
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(shown.len())).chain([0, shown.len()]).collect();
        cuts.sort_unstable();
        let found: Vec<_> = cuts.windows(2).map(|ends| pieces.read(&shown[ends[0]..ends[1]])).collect();
        let some = found.contains(&true);
        prop_assert_eq!((some, pieces.is_found(), pieces.is_answered()), (answers, whole.is_found(), whole.is_answered()));
    }
}
