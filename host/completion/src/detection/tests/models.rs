//! Programs whose truth is known: none is cut, and none is noticed late.

use proptest::prelude::*;

use super::*;
use AgentStatus::{Processing, Ready, Typing};

/// What counts as late.
const LATE: u64 = 1_000;

/// A step of an agent: how long it thinks, and what it then shows.
fn step() -> impl Strategy<Value = (u64, u8)> {
    (prop_oneof![0..300_u64, 300..44_000_u64], 0..5_u8)
}

/// A piece of output of a program that computes, and how long it takes before.
fn piece() -> impl Strategy<Value = (u64, &'static str)> {
    let texts =
        ["Building:\r\n", "Continue? ", "> ", ">>> ", "Password: ", "\r[===>", "50%\r", "Error:\r\n", "x\r\n", ""];
    (prop_oneof![0..250_u64, 250..55_000_u64], prop::sample::select(texts.to_vec()))
}

/// The cursor's row after all of `shown`.
fn cursor_row(shown: &str) -> &str {
    shown.rsplit(['\n', '\r']).next().unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_agent_with_pauses_tools_and_passing_readiness_is_never_cut(
        steps in prop::collection::vec(step(), 1..12),
        passing in 0..400_u64,
    ) {
        let mut turn = turn(Preset::Agent, "");
        let mut at = 0;
        for (thinks, shows) in steps {
            // No turn of this test comes near the absolute limit.
            if at > 350_000 {
                break;
            }
            at += thinks;
            let shown = match shows {
                0 => Event::Message,
                1 => status(Typing),
                2 => Event::Activity,
                _ => status(Ready),
            };
            prop_assert_eq!(reason(&mut turn, at, shown), None);
            if shows > 2 {
                at += passing;
                prop_assert_eq!(reason(&mut turn, at, status(Processing)), None);
            }
        }
        goes_on(&mut turn, [(at, Event::Message), (at, status(Ready))]);
        let (found, why) = wait(&mut turn, at + 60_000).expect("complete");
        prop_assert_eq!(why, Reason::StatusReady);
        prop_assert!(found > u128::from(at) && found <= u128::from(at + LATE));
    }

    #[test]
    fn a_program_that_prints_prompts_while_it_computes_is_never_cut_and_its_own_is_found(
        pieces in prop::collection::vec(piece(), 1..6),
        last in 0..50_000_u64,
    ) {
        let mut turn = turn(Preset::Repl, "run()\n");
        goes_on(&mut turn, [(1, output("run()\r\n"))]);
        let (mut at, mut shown) = (1, String::new());
        for (computes, piece) in pieces.into_iter().chain([(last, "done\r\n>>> ")]) {
            let next = at + computes;
            // The caller looks whenever it is asked to, and knows that the
            // program computes.
            while let Some(again) = turn.decision().ask_again.filter(|again| *again < ms(next)) {
                prop_assert_eq!(turn.feed(row_of(cursor_row(&shown), false), again).reason(), None);
            }
            at = next;
            shown.push_str(piece);
            prop_assert_eq!(reason(&mut turn, at, output(piece)), None);
        }
        let mut found = None;
        while let Some(again) = turn.decision().ask_again.filter(|_| found.is_none()) {
            found = turn.feed(row_of(cursor_row(&shown), true), again).reason().map(|why| (again, why));
        }
        let (when, why) = found.expect("complete");
        prop_assert_eq!(why, Reason::StrictPrompt);
        prop_assert!(when > ms(at) && when <= ms(at + LATE));
    }
}
