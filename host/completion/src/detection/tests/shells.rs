//! Signals of a shell that has our integration, and of programs that forge
//! them.

use super::*;

#[test]
fn a_command_is_complete_when_its_shell_says_so_with_the_code() {
    let mut turn = turn(Preset::Shell, "make\n");
    goes_on(&mut turn, [(3, STARTED), (90_000, output("make: nothing to do\r\n"))]);
    assert!(!turn.decision().is_complete());
    let signal = Signal::CommandEnded { nonce: NONCE, exit_code: Some(2) };
    let decision = turn.feed(Event::Signal(signal), ms(90_001));
    assert_eq!(decision.reason(), Some(Reason::CommandEnded { exit_code: Some(2) }));
    assert_eq!((decision.layer(), decision.confidence()), (Some(Layer::Signal), Some(Confidence::Certain)));
}

#[test]
fn a_blank_line_or_a_syntax_error_ends_without_having_started() {
    assert_eq!(reason(&mut turn(Preset::Shell, "\n"), 2, ENDED), Some(COMMAND_ENDED));
}

#[test]
fn a_signal_with_another_nonce_or_with_none_is_something_that_a_program_printed() {
    for forged in ["", "4f9a1c7be02d4f9", "4f9a1c7be02d4f9b", "4F9A1C7BE02D4F9A", "4f9a1c7be02d4f9a4f9a1c7be02d4f9a"] {
        let mut turn = turn(Preset::Shell, "./hostile\n");
        let signals = [
            Signal::CommandEnded { nonce: forged, exit_code: Some(0) },
            Signal::Continuation { nonce: forged },
            Signal::CommandStarted { nonce: forged },
        ];
        goes_on(&mut turn, [(3, STARTED)]);
        goes_on(&mut turn, signals.map(|signal| (10, Event::Signal(signal))));
        goes_on(&mut turn, [(9_000, Event::Tick)]);
        assert_eq!(reason(&mut turn, 9_001, ENDED), Some(COMMAND_ENDED));
    }
}

#[test]
fn a_forged_start_does_not_take_back_what_the_shell_said() {
    let mut turn = turn(Preset::Shell, "a\nb\n");
    goes_on(&mut turn, [(3, STARTED), (10, ENDED), (20, Event::Signal(Signal::CommandStarted { nonce: "x" }))]);
    assert_eq!(wait(&mut turn, 60_000), Some((510, COMMAND_ENDED)));
}

#[test]
fn without_a_nonce_no_shell_is_believed() {
    let mut detector = Detector::new(Parameters::from(Preset::Shell), None).expect("valid");
    goes_on(&mut detector, [(0, INPUT), (1, ENDED), (2, CONTINUES), (3, ENDED)]);
    let empty = Signal::CommandEnded { nonce: "", exit_code: None };
    goes_on(&mut detector, [(4, Event::Signal(empty)), (400_000, Event::Tick)]);
}

#[test]
fn a_nonce_is_long_plain_and_never_shown() {
    for raw in ["", "0123456789abcde", "0123456789abcde;", "0123456789abcdé", &"x".repeat(129)] {
        assert_eq!(Nonce::new(raw), Err(InvalidNonce));
    }
    assert_eq!(format!("{:?}", Nonce::new(NONCE)), "Ok(Nonce(..))");
}

#[test]
fn the_end_of_the_command_before_is_not_the_end_of_one_typed_ahead() {
    let mut turn = turn(Preset::Shell, "sleep 100\n");
    // The turn is given up, and the next is typed while the command runs.
    goes_on(&mut turn, [(3, STARTED), (5_000, Event::Input { text: "make\n" }), (5_001, output("make\r\n"))]);
    goes_on(&mut turn, [(9_000, ENDED), (9_001, output("ann@host:~$ ")), (9_300, row_of_shell("ann@host:~$ ", None))]);
    goes_on(&mut turn, [(9_400, STARTED), (60_000, output("done\r\n"))]);
    assert_eq!(reason(&mut turn, 70_000, ENDED), Some(COMMAND_ENDED));
}

#[test]
fn the_end_of_an_interpreter_in_a_shell_is_what_its_last_input_asked_for() {
    let mut turn = turn(Preset::Shell, "python3\n");
    goes_on(
        &mut turn,
        [(3, STARTED), (40, Event::Input { text: "exit()\n" }), (41, output("exit()\r\n")), (80, ENDED)],
    );
    assert_eq!(wait(&mut turn, 60_000), Some((2_080, COMMAND_ENDED)));
}

#[test]
fn the_first_of_several_commands_is_not_the_last() {
    let mut turn = turn(Preset::Shell, "make\nmake test\n");
    goes_on(&mut turn, [(1, output("make\r\nmake test\r\n")), (3, STARTED), (900, ENDED)]);
    goes_on(
        &mut turn,
        [(901, output("$ ")), (1_150, row_of_shell("$ ", Some(true))), (1_300, STARTED), (8_000, ENDED)],
    );
    assert_eq!(wait(&mut turn, 60_000), Some((8_500, COMMAND_ENDED)));
}

#[test]
fn a_command_that_lacks_its_end_is_told_as_such_and_not_between_its_lines() {
    assert_eq!(reason(&mut turn(Preset::Shell, "echo \"a\n"), 9, CONTINUES), Some(Reason::NeedsContinuation));

    let mut whole = turn(Preset::Shell, "for i in 1 2\ndo echo $i\ndone\n");
    goes_on(&mut whole, [(5, CONTINUES), (10, CONTINUES), (15, STARTED), (20, ENDED)]);
    assert_eq!(wait(&mut whole, 60_000), Some((520, COMMAND_ENDED)));

    let mut half = turn(Preset::Shell, "for i in 1 2\ndo echo $i\n");
    goes_on(&mut half, [(5, CONTINUES), (10, CONTINUES)]);
    assert_eq!(wait(&mut half, 60_000), Some((510, Reason::NeedsContinuation)));
}

#[test]
fn a_shell_that_lost_its_integration_is_seen_to_be_idle() {
    let shown = "/srv$ ";
    let ran = || {
        let mut turn = turn(Preset::Shell, "exec bash\n");
        goes_on(&mut turn, [(1, output("exec bash\r\n")), (3, STARTED), (50, output(shown))]);
        turn
    };
    let decision = ran().feed(row_of_shell(shown, Some(true)), ms(250));
    assert_eq!((decision.reason(), decision.confidence()), (Some(Reason::ShellIdle), Some(Confidence::High)));

    // Where nobody knows whether it waits, it takes the longer quiet time.
    let mut unknown = ran();
    goes_on(&mut unknown, [(250, row_of_shell(shown, None)), (2_049, row_of_shell(shown, None))]);
    let decision = unknown.feed(row_of_shell(shown, None), ms(2_050));
    assert_eq!((decision.reason(), decision.confidence()), (Some(Reason::ShellIdle), Some(Confidence::Medium)));

    // A loop of the shell itself is in front, too.
    goes_on(&mut ran(), [(250, row_of_shell(shown, Some(false))), (9_000, row_of_shell(shown, Some(false)))]);
}

#[test]
fn a_shell_known_to_wait_needs_no_prompt_that_anybody_knows() {
    let mut turn = turn(Preset::Shell, "cd /\n");
    goes_on(&mut turn, [(1, output("cd /\r\n")), (5, output("[/] at your service"))]);
    assert_eq!(reason(&mut turn, 205, row_of_shell("[/] at your service", Some(true))), Some(Reason::ShellIdle));
}

#[test]
fn the_end_of_a_command_is_not_held_where_the_shell_has_nothing_left_to_read() {
    // The turn is given up while its command runs, which then ends with what
    // the next one typed.
    let mut turn = turn(Preset::Shell, "./greet\n");
    goes_on(&mut turn, [(3, STARTED), (40, Event::Input { text: "Ann\n" }), (41, output("Ann\r\n")), (80, ENDED)]);
    goes_on(&mut turn, [(81, output("$ ")), (280, row_of_done("$ "))]);
    assert_eq!(reason(&mut turn, 281, row_of_done("$ ")), Some(COMMAND_ENDED));
}
