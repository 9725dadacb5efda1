//! Documents that were made to do harm, or damaged by chance.

use wharf_documents::{Format, Limits, ParseError, parse};

use crate::support::{archive, docx, read, xlsx};

fn limit(result: Result<wharf_documents::Parsed, ParseError>, expected: &str) {
    match result {
        Err(ParseError::Limit { what, .. }) => assert_eq!(what, expected),
        other => panic!("{expected}: {:?}", other.map(|parsed| parsed.text.len())),
    }
}

#[test]
fn what_an_archive_unpacks_to_is_counted_while_it_is_unpacked() {
    let bomb = docx(&" ".repeat(70 << 20), "");
    assert!(bomb.len() < 1 << 20);
    limit(read(Format::Docx, &bomb), "unpacked bytes");
    // A header that claims to be small changes nothing.
    let mut liar = bomb.clone();
    let places: Vec<usize> = memchr::memmem::find_iter(&bomb, b"word/document.xml").collect();
    let central = places.last().unwrap() - 46;
    liar[central + 24..central + 28].copy_from_slice(&10_u32.to_le_bytes());
    assert!(read(Format::Docx, &liar).is_err());
}

#[test]
fn entities_and_document_types_are_refused() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>";
    let sheet = format!("{bomb}<worksheet><sheetData/></worksheet>");
    assert!(matches!(read(Format::Xlsx, &xlsx(&sheet, "<sst/>", "<x/>")), Err(ParseError::Refused { .. })));
    // An entity that nobody declared is nothing.
    let body = "<w:p><w:r><w:t>a&b;c&#48512;&amp;</w:t></w:r></w:p>";
    assert_eq!(read(Format::Docx, &docx(body, "")).unwrap().text.lines().next(), Some("ac부&"));
}

#[test]
fn depth_is_bounded_in_every_format_that_nests() {
    limit(read(Format::Docx, &docx(&"<w:p>".repeat(1_000_000), "")), "levels of nested elements");
    limit(read(Format::Json, "[".repeat(1_000_000).as_bytes()), "levels of nested values");
    for tag in ["<div>", "<ul><li>", "<table><tr><td>", "<b>", "<svg>", "<p>a"] {
        read(Format::Html, tag.repeat(200_000).as_bytes()).unwrap();
    }
    for mark in ["> ", ">", "- ", "[", "*a ", "((", "`", "<", "[a](", "\t"] {
        read(Format::Markdown, mark.repeat(50_000).as_bytes()).unwrap();
    }
}

#[test]
fn a_sheet_costs_what_it_holds_and_not_what_it_claims() {
    let huge = "<worksheet><dimension ref='A1:XFD1048576'/><sheetData><row r='1'><c r='A1'><v>1</v></c></row>\
        <row r='1048576'><c r='XFD1048576'><v>2</v></c><c r='ZZZZZZZZ9'><v>3</v></c></row></sheetData></worksheet>";
    let strings = "<sst count='18446744073709551615' uniqueCount='18446744073709551615'/>";
    let parsed = read(Format::Xlsx, &xlsx(huge, strings, "<x/>")).unwrap();
    assert!(parsed.text.len() < 200, "{}", parsed.text);
    let empty = format!("<worksheet><sheetData><row>{}</row></sheetData></worksheet>", "<c s='1'/>".repeat(1_000_000));
    assert_eq!(read(Format::Xlsx, &xlsx(&empty, "<sst/>", "<x/>")).unwrap().text, "One\n");
}

#[test]
fn a_shared_text_that_is_not_there_is_a_warning() {
    let sheet = "<worksheet><sheetData><row><c t='s'><v>9</v></c><c t='s'><v>-1</v></c><c t='s'><v>0</v></c></row></sheetData></worksheet>";
    let parsed = read(Format::Xlsx, &xlsx(sheet, "<sst><si><t>a</t></si></sst>", "<x/>")).unwrap();
    assert_eq!(parsed.text, "One\n\n |  | a\n");
    assert_eq!(parsed.warnings, ["2 cells name a text that is not in the document"]);
}

#[test]
fn archives_in_archives_stay_closed_and_names_lead_nowhere() {
    let inner = docx("<w:p><w:r><w:t>inner</w:t></w:r></w:p>", "");
    let body = b"<w:document><w:body><w:p><w:r><w:t>outer</w:t></w:r></w:p></w:body></w:document>";
    let links = b"<Relationships><Relationship Id='a' Type='x/officeDocument' Target='../../../word/document.xml'/></Relationships>";
    let outer = archive(&[
        ("[Content_Types].xml", b""),
        ("../../etc/passwd", b"x"),
        ("_rels/.rels", links),
        ("word/document.xml", body),
        ("word/embeddings/inner.docx", &inner),
    ]);
    assert_eq!(read(Format::Docx, &outer).unwrap().text, "outer\n");
    let other = archive(&[("a.txt", b"hello")]);
    assert!(matches!(read(Format::Docx, &other), Err(ParseError::OtherFormat { .. })));
}

#[test]
fn an_archive_of_too_many_parts_is_refused() {
    let names: Vec<String> = (0..70_000).map(|number| number.to_string()).collect();
    let parts: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    limit(read(Format::Xlsx, &archive(&parts)), "parts in the archive");
}

#[test]
fn every_limit_is_an_error_that_names_it() {
    let tight = Limits { input_bytes: 10, ..Limits::default() };
    assert!(parse(Format::Text, b"ten bytes.", &tight).is_ok());
    let error = parse(Format::Text, b"ten bytes..", &tight).unwrap_err();
    assert_eq!(error.to_string(), "the document is too large: more than 10 bytes; split it");
    let tight = Limits { text_bytes: 10, ..Limits::default() };
    limit(parse(Format::Text, b"ten bytes..", &tight), "bytes of text");
    limit(parse(Format::Html, b"<p>ten bytes....", &tight), "bytes of text");
    let tight = Limits { blocks: 2, ..Limits::default() };
    for (format, text) in
        [(Format::Text, "a\n\nb\n\nc\n\nd"), (Format::Html, "<p>a<p>b<p>c<p>d"), (Format::Csv, "a\nb\nc\nd")]
    {
        let parsed = parse(format, text.as_bytes(), &tight).unwrap();
        assert_eq!((parsed.blocks.len(), parsed.warnings.len()), (2, 1), "{format:?}");
        assert!(parsed.text.ends_with('d') || parsed.text.ends_with("d\n"));
        crate::support::check(&parsed, &wharf_documents::ChunkSettings::default());
    }
}

/// Real files, each with its format.
fn files() -> Vec<(Format, Vec<u8>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut files: Vec<(Format, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            Some((
                Format::detect(path.to_str(), None, &bytes).ok().filter(|format| *format != Format::Markdown)?,
                bytes,
            ))
        })
        .collect();
    files.push((Format::Html, b"<html><table><tr><td>a<li>b<pre>c</pre>&amp;<!-- x --><script>y</script>".repeat(9)));
    files.push((Format::Json, b"[{\"a\": [1, 2.5e3, null]}, \"\\u00e9\\\\\"]".to_vec()));
    files
}

#[test]
fn files_that_end_early_are_errors_or_answers() {
    for (format, bytes) in files() {
        for part in 0..64 {
            drop(read(format, &bytes[..bytes.len() * part / 64]));
        }
    }
}

#[test]
fn files_with_flipped_bits_are_errors_or_answers() {
    let mut random = fastrand::Rng::with_seed(11);
    for (format, bytes) in files() {
        for _ in 0..200 {
            let mut damaged = bytes.clone();
            for _ in 0..random.usize(1..12) {
                let at = random.usize(0..damaged.len());
                damaged[at] ^= 1 << random.u8(0..8);
            }
            drop(read(format, &damaged));
        }
    }
}

#[test]
fn files_of_another_format_than_they_say_are_errors() {
    for (actual, bytes) in files() {
        for claimed in [Format::Docx, Format::Xlsx, Format::Pptx, Format::Pdf] {
            if claimed != actual {
                assert!(read(claimed, &bytes).is_err(), "{actual:?} as {claimed:?}");
            }
        }
    }
    for format in [Format::Docx, Format::Xlsx, Format::Pptx, Format::Pdf] {
        assert!(matches!(read(format, b""), Err(ParseError::OtherFormat { .. })));
    }
}
