use proptest::prelude::*;
use serde_json::json;

use super::*;

fn seen(text: &str) -> String {
    visible(text.to_owned())
}

#[test]
fn cutting_never_splits_a_character() {
    assert_eq!(cut("aé", 2), "a");
    assert_eq!(cut("한글", 4), "한");
    assert_eq!(cut("abc", 9), "abc");
}

#[test]
fn a_line_has_no_way_to_move_the_cursor_or_start_another_line() {
    assert_eq!(line("a\u{1b}[2Jb\r\nc\u{9b}1m\u{202e}", 100), "a[2Jbc1m");
    assert_eq!(line("a\u{2028}b\u{2029}c\rd\te\u{e0041}f", 100), "abcdef");
}

#[test]
fn a_word_for_a_shell_is_one_word_there_whatever_is_in_it() {
    assert_eq!(for_shell("/srv/a-b_1.wasm"), "/srv/a-b_1.wasm");
    for word in ["", "A b.wasm", "it's", "$(id)", "`id`", "~", "a;b", "a\nb", "\"", "*", "집"] {
        let script = format!("printf %s {}", for_shell(word));
        let said = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&said.stdout), word, "{script}");
    }
}

#[test]
fn visible_text_keeps_line_breaks_and_letters_of_any_script() {
    let clean = "één\n\ttwee 한국어 — “quoted”".to_owned();
    assert_eq!(visible(clean.clone()), clean);
    assert_eq!(visible("a\u{1b}]0;title\u{7}b\u{85}".to_owned()), "a]0;titleb");
}

#[test]
fn what_nobody_sees_goes_wherever_it_stands() {
    for (what, hidden) in [
        ("tags that spell an order", "\u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e007f}"),
        ("the tag of a language", "\u{e0001}"),
        ("zero width", "\u{200b}\u{2060}\u{feff}"),
        ("joiners in Latin", "\u{200c}\u{200d}"),
        ("invisible operators", "\u{2061}\u{2062}\u{2063}\u{2064}"),
        ("marks of direction", "\u{200e}\u{200f}\u{61c}"),
        ("embeddings and isolates", "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}"),
        ("shaping that is deprecated", "\u{206a}\u{206b}\u{206c}\u{206d}\u{206e}\u{206f}"),
        ("soft hyphens and grapheme joiners", "\u{ad}\u{34f}"),
        ("variation selectors that spell bytes", "\u{fe00}\u{fe0f}\u{e0100}\u{e01ef}"),
        ("annotations", "\u{fff9}\u{fffa}\u{fffb}"),
        ("fillers", "\u{115f}\u{1160}\u{3164}\u{ffa0}"),
        ("vowels of Khmer that have no form", "\u{17b4}\u{17b5}"),
        ("Mongolian separators", "\u{180b}\u{180e}\u{180f}"),
        ("musical and shorthand formats", "\u{1d173}\u{1d17a}\u{1bca0}\u{1bca3}"),
        ("what is kept free for more", "\u{2065}\u{fff0}\u{e0002}\u{e0080}\u{e0fff}"),
        ("noncharacters", "\u{fdd0}\u{fffe}\u{1ffff}"),
        ("control characters", "\0\u{1}\u{8}\u{b}\u{c}\u{1b}\u{7f}\u{80}\u{9f}"),
    ] {
        for character in hidden.chars() {
            assert!(!is_visible(&character.to_string()), "{what}: {character:?}");
        }
        assert_eq!(seen(&format!("a{hidden}b")), "ab", "{what}");
        assert_eq!(seen(hidden), "", "{what}");
        assert_eq!(line(&format!("{hidden}ab"), 200), "ab", "{what}");
    }
}

#[test]
fn every_line_break_is_one_line_break() {
    assert_eq!(seen("a\r\nb\rc\nd\u{2028}e\u{2029}f"), "a\nb\nc\nd\ne\nf");
    assert_eq!(seen("10 %\r20 %\r\r\n"), "10 %\n20 %\n\n");
}

#[test]
fn what_scripts_need_stays() {
    for text in [
        "한국어 문장입니다. 똠방각하 펲시콜라",
        "\u{1112}\u{119e}\u{11ab}\u{302e} 옛한글 \u{1100}\u{1160} \u{115f}\u{1161}",
        "می\u{200c}خواهم کتاب\u{200c}ها را بخوانم",
        "م\u{64e}\u{200c}ن سنه\u{200d}",
        "क्\u{200d}ष और क्\u{200c}ष, र\u{94d}\u{200d}य",
        "র\u{200d}\u{9cd}য ශ\u{dca}\u{200d}ර\u{dd3} ന\u{d4d}\u{200d}",
        "ภาษาไทยเขียนติดกัน ភាសាខ្មែរ မြန်မာ",
        "ᠮᠣᠩᠭᠣᠯ ᠠᠷᠢᠭ\u{180e}ᠠ ᠡ\u{180b}",
        "עברית العربية 日本語 葛飾区 ελληνικά Việt",
        "😀 👍🏽 👨\u{200d}👩\u{200d}👧\u{200d}👦 👩🏾\u{200d}🚀 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f}\u{200d}🔥 🧑🏻\u{200d}🦰",
        "🇰🇷 🇮🇷 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
        "1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3} ☎\u{fe0e} ©\u{fe0f}",
        "no\u{a0}break, narrow\u{202f}too, wide\u{3000}space, ½ × 2⁄3, \u{601}١",
    ] {
        assert_eq!(seen(text), text);
        assert!(is_visible(text), "{text}");
    }
}

#[test]
fn what_scripts_need_carries_nothing_of_its_own() {
    assert_eq!(seen("می\u{200c}\u{200c}\u{200d}\u{200c}خواهم"), "می\u{200c}خواهم");
    assert_eq!(seen("😀\u{200d}\u{200d}\u{200d}😀"), "😀\u{200d}😀");
    assert_eq!(seen("😀\u{fe0f}\u{fe0e}\u{fe01}\u{e0101}\u{e0130}x"), "😀\u{fe0f}x");
    assert_eq!(seen("1\u{fe0f}2\u{fe0e}3"), "123");
    assert_eq!(seen("🏴\u{e0073}\u{e0061}\u{e0079}\u{e007f}🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}"), "🏴🏴");
    let twice = "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
    assert_eq!(seen(&format!("{twice}{}", &twice[4..])), twice);
    assert_eq!(seen("葛\u{e0100} ≨\u{fe00} a\u{302}\u{200d}b"), "葛 ≨ a\u{302}b");
    assert_eq!(seen("\u{1100}\u{1160}\u{1160} \u{115f}\u{115f}\u{1161}"), "\u{1100}\u{1160} \u{115f}\u{1161}");
}

#[test]
fn json_is_seen_as_text_is() {
    let mut value = json!({"a\u{200b}": ["b\u{202e}\r\nc", {"\u{e0041}d": "e\u{2028}"}], "n": 1, "a": "second"});
    visible_value(&mut value);
    assert_eq!(value["n"], 1);
    assert!(value.as_object().is_some_and(|members| members.len() == 2 && members.contains_key("a")), "{value}");
    let mut value = json!({"x\u{200b}": ["b\u{202e}\r\nc", {"\u{e0041}d": "e\u{2028}"}]});
    visible_value(&mut value);
    assert_eq!(value, json!({"x": ["b\nc", {"d": "e\n"}]}));

    let text = visible_json("{\"a\u{200b}\":\r\n\"b\u{2028}c\"}".to_owned());
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("still JSON"), json!({"a": "b\nc"}));
}

#[test]
fn a_cause_that_was_said_is_not_said_again() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot write: {0}")]
    struct Telling(#[source] std::io::Error);
    #[derive(Debug, thiserror::Error)]
    #[error("cannot build")]
    struct Silent(#[source] Telling);
    let full = Telling(std::io::Error::other("the disk is full"));
    assert_eq!(with_causes(&full), "cannot write: the disk is full");
    assert_eq!(with_causes(&Silent(full)), "cannot build: cannot write: the disk is full");
}

#[test]
fn a_text_in_pieces_is_the_text_in_one() {
    let pieced = |pieces: &[&str]| {
        let mut following = Following::default();
        pieces.iter().map(|piece| following.visible((*piece).to_owned())).collect::<String>()
    };
    assert_eq!(pieced(&["a\r", "\nb\r", "c\r", "", "\n\nd"]), "a\nb\nc\n\nd");
    assert_eq!(pieced(&["👨", "\u{200d}", "\u{200d}", "👩"]), "👨\u{200d}👩");
    assert_eq!(pieced(&["می", "\u{200c}خ", "\u{200c}", "\u{200d}"]), "می\u{200c}خ\u{200c}");
    assert_eq!(pieced(&["x", "\u{200d}", "\u{e0041}", "y"]), "xy");
}

proptest! {
    #[test]
    fn what_was_made_visible_is_visible_and_nothing_else_is_lost(text in any::<String>()) {
        let shown = visible(text.clone());
        prop_assert!(is_visible(&shown), "{shown:?}");
        let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).filter(|letter| is_visible(&letter.to_string())).collect::<String>();
        prop_assert_eq!(letters(&shown), letters(&text));
        prop_assert!(!line(&text, usize::MAX).contains(['\n', '\t']));
    }

    #[test]
    fn wherever_the_first_odd_character_stands_it_is_found(before in 0_usize..300, odd in prop::sample::select(vec!['\r', '\u{200b}', '\u{7f}', '\u{e0041}', '\u{ad}'])) {
        let text = format!("{}{odd}", "x".repeat(before));
        prop_assert!(!is_visible(&text));
    }
}
