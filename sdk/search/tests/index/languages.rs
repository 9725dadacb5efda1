//! Queries in the languages that people write.

use wharf_search::{Analysis, Index, IndexSettings, Query};

use crate::store::Memory;
use crate::{add, index, labels};

#[test]
fn korean_is_found_whatever_grew_onto_the_word() {
    let memory = Memory::default();
    let index = index(&memory);
    add(&index, &["도서관에서 책을 읽었다", "도서 목록", "자동차를 운전했다"]);
    assert_eq!(labels(&index, "도서관")[0], "도서관에서 책을 읽었다".get(..40).unwrap_or("도서관에서 책을 읽었다"));
    assert_eq!(labels(&index, "자동차 운전").len(), 1);
    assert_eq!(labels(&index, "\"도서관\"").len(), 1);
    assert_eq!(labels(&index, "도서 -도서관"), ["도서 목록"]);
}

#[test]
fn japanese_and_chinese_are_found_without_spaces() {
    let memory = Memory::default();
    let index = index(&memory);
    add(&index, &["東京都庁", "京都の寺", "全文搜索引擎", "水"]);
    assert_eq!(labels(&index, "\"東京都\""), ["東京都庁"]);
    assert_eq!(labels(&index, "京都"), ["東京都庁", "京都の寺"]);
    assert_eq!(labels(&index, "京都 -\"東京\""), ["京都の寺"]);
    assert_eq!(labels(&index, "搜索"), ["全文搜索引擎"]);
    assert_eq!(labels(&index, "水"), ["水"]);
}

#[test]
fn english_finds_stems_where_asked_to_and_stop_words_where_they_are_all() {
    let memory = Memory::default();
    let analysis = Analysis { english_stems: true, english_stop_words: true };
    let index =
        Index::new(&memory, "i/", IndexSettings { analysis, ..IndexSettings::default() }).expect("settings are fine");
    add(&index, &["The runner was running", "To be or not to be", "a café"]);
    assert_eq!(labels(&index, "run"), ["The runner was running"]);
    assert_eq!(labels(&index, "the cafe"), ["a café"]);
    assert_eq!(labels(&index, "to be"), ["To be or not to be"]);
    assert_eq!(labels(&index, "\"or not\""), ["To be or not to be"]);
}

#[test]
fn a_snippet_shows_the_best_part_and_cuts_no_character() {
    let parse = |text| Query::parse(text, Analysis::default()).expect("it names something");
    let text = format!("{} the harbour opens at six in the harbour town {}", "x ".repeat(100), "y ".repeat(100));
    let snippet = parse("harbour opens").snippet(&text, 40);
    assert_eq!(snippet.marked("[", "]"), "…[harbour] [opens] at six in the [harbour]…");
    assert_eq!(parse("한국어").snippet("이것은 한국어이다", 50).marked("<", ">"), "이것은 <한국어>이다");
    assert_eq!(parse("absent").snippet("short", 50).marked("<", ">"), "short");
    assert_eq!(parse("absent").snippet("", 50).marked("<", ">"), "");
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    for width in 1..30 {
        let text = format!("{}e\u{301}t\u{e9} {}", family.repeat(9), family.repeat(9));
        let snippet = parse("été").snippet(&text, width);
        let whole = snippet.text.replace(family, "").replace("e\u{301}", "").replace(['t', 'é', ' '], "");
        assert_eq!(whole, "", "width {width}: {}", snippet.text);
    }
}
