use fastrand::Rng;
use regex_syntax::ast::parse::Parser;

use super::*;

#[test]
fn characters_without_another_case_are_those_of_the_library() {
    let is_folded = |from, to| {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(from, to)]);
        class.try_case_fold_simple().expect("the tables are there");
        class.ranges() == [ClassUnicodeRange::new(from, to)]
    };
    for (from, to) in CASELESS {
        assert!((from..=to).all(|character| is_folded(character, character)), "{from:?} to {to:?}");
    }
    assert!(!is_folded(LAST_CASED, LAST_CASED));
    let behind = char::from_u32(u32::from(LAST_CASED) + 1).expect("a character");
    assert!((behind..='\u{10ffff}').all(|character| is_folded(character, character)));
}

/// What may stand in brackets.
fn item(random: &mut Rng, depth: usize) -> String {
    const ITEMS: [&str; 24] = [
        "a",
        "k",
        "\u{17f}",
        "a-f",
        "-",
        "^",
        "\u{e9}",
        "\u{100}-\u{1e900}",
        "\u{1e944}-\u{10ffff}",
        "\u{1e921}",
        "!-\u{10fffd}",
        "\u{3400}-\u{9fff}",
        "\\w",
        "\\W",
        "\\d",
        "\\S",
        "\\pL",
        "\\PN",
        "\\p{Greek}",
        "\\P{Age=9.0}",
        "\\p{sc!=Han}",
        "[:alpha:]",
        "[:^space:]",
        "\\]",
    ];
    if depth > 0 && random.usize(0..3) == 0 {
        let operator = ["", "", "&&", "--", "~~"][random.usize(0..5)];
        let (one, other) = (items(random, depth - 1), items(random, depth - 1));
        let not = if random.bool() { "^" } else { "" };
        return format!("[{not}{one}{operator}{other}]");
    }
    ITEMS[random.usize(0..ITEMS.len())].to_owned()
}

fn items(random: &mut Rng, depth: usize) -> String {
    (0..random.usize(1..4)).map(|_| item(random, depth)).collect()
}

#[test]
fn a_class_is_made_as_the_library_makes_it() {
    let mut compared = 0;
    for seed in 0..600 {
        let mut random = Rng::with_seed(seed);
        let (class, ignore_case) = (format!("[{}]", items(&mut random, 3)), random.bool());
        let theirs = regex_syntax::ParserBuilder::new().case_insensitive(ignore_case).utf8(false).build().parse(&class);
        let (Ok(theirs), Ok(Ast::ClassBracketed(syntax))) = (theirs, &Parser::new().parse(&class)) else { continue };
        let mut budget = CompileBudget::new(u64::MAX);
        let flags = Flags { ignore_case, unicode: true };
        let ours = Classes { budget: &mut budget }.within_brackets(syntax, flags).expect("enough");
        assert_eq!(regex_syntax::hir::Hir::class(Class::Unicode(ours)), theirs, "{class} {ignore_case}");
        compared += 1;
    }
    assert!(compared > 300, "{compared}");
}
