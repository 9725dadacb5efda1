//! What comes out of whatever goes in.

use proptest::prelude::*;

use super::{OutputParser, ParsedEvent, ShellMarkKind, TerminalModes};
use crate::TerminalQuery;

/// All that a stream hands out.
#[derive(Debug, Default, PartialEq)]
struct Out {
    normalised: String,
    text: String,
    /// Each with the length of the text before it.
    events: Vec<(usize, ParsedEvent)>,
}

fn fed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Out {
    let (mut stream, mut out) = (OutputParser::default(), Out::default());
    for piece in pieces {
        stream.feed(piece, |piece| {
            out.normalised += piece.normalised;
            out.text += piece.text;
            out.events.extend(piece.event.map(|event| (out.text.len(), event)));
        });
    }
    out
}

fn text(printed: impl AsRef<[u8]>) -> String {
    fed([printed.as_ref()]).text
}

fn marks(printed: &str) -> Vec<super::ShellMark> {
    let events = fed([printed.as_bytes()]).events.into_iter();
    let marks = events.filter_map(|(_, event)| if let ParsedEvent::Mark(mark) = event { Some(mark) } else { None });
    marks.collect()
}

#[test]
fn every_control_sequence_is_stripped() {
    let sequences: [&[u8]; 24] = [
        b"\x1b[31m",
        b"\x1b[38;2;1;2;3m",
        b"\x1b[38:2::1:2:3m",
        b"\x1b[?2004h",
        b"\x1b[>4;2m",
        b"\x1b[2 q",
        b"\x1b[!p",
        b"\x1b]0;a title\x07",
        b"\x1b]0;a title\x1b\\",
        "\x1b]0;a title\u{9c}".as_bytes(),
        b"\x1b]8;;https://example.com\x1b\\",
        b"\x1bP1$r0m\x1b\\",
        b"\x1bPq#0;2;0;0;0\n~~\x1b\\",
        b"\x1b_Gi=1;AAAA\x1b\\",
        b"\x1b^private\x1b\\",
        b"\x1bXstart\x1b\\",
        b"\x1b(B",
        b"\x1b)0",
        b"\x1b%G",
        b"\x1b=",
        b"\x9b31m",
        b"\x9d0;a title\x9c",
        "\u{9b}31m".as_bytes(),
        "\u{90}q\u{9c}".as_bytes(),
    ];
    for sequence in sequences {
        let printed = [b"a", sequence, b"b"].concat();
        assert_eq!(text(&printed), "ab", "{}", sequence.escape_ascii());
    }
}

#[test]
fn carriage_returns_are_kept_only_where_something_is_written_over() {
    assert_eq!(text("a\r\nb\r\r\n\rc"), "a\nb\nc");
    assert_eq!(text("10 %\r20 %\r\n"), "10 %\r20 %\n");
    // As readline ends a line.
    assert_eq!(text("$ ls\r\n\x1b[?2004l\rfile\r\n"), "$ ls\nfile\n");
}

#[test]
fn facts_9_utf_8_that_is_split_across_reads_is_whole_and_zero_bytes_are_nothing() {
    let printed = "héllo 界 🦀 \u{301}".as_bytes();
    assert_eq!(fed(printed.chunks(1)).text, "héllo 界 🦀 \u{301}");
    assert_eq!(text(b"a\0b\0\0c"), "abc");
}

#[test]
fn what_is_no_utf_8_is_one_replacement_and_takes_nothing_with_it() {
    assert_eq!(text(b"a\xffb\xc3(c\xe2\x82d\xf0\x9fe"), "a\u{fffd}b\u{fffd}(c\u{fffd}d\u{fffd}e");
    // Bytes of the same value inside of characters end no string.
    assert_eq!(text("\x1b]0;Ü\x07a\x1bPqÜtext\x1b\\b"), "ab");
}

#[test]
fn a_string_that_another_sequence_or_a_cancel_cuts_short_takes_nothing_with_it() {
    assert_eq!(text("\x1b]0;title\x1b[31mred\x1b]0;\x18plain"), "redplain");
    assert_eq!(text("\x1b[31\x1b[32mgreen\x1b[31\x18plain\x1b(\x1aplain"), "greenplainplain");
}

#[test]
fn facts_6_an_unterminated_string_of_256_mib_keeps_memory_flat() {
    let chunk = vec![b'x'; 1 << 20];
    let others = ["\x1bP", "\x1b_", "\x1b^", "\x1bX", "\u{9d}", "\x1b]133;D;"];
    for (introducer, mebibytes) in [("\x1b]0;", 256)].into_iter().chain(others.map(|other| (other, 18))) {
        let (mut stream, mut longest) = (OutputParser::default(), 0);
        stream.feed(introducer.as_bytes(), |_| {});
        for _ in 0..mebibytes {
            stream.feed(&chunk, |piece| longest = longest.max(piece.text.len()));
            assert!(stream.limiter.kept_bytes() < 16 << 10, "{}", stream.limiter.kept_bytes());
            assert!(stream.normalised.capacity() <= 2 << 20, "{}", stream.normalised.capacity());
        }
        // It was never meant to end, so the rest is text again.
        assert_eq!(longest, chunk.len(), "{introducer:?}");
    }
}

#[test]
fn facts_6_millions_of_combining_marks_become_few() {
    let printed = format!("e{}a{}", "\u{301}".repeat(1 << 20), "\u{301}".repeat(3));
    assert_eq!(text(printed).chars().count(), 1 + 16 + 1 + 3);
}

#[test]
fn a_sequence_that_never_ends_is_cut_and_what_follows_is_text() {
    let printed = format!("\x1b[{}mtext", "1;".repeat(1 << 20));
    assert!(text(printed).ends_with("mtext"));
    assert_eq!(text("\x1b[1;2;3mtext"), "text");
}

#[test]
fn a_string_is_passed_on_up_to_its_limit_and_not_beyond() {
    let code = |length: usize| marks(&format!("\x1b]133;D;1;x={}\x07", "x".repeat(length - 10))).len();
    assert_eq!((code(4096), code(4097)), (1, 0));
}

#[test]
fn marks_of_shells_are_handed_out_with_what_they_say_and_where_they_stand() {
    let printed =
        "\x1b]133;A;nonce=n1;redraw\x07$ \x1b]133;B\x1b\\ls\r\n\x1b]133;C\x07out\r\n\x1b]133;D;127;nonce=n1\x07";
    let out = fed([printed.as_bytes()]);
    let found: Vec<_> = out.events.iter().map(|(at, event)| (&out.text[..*at], event)).collect();
    let kinds: Vec<_> = marks(printed).iter().map(|mark| mark.kind).collect();
    let all =
        [ShellMarkKind::PromptStart, ShellMarkKind::InputStart, ShellMarkKind::OutputStart, ShellMarkKind::CommandEnd];
    assert_eq!(kinds, all);
    assert_eq!(found.iter().map(|(before, _)| *before).collect::<Vec<_>>(), ["", "$ ", "$ ls\n", "$ ls\nout\n"]);
    let marks = marks(printed);
    assert_eq!((marks[0].parameter("nonce"), marks[0].parameter("redraw")), (Some("n1"), Some("")));
    assert_eq!((marks[3].exit_code, marks[3].parameter("nonce")), (Some(127), Some("n1")));
}

#[test]
fn a_mark_without_a_code_has_none_and_others_are_no_marks() {
    assert_eq!(marks("\x1b]133;D\x07")[0].exit_code, None);
    assert_eq!(marks("\x1b]133;D;nonce=1\x07")[0].parameter("nonce"), Some("1"));
    assert_eq!(marks("\x1b]133;D;-1\x07")[0].exit_code, Some(-1));
    assert_eq!(marks("\x1b]133;Z\x07\x1b]13;A\x07\x1b]633;A\x07\x1b]133\x07\x1b]133;AB\x07"), []);
}

#[test]
fn modes_are_followed_until_the_terminal_is_reset() {
    let mut stream = OutputParser::default();
    stream.feed(b"\x1b[?1;2004h\x1b[?1049h\x1b[?25l", |_| {});
    let all = TerminalModes {
        application_cursor: true,
        bracketed_paste: true,
        alternate_screen: true,
        cursor_visible: false,
    };
    assert_eq!(stream.modes(), all);
    stream.feed(b"\x1b[?1l", |_| {});
    assert!(!stream.modes().application_cursor);
    stream.feed(b"\x1bc", |_| {});
    assert_eq!(stream.modes(), TerminalModes::default());
}

#[test]
fn a_flood_of_questions_is_handed_out_one_by_one_and_kept_nowhere() {
    let out = fed([&b"\x1b[6n".repeat(10_000)[..]]);
    assert_eq!(out.events.len(), 10_000);
    assert!(
        out.events.iter().all(|(_, event)| *event == ParsedEvent::Query(TerminalQuery::Cursor { extended: false }))
    );
}

/// Bytes of which many belong to sequences.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let some = |texts: &'static [&'static [u8]]| prop::sample::select(texts).prop_map(<[u8]>::to_vec);
    let part = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        some(&[
            b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP", b"\x1b_", b"\x1b\\", b"\x07", b"\x18", b"\x9b", b"\x9c", b"\x9d"
        ]),
        some(&[b"133;A", b"133;D;1", b"0;title", b"6n", b"$qm", b"31m", b"?2004h", b"\r", b"\r\n", b"\xc2\x9c"]),
        prop::sample::select(vec!["界", "é", "🦀", "e\u{301}\u{301}", "text", " "])
            .prop_map(|text| text.as_bytes().to_vec()),
        Just(b"\xe7\x95".to_vec()),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn where_reads_are_cut_changes_nothing(bytes in hostile(), cuts in prop::collection::vec(0_usize..400, 0..20)) {
        let whole = fed([&bytes[..]]);
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        prop_assert_eq!(&fed(cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]])), &whole);
        prop_assert_eq!(&fed(bytes.chunks(1)), &whole);
    }

    #[test]
    fn text_is_never_longer_than_what_came_and_has_no_control_characters(bytes in hostile()) {
        let out = fed([&bytes[..]]);
        prop_assert!(out.text.chars().count() <= bytes.len());
        let control = out.text.chars().find(|character| character.is_control() && !"\n\t\r".contains(*character));
        prop_assert_eq!(control, None);
    }

    #[test]
    fn what_is_normalised_stays_what_it_is(bytes in hostile()) {
        let once = fed([&bytes[..]]);
        let twice = fed([once.normalised.as_bytes()]);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert_eq!(&twice.events, &once.events);
    }

    #[test]
    fn plain_text_comes_out_as_it_went_in(plain in "[ -~\n\té界🦀]{0,200}") {
        prop_assert_eq!(text(&plain), plain);
    }
}
