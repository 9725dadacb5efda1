//! Every way to fool a detector that we know, each with why it does not work.

use super::*;
use AgentStatus::{Error, Processing, Ready, Typing};

#[test]
fn a_log_line_that_ends_in_a_colon_leaves_the_cursor_on_an_empty_row() {
    let mut turn = turn(Preset::Shell, "make");
    goes_on(&mut turn, [(5, output("make\r\nIn file included from a.h:\r\n")), (205, row("")), (9_000, row(""))]);
}

#[test]
fn a_log_line_that_is_printed_in_two_parts_is_no_prompt_between_them() {
    let mut turn = turn(Preset::Shell, "make");
    goes_on(
        &mut turn,
        [
            (5, output("make\r\nchecking for gcc: ")),
            (205, row("checking for gcc: ")),
            (1_900, output("yes\r\nchecking for ld: ")),
            (2_100, row("checking for ld: ")),
            (3_899, row("checking for ld: ")),
        ],
    );
}

#[test]
fn a_program_known_to_compute_shows_no_prompt_however_long_it_is_quiet() {
    for text in ["step 1: ", "> ", ">>> ", "Password: ", "(y/n) "] {
        let mut turn = turn(Preset::Repl, "run()");
        goes_on(&mut turn, [(5, output("run()\r\n")), (6, output(text)), (206, row_of(text, false))]);
        goes_on(&mut turn, (1..200).map(|look| (206 + look * 200, row_of(text, false))));
        // It prints nothing more, and begins to wait.
        assert_eq!(turn.decision().ask_again, Some(ms(40_206)));
        assert!(turn.feed(row_of(text, true), ms(40_206)).is_complete());
    }
}

/// A look at a program that has read all, listens, and goes on by itself.
fn row_of_resting(text: &str, wakes: u64) -> Event<'_> {
    let beside = Beside::Rests { wakes: ms(wakes), alone: true };
    Event::CursorRow(CursorRow { text, has_read_input: Some(true), beside, ..CursorRow::default() })
}

#[test]
fn a_prompt_that_is_written_before_a_wait_is_none_until_the_program_has_woken() {
    for text in ["Name? ", "    '> ", ">>> ", "   ...> ", "Password: "] {
        let mut turn = turn(Preset::Repl, "go");
        goes_on(&mut turn, [(5, output("go\r\n")), (6, output(text)), (206, row_of_resting(text, 1_500))]);
        goes_on(&mut turn, (1..8).map(|look| (206 + look * 200, row_of_resting(text, 1_500))));
        // It woke, and printed more.
        goes_on(&mut turn, [(1_700, output("\r\nhello\r\n")), (1_900, row_of_resting("", 1_500))]);
    }
    // Nothing comes once it has woken: then it is its prompt.
    let mut turn = turn(Preset::Repl, "go");
    goes_on(&mut turn, [(5, output("go\r\nName? ")), (205, row_of_resting("Name? ", 1_000))]);
    assert_eq!(turn.decision().ask_again, Some(ms(1_405)));
    goes_on(&mut turn, [(1_404, row_of_resting("Name? ", 1_000))]);
    assert_eq!(reason(&mut turn, 1_405, row_of_resting("Name? ", 1_000)), Some(Reason::BroadPrompt));
}

#[test]
fn a_prompt_of_a_program_that_listens_and_computes_counts_late() {
    let computes = |text| {
        let row = CursorRow { text, has_read_input: Some(true), beside: Beside::Computes, ..CursorRow::default() };
        Event::CursorRow(row)
    };
    let mut turn = turn(Preset::Repl, "go");
    goes_on(&mut turn, [(5, output("go\r\n>>> ")), (205, computes(">>> ")), (1_900, computes(">>> "))]);
    assert_eq!(reason(&mut turn, 2_005, computes(">>> ")), Some(Reason::StrictPrompt));
}

#[test]
fn an_agent_with_a_thread_that_wakes_now_and_then_is_done_half_a_second_after_its_prompt() {
    let mut turn = turn(Preset::Agent, "hello");
    goes_on(&mut turn, [(5, output("hello\r\nan answer\r\n> ")), (205, row_of_resting("> ", 100))]);
    assert_eq!(turn.decision().ask_again, Some(ms(505)));
    assert_eq!(reason(&mut turn, 505, row_of_resting("> ", 100)), Some(Reason::BroadPrompt));
}

#[test]
fn a_prompt_inside_the_output_is_none_once_output_follows() {
    let mut turn = turn(Preset::Repl, "transcript()");
    goes_on(
        &mut turn,
        [
            (5, output("transcript()\r\n>>> ")),
            (150, output("print(2)\r\n2\r\n>>> ")),
            (205, row(">>> ")),
            (340, output("the end of the transcript\r\n")),
            (540, row("")),
        ],
    );
    assert_eq!(wait(&mut turn, 60_000), Some((3_340, Reason::Idle)));
}

#[test]
fn the_prompt_that_stood_there_before_the_input_is_not_its_answer() {
    for (text, shown) in [("print(1)\n", ">>> "), ("ls\n", "ann@host:~$ "), ("\n", "(gdb) ")] {
        let mut turn = turn(Preset::Repl, text);
        goes_on(&mut turn, [(300, row_of(shown, true)), (5_000, row(shown)), (9_000, row_of_shell(shown, Some(true)))]);
        // Sequences that show nothing, such as the end of bracketed paste.
        goes_on(&mut turn, [(9_100, output("")), (9_200, output("\r\n")), (9_500, row(shown)), (20_000, row(shown))]);
    }
}

#[test]
fn a_prompt_that_is_drawn_again_around_the_echo_is_not_the_answer() {
    // A line editor on a busy machine: it shows its prompt, then what was
    // typed ahead, and only then the answer.
    let mut turn = turn(Preset::Repl, "slow()\n");
    goes_on(
        &mut turn,
        [
            (100, output(">>> ")),
            (300, row(">>> ")),
            (1_000, row(">>> ")),
            (1_500, output("\rslow()")),
            (1_700, row(">>> slow()")),
            (1_701, output("\r\n")),
            (1_901, row("")),
            (4_000, output("42\r\n>>> ")),
        ],
    );
    assert_eq!(reason(&mut turn, 4_200, row(">>> ")), Some(Reason::StrictPrompt));
}

#[test]
fn an_input_that_ends_like_a_prompt_is_none_when_it_is_echoed() {
    for input in ["cat >", "select 1 >", "is it so?", "Password:"] {
        let shown = format!("sqlite> {input}");
        let mut turn = turn(Preset::Repl, input);
        goes_on(&mut turn, [(5, output(input)), (205, row(&shown)), (2_900, row_of(&shown, true))]);
        // Even where the line editor draws the whole row.
        goes_on(&mut turn, [(2_950, output(&shown)), (3_200, row(&shown)), (5_900, row_of(&shown, true))]);
    }
}

#[test]
fn an_input_is_no_prompt_even_where_its_echo_came_in_pieces() {
    let mut turn = turn(Preset::Repl, "cat >");
    // The editor corrects what it shows, so the echo is not recognised.
    goes_on(&mut turn, [(5, output("c\u{8}ca\u{8}\u{8}xat >")), (2_500, row_of("$ cat >", true))]);
}

#[test]
fn a_prompt_that_is_the_same_as_the_input_is_still_a_prompt() {
    let mut turn = turn(Preset::Repl, ">\n");
    goes_on(&mut turn, [(5, output(">\r\nsyntax error\r\n"))]);
    goes_on(&mut turn, [(6, output("? > ")), (7, output("\r> "))]);
    // Its last character may be the echo once more, so more has to follow it.
    goes_on(&mut turn, [(300, row_of("> ", true)), (301, output("\r? \r> ?\r"))]);
    assert_eq!(reason(&mut turn, 501, row_of("> ", true)), Some(Reason::BroadPrompt));
}

#[test]
fn the_end_of_an_input_that_was_wrapped_is_no_prompt() {
    let input = format!("cat {} >", "x".repeat(100));
    let mut turn = turn(Preset::Repl, &input);
    // The editor draws its prompt again, and wraps.
    goes_on(
        &mut turn,
        [(5, output(&format!("$ {} \r{}", &input[..78], &input[78..]))), (2_900, row_of("xxx >", true))],
    );
}

#[test]
fn an_echo_that_the_editor_began_twice_is_still_found() {
    for shown in ["l\u{8}ls", "$ l\u{8}ls\r\n", "ls\rls"] {
        let mut echo = echo::Echo::new("ls\n");
        echo.read(shown);
        assert_eq!((echo.is_found(), echo.is_answered()), (true, false), "{shown:?}");
    }
}

#[test]
fn an_echo_that_wraps_is_still_found() {
    // Line editors go to the next row by a blank, or by what stands there
    // first, which they then show again.
    for (line, shown) in [
        ("touch abc", "touch a \rbc\r\n"),
        ("touch abc", "touch ab\rbc\r\n"),
        ("touch abbc", "touch ab\rbbc\r\n"),
        ("touch abbc", "touch abb\rbc\r\n"),
    ] {
        let mut echo = echo::Echo::new(line);
        for letter in shown.chars() {
            echo.read(letter.encode_utf8(&mut [0; 4]));
        }
        assert_eq!((echo.is_found(), echo.is_answered()), (true, false), "{shown:?}");
    }
}

#[test]
fn a_program_that_only_echoes_has_not_answered() {
    let mut turn = turn(Preset::Repl, "sleep(100)\n");
    goes_on(&mut turn, [(5, output("sle")), (9, output("ep(100)\r\n")), (209, row(""))]);
    assert_eq!(turn.decision().messages, 0);
    assert_eq!(wait(&mut turn, 400_000), None);
}

#[test]
fn a_program_that_says_what_it_was_told_has_answered() {
    let mut turn = turn(Preset::Repl, "hello\n");
    goes_on(&mut turn, [(5, output("hello\r\n")), (9, output("hello\r\n"))]);
    assert_eq!(turn.decision().messages, 1);
    assert_eq!(wait(&mut turn, 400_000), Some((3_009, Reason::Idle)));
}

#[test]
fn a_bar_that_ends_like_an_arrow_and_stalls_is_no_prompt() {
    let mut turn = turn(Preset::Shell, "wget");
    goes_on(&mut turn, [(5, output("wget\r\n[====>")), (205, row("[====>")), (30_000, row("[====>"))]);
    goes_on(&mut turn, (1..50).map(|step| (30_000 + step * 1_000, output("\r[====>   12%"))));
}

#[test]
fn a_ready_that_passes_is_not_the_end_and_the_next_one_has_to_hold_for_longer() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(
        &mut turn,
        [
            (1_000, Event::Message),
            (1_100, status(Ready)),
            (1_500, status(Processing)),
            (4_000, status(Ready)),
            (4_900, status(Typing)),
            (6_000, Event::Message),
            (6_100, status(Ready)),
        ],
    );
    assert_eq!(wait(&mut turn, 60_000), Some((7_100, Reason::StatusReady)));
}

#[test]
fn a_ready_from_before_the_input_and_a_disclaimer_are_not_the_answer() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(
        &mut turn,
        [(40, status(Ready)), (50, Event::Message), (1_000, status(Processing)), (30_000, Event::Message)],
    );
    goes_on(&mut turn, [(31_000, status(Ready))]);
    assert_eq!(wait(&mut turn, 60_000), Some((32_000, Reason::StatusReady)));
}

#[test]
fn a_ready_that_is_followed_by_progress_has_not_held() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(1_000, Event::Message), (1_100, status(Ready))]);
    goes_on(&mut turn, (1..20).map(|step| (1_100 + step * 400, Event::Activity)));
}

#[test]
fn the_word_error_is_output_like_any_other() {
    let mut turn = turn(Preset::Shell, "make");
    goes_on(&mut turn, [(5, output("make\r\nError: ")), (205, row_of("Error: ", false)), (9_000, output("retrying"))]);
}

#[test]
fn nothing_that_came_before_the_input_counts_for_it() {
    let mut detector = detector(Preset::Agent);
    let before = [
        (1, Event::Message),
        (2, status(Ready)),
        (3, COMPLETED),
        (4, output("> ")),
        (300, row_of("(y/n) ", true)),
        (400, ENDED),
        (500, status(Error)),
        (20_000, EMPTY),
        (40_000, EMPTY),
        (60_000, EMPTY),
        (900_000, Event::Tick),
    ];
    goes_on(&mut detector, before);
    assert_eq!(detector.decision(), Decision::default());
    goes_on(&mut detector, [(1_000_000, INPUT), (1_300_000, Event::Tick)]);
    assert_eq!(wait(&mut detector, 2_000_000), Some((1_450_000, Reason::TimeLimit)));
}

#[test]
fn a_turn_knows_nothing_of_the_one_before() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(10, Event::Message), (20, status(Error)), (30, status(Ready)), (15_000, INPUT)]);
    let decision = turn.feed(Event::Tick, ms(400_000));
    assert_eq!((decision.is_complete(), decision.messages), (false, 0));
}

#[test]
fn a_thousand_hasty_polls_are_no_reason_to_stop() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, [(1, Event::Message)]);
    goes_on(&mut turn, (2..40_000).step_by(40).map(|at| (at, EMPTY)));
    let decision = turn.decision();
    assert_eq!((decision.attempts, decision.empty_polls), (2, 2));
}

#[test]
fn a_stream_of_many_messages_is_not_cut_after_thirty_polls() {
    let mut turn = turn(Preset::Agent, "");
    goes_on(&mut turn, (1..400).flat_map(|step| [(step * 1_000, Event::Message), (step * 1_000, FULL)]));
    assert_eq!(turn.decision().attempts, 28);
}

#[test]
fn a_poll_that_was_empty_because_somebody_else_read_is_not_silence() {
    let mut turn = turn(Preset::Sensitive, "");
    goes_on(&mut turn, (1..25).flat_map(|poll| [(poll * 15_000 - 5_000, Event::Message), (poll * 15_000, EMPTY)]));
    assert_eq!(turn.decision().empty_polls, 0);
}

#[test]
fn silence_of_a_program_known_to_compute_means_less() {
    let mut turn = turn(Preset::Repl, "work()\n");
    goes_on(&mut turn, [(5, output("work()\r\nworking\r\n"))]);
    goes_on(&mut turn, (0..25).map(|look| (205 + look * 2_000, row_of("", false))));
    assert_eq!(wait(&mut turn, 400_000), Some((60_005, Reason::Idle)));
}

#[test]
fn what_was_seen_of_a_program_before_its_output_says_nothing_of_it_afterwards() {
    let mut turn = turn(Preset::Repl, "work()\n");
    goes_on(&mut turn, [(5, output("work()\r\nworking\r\n")), (205, row_of("", false)), (2_000, output("done\r\n"))]);
    assert_eq!(wait(&mut turn, 400_000), Some((5_000, Reason::Idle)));
}

#[test]
fn empty_polls_of_a_program_known_to_compute_mean_less_too() {
    let patient = Parameters { busy_inactivity_timeout: ms(200_000), ..Preset::Agent.into() };
    let mut turn = Detector::new(patient, None).expect("valid");
    goes_on(&mut turn, [(0, INPUT), (5, output("working\r\n")), (205, row_of("", false))]);
    goes_on(&mut turn, (1..6).map(|poll| (5 + poll * 15_000, EMPTY)));
    // Once it waits, those polls count.
    assert_eq!(reason(&mut turn, 76_000, row_of("", true)), Some(Reason::EmptyPolls));
}

#[test]
fn a_number_of_empty_polls_that_was_asked_for_holds_whatever_the_program_does() {
    let tuning = Tuning { consecutive_empty_polls: Some(2), ..Tuning::default() };
    let mut turn = Detector::new(Parameters::from(Preset::Agent).tuned(&tuning).expect("valid"), None).expect("valid");
    goes_on(&mut turn, [(0, INPUT), (5, output("working\r\n")), (205, row_of("", false)), (15_005, EMPTY)]);
    assert_eq!(reason(&mut turn, 30_005, EMPTY), Some(Reason::EmptyPolls));
}

#[test]
fn a_room_that_was_held_up_says_when_output_may_have_come_and_nothing_is_cut() {
    let mut turn = turn(Preset::Repl, "x\n");
    goes_on(&mut turn, [(5, output("x\r\none\r\n"))]);
    // It slept from 1 s to 9 s, and then found this.
    goes_on(&mut turn, [(1_000, output("two\r\n")), (3_900, Event::Tick)]);
}

#[test]
fn a_clock_that_goes_back_is_taken_to_stand() {
    let mut turn = turn(Preset::Repl, "x\n");
    goes_on(&mut turn, [(5_000, output("x\r\none\r\n")), (10, output("two")), (0, Event::Tick), (7_999, Event::Tick)]);
    let decision = turn.feed(Event::Tick, ms(8_000));
    assert_eq!((decision.reason(), decision.idle), (Some(Reason::Idle), ms(3_000)));
}
