//! Chunks: they are the text, they follow its blocks, and they cost what it is
//! long.

use wharf_documents::{Block, BlockKind, Chunk, ChunkSettings, Format, Parsed, chunks};

use crate::support::{check, read};

fn settings(target_bytes: usize, most_bytes: usize) -> ChunkSettings {
    ChunkSettings { target_bytes, most_bytes }
}

fn cut<'text>(parsed: &'text Parsed, settings: &ChunkSettings) -> Vec<(&'text str, Chunk)> {
    check(parsed, settings);
    chunks(parsed, settings).unwrap().into_iter().map(|chunk| (&parsed.text[chunk.bytes.clone()], chunk)).collect()
}

#[test]
fn a_heading_begins_a_chunk_and_knows_those_above_it() {
    let text = "intro\n\n# One\n\ntext\n\n## Two\n\nmore\n\n## Three\n### Deep ###\nend\n# Four\nx\n";
    let parsed = read(Format::Markdown, text.as_bytes()).unwrap();
    let cut = cut(&parsed, &settings(1000, 2000));
    let said: Vec<(&str, Vec<&str>)> =
        cut.iter().map(|(text, chunk)| (*text, chunk.headings.iter().map(String::as_str).collect())).collect();
    let expected = [
        ("intro\n\n", vec![]),
        ("# One\n\ntext\n\n", vec![]),
        ("## Two\n\nmore\n\n", vec!["One"]),
        ("## Three\n### Deep ###\nend\n", vec!["One"]),
        ("# Four\nx\n", vec![]),
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_long_section_continues_under_its_heading() {
    let text = format!("# One\n\n{}", "A paragraph of some words.\n\n".repeat(10));
    let parsed = read(Format::Markdown, text.as_bytes()).unwrap();
    let cut = cut(&parsed, &settings(64, 128));
    assert!(cut[0].0.starts_with("# One\n\nA paragraph"));
    assert!(cut[0].1.headings.is_empty() && cut.len() > 3);
    assert!(cut[1..].iter().all(|(_, chunk)| chunk.headings == ["One"]));
}

#[test]
fn a_heading_stays_with_a_paragraph_that_does_not_fit_beside_it() {
    let text = format!("# Heading\n\n{}\n", "word ".repeat(24).trim_end());
    let parsed = read(Format::Markdown, text.as_bytes()).unwrap();
    let cut = cut(&parsed, &settings(64, 120));
    assert!(cut[0].0.starts_with("# Heading\n\nword word"), "{cut:?}");
}

#[test]
fn a_paragraph_is_whole_up_to_the_most_and_then_cut_after_lines_sentences_and_words() {
    let whole = format!("short\n\n{}\n", "w ".repeat(50).trim_end());
    let parsed = read(Format::Text, whole.as_bytes()).unwrap();
    let parts: Vec<&str> = cut(&parsed, &settings(64, 128)).into_iter().map(|(text, _)| text).collect();
    assert_eq!(parts, ["short\n\n", &whole[7..]]);

    let lines = "one line of text\n".repeat(20);
    let parsed = read(Format::Text, lines.as_bytes()).unwrap();
    assert!(cut(&parsed, &settings(64, 128)).iter().all(|(text, _)| text.ends_with('\n')));

    let sentences = "The pier is open. ".repeat(20);
    let parsed = read(Format::Text, sentences.as_bytes()).unwrap();
    assert!(cut(&parsed, &settings(64, 128)).iter().all(|(text, _)| text.ends_with(". ")));

    let words = "ships and piers ".repeat(20);
    let parsed = read(Format::Text, words.as_bytes()).unwrap();
    let cut = cut(&parsed, &settings(64, 128));
    assert!(cut.iter().all(|(text, chunk)| text.ends_with(' ') && (chunk.first_line, chunk.last_line) == (1, 1)));
}

#[test]
fn a_character_is_never_cut_as_long_as_it_is_one() {
    let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}";
    for text in [family.repeat(50), "부두에서배를기다린다".repeat(30), "e\u{301}\u{323}".repeat(100), "\r\n".repeat(99)]
    {
        let parsed = read(Format::Text, text.as_bytes()).unwrap();
        for (part, _) in cut(&parsed, &settings(40, 64)) {
            assert!(part.len() <= 64);
            use unicode_segmentation::UnicodeSegmentation;
            let whole: Vec<&str> = text.graphemes(true).collect();
            assert!(part.graphemes(true).all(|grapheme| whole.contains(&grapheme)), "{part:?}");
        }
    }
}

#[test]
fn rows_and_code_are_joined_and_not_cut() {
    let text = (0..200).map(|row| format!("{row},pier,ship\n")).collect::<String>();
    let parsed = read(Format::Csv, text.as_bytes()).unwrap();
    let cut = cut(&parsed, &settings(100, 200));
    assert!(cut.iter().all(|(text, _)| text.ends_with('\n') && text.len() <= 100));
    assert!(cut.len() < 45, "{}", cut.len());
}

#[test]
fn pages_begin_chunks() {
    let text = "one\n\ntwo\n\nthree\n".to_owned();
    let block = |bytes, page| Block { kind: BlockKind::Paragraph, bytes, page: Some(page) };
    let blocks = vec![block(0..5, 1), block(5..10, 1), block(10..16, 2)];
    let parsed = Parsed { format: Format::Pdf, title: None, text, blocks, warnings: Vec::new() };
    let cut = cut(&parsed, &ChunkSettings::default());
    assert_eq!(
        cut.iter().map(|(text, chunk)| (*text, chunk.page)).collect::<Vec<_>>(),
        [("one\n\ntwo\n\n", Some(1)), ("three\n", Some(2)),]
    );
}

#[test]
fn blocks_that_make_no_sense_still_give_the_whole_text() {
    let text = "부두에서 기다린다".to_owned();
    let block = |bytes| Block { kind: BlockKind::Heading(1), bytes, page: None };
    let blocks = vec![block(3..99), block(1..2), block(6..6), block(3..6), block(200..300)];
    let parsed = Parsed { format: Format::Text, title: None, text: text.clone(), blocks, warnings: Vec::new() };
    let whole: String = chunks(&parsed, &settings(32, 32)).unwrap().iter().map(|c| &text[c.bytes.clone()]).collect();
    assert_eq!(whole, text);
    assert!(chunks(&parsed, &settings(31, 100)).is_err() && chunks(&parsed, &settings(100, 99)).is_err());
}

#[test]
fn texts_of_any_shape_are_cut_into_a_bounded_number() {
    let shapes: [(&str, Format, String); 8] = [
        ("one line", Format::Text, "word ".repeat(200_000)),
        ("one word", Format::Text, "w".repeat(1_000_000)),
        ("short lines", Format::Text, "\n".repeat(1_000_000)),
        ("headings", Format::Markdown, "#\n".repeat(200_000)),
        ("sections", Format::Markdown, "# a\nb\n".repeat(100_000)),
        ("one character", Format::Text, format!("e{}", "\u{301}".repeat(500_000))),
        ("flags", Format::Text, "\u{1F1F0}".repeat(250_000)),
        ("rows", Format::Csv, "a\n".repeat(300_000)),
    ];
    for (shape, format, text) in shapes {
        let parsed = read(format, text.as_bytes()).unwrap();
        let count = chunks(&parsed, &ChunkSettings::default()).unwrap().len();
        assert!(count <= 4_097 + text.len() / 250, "{shape}: {count} chunks");
    }
}

#[test]
fn random_texts_are_cut_without_a_gap() {
    let mut random = fastrand::Rng::with_seed(7);
    let pieces = [
        "a",
        " ",
        "\n",
        "\r\n",
        "부",
        "。",
        ". ",
        "\u{301}",
        "# h\n",
        "\n\n",
        "- i\n",
        "| a |\n",
        "\u{1F1F0}",
        "```\n",
    ];
    for _ in 0..300 {
        let text: String = (0..random.usize(0..400)).map(|_| pieces[random.usize(0..pieces.len())]).collect();
        let target = random.usize(32..80);
        for format in [Format::Text, Format::Markdown, Format::Csv] {
            let parsed = read(format, text.as_bytes()).unwrap();
            assert_eq!(parsed.text, text);
            check(&parsed, &settings(target, target + random.usize(0..80)));
        }
    }
}
