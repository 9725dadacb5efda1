//! What is seen of what was printed, drawn or left out.

use proptest::prelude::*;

use super::*;

fn size(columns: u16, rows: u16) -> TerminalSize {
    TerminalSize::new(columns, rows).expect("a size")
}

fn screen(text: &str) -> Screen {
    let mut screen = Screen::new(size(10, 3), 100);
    screen.feed(text);
    screen
}

#[test]
fn what_is_written_over_is_not_seen() {
    let view = screen("10 %\r50 %\r\x1b[2Kdone\r\nnext").view();
    assert_eq!(view.lines, ["done", "next", ""]);
    assert_eq!((view.cursor_line(), view.cursor.column, view.cursor.row), ("next", 4, 1));
}

#[test]
fn the_cursor_is_never_behind_the_last_column() {
    assert_eq!(screen("0123456789").cursor().column, 9);
    assert!(!screen("\x1b[?25l").cursor().visible);
}

#[test]
fn the_alternate_screen_is_reported_and_leaves_the_other_as_it_was() {
    let mut screen = screen("shell\x1b[?1049h\x1b[Hvim");
    assert_eq!((screen.view().alternate, &screen.view().lines[0][..]), (true, "vim"));
    screen.feed("\x1b[?1049l");
    assert_eq!((screen.view().alternate, &screen.view().lines[0][..]), (false, "shell"));
}

#[test]
fn a_screen_of_one_column_and_back_goes_on() {
    let mut screen = screen("a wide 界 and long line that wraps");
    screen.resize(size(1, 1));
    screen.feed("界x\r\n");
    screen.resize(size(10, 3));
    screen.feed("\r\nnext");
    assert_eq!((screen.view().cursor_line(), screen.view().rebuilt), ("next", 0));
}

#[test]
fn an_emulator_that_panics_is_replaced_and_the_session_goes_on() {
    let mut screen = screen("shell\x1b[?1049hvim\x1b[");
    screen.draw();
    screen.guard(|_, _| panic!("as emulators do"));
    let view = screen.view();
    assert_eq!((view.rebuilt, view.alternate, view.lines.concat()), (1, true, String::new()));
    // The half of a sequence went with it, and so did the panic.
    screen.feed("\x1b[?1049l31m");
    assert_eq!((screen.view().alternate, screen.view().lines.concat()), (false, "31m".to_owned()));
}

#[test]
fn a_flood_of_lines_is_drawn_as_if_every_line_had_been() {
    let mut flood = String::from("a start that stays in no line \x1b[44m");
    for line in 0..20_000 {
        flood += &format!("\x1b[{}mline {line} {}\x1b[0m\r\n", 31 + line % 7, "x".repeat(line % 40));
    }
    flood += "\x1b[1mlast";
    let mut drawn = Screen::new(size(10, 3), 20);
    let mut skipped = Screen::new(size(10, 3), 20);
    for piece in flood.as_bytes().chunks(1000).map(|piece| str::from_utf8(piece).expect("ASCII")) {
        drawn.feed(piece);
        drawn.draw();
        skipped.feed(piece);
    }
    assert_eq!((skipped.view(), skipped.lines_with_scrollback(99)), (drawn.view(), drawn.lines_with_scrollback(99)));
    let mut at_once = Screen::new(size(10, 3), 20);
    at_once.feed(&flood);
    assert_eq!((at_once.view(), at_once.lines_with_scrollback(99)), (drawn.view(), drawn.lines_with_scrollback(99)));
    let dump = |screen: &Screen| screen.terminal.as_ref().expect("one").dump();
    assert_eq!(dump(&skipped), dump(&drawn));
}

#[test]
fn lines_that_scroll_in_a_part_of_the_screen_are_all_drawn() {
    let mut screen = Screen::new(size(10, 4), 0);
    screen.feed("head\r\n\x1b[2;3r\x1b[4;1Hlong foot\x1b[4;1H");
    screen.draw();
    // Below the part that scrolls a newline goes nowhere.
    screen.feed(&format!("longer\r\n{}", "ab\r\n".repeat(50_000)));
    assert_eq!(screen.view().lines, ["head", "", "", "abngeroot"]);
}

#[test]
fn what_went_off_the_top_is_kept_up_to_a_number_of_lines() {
    let mut screen = Screen::new(size(10, 3), 5);
    (0..100).for_each(|line| screen.feed(&format!("{line}\r\n")));
    assert_eq!(screen.lines_with_scrollback(99), ["93", "94", "95", "96", "97", "98", "99"]);
    assert_eq!(screen.lines_with_scrollback(1), ["99"]);
}

#[test]
fn a_character_repeated_is_no_work_without_a_limit() {
    let mut screen = screen("");
    // Each is 65,535 characters in eight bytes.
    screen.feed(&"x\x1b[65535b".repeat(10_000));
    assert_eq!(screen.view().lines[0], "xxxxxxxxxx");
    let mut screen = Screen::new(size(10, 3), 0);
    screen.feed("x\x1b[65535b");
    assert_eq!(screen.view().lines, ["xxxxxxxxxx", "x", ""]);
}

proptest! {
    #[test]
    fn whatever_comes_the_cursor_is_on_the_screen_and_no_emulator_fails(
        steps in prop::collection::vec((sequences(), prop::option::weighted(0.2, (1_u16..30, 1_u16..10))), 0..40),
    ) {
        let mut screen = Screen::new(size(10, 3), 20);
        for (text, resized) in steps {
            screen.feed(&text);
            if let Some((columns, rows)) = resized {
                screen.resize(size(columns, rows));
            }
            let view = screen.view();
            prop_assert!(view.cursor.column < view.size.columns() && view.cursor.row < view.size.rows());
            prop_assert_eq!(view.lines.len(), usize::from(view.size.rows()));
            prop_assert_eq!(view.rebuilt, 0);
        }
    }
}

fn sequences() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z界é ]{0,20}", "[\r\n\t\u{8}]{1,4}", "\x1b\\[[?]?[0-9;]{0,8}[@-~]", "\x1b[#()]?[0-9A-Za-z]"]
}

/// What programs print in floods, and now and then what nobody foresees.
fn floods() -> impl Strategy<Value = String> {
    let text = prop_oneof![6 => "[a-z ]{1,30}", 2 => "[a-z界é ]{1,20}", 1 => Just("x".repeat(200))];
    let line = prop_oneof![8 => Just("\r\n"), 3 => Just("\r"), 1 => Just("\n"), 1 => Just("\u{8}"), 1 => Just("\t")];
    let colour = "\x1b\\[(|0|1|2|22|3|23|4|7|27|31|39|38;5;9|38;2;1;2;3|44|49|0;1;45)m";
    let erased = "\x1b\\[([012]?K|0?J|[0-9]?X)";
    let moved = "\x1b\\[([0-4]?[ABCDEFGd]|[0-5]?;?[0-9]?H)";
    let mode = "\x1b\\[\\?(25|1)[hl]";
    let part = prop_oneof![
        6 => text.prop_map(|text| text),
        6 => line.prop_map(str::to_owned),
        3 => colour,
        3 => erased,
        3 => moved,
        1 => mode,
    ];
    prop_oneof![
        20 => prop::collection::vec(part, 1..40).prop_map(|parts| parts.concat()),
        1 => sequences(),
        1 => Just("\x1b[?1049h".to_owned()),
        1 => Just("\x1b[?1049l".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_left_out_was_never_to_be_seen(
        parts in prop::collection::vec((floods(), 0..4, prop::option::weighted(0.1, Just(()))), 1..20),
        columns in 1_u16..14,
        rows in 1_u16..6,
        history in 0_usize..6,
    ) {
        let mut drawn = Screen::new(size(columns, rows), history);
        let mut shortened = Screen::new(size(columns, rows), history);
        for (text, shorten, look) in parts {
            drawn.feed(&text);
            drawn.draw();
            shortened.feed(&text);
            match shorten {
                0 => drop(shortened.skip_lines()),
                1 | 2 => {
                    shortened.read();
                    shortened.shorten();
                }
                _ => {}
            }
            if look.is_some() {
                prop_assert_eq!(shortened.view(), drawn.view());
            }
        }
        prop_assert_eq!(shortened.view(), drawn.view());
        prop_assert_eq!(shortened.lines_with_scrollback(99), drawn.lines_with_scrollback(99));
        let dump = |screen: &Screen| screen.terminal.as_ref().expect("one").dump();
        prop_assert_eq!(dump(&shortened), dump(&drawn));
        // Which lines go on shows when they are wrapped anew.
        for screen in [&mut shortened, &mut drawn] {
            screen.resize(size(7, 4));
        }
        prop_assert_eq!(dump(&shortened), dump(&drawn));
        prop_assert_eq!(shortened.lines_with_scrollback(99), drawn.lines_with_scrollback(99));
    }
}
