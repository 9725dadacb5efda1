//! Text, Markdown, CSV, JSON and HTML.

use wharf_documents::{BlockKind, Format, ParseError};

use crate::support::{blocks, read};

#[test]
fn text_is_kept_byte_for_byte_with_trailing_blanks_and_line_ends() {
    let text = "\n first  \r\nline\t\n\n\nsecond \u{1F3F4}\n\n  \n";
    assert_eq!(read(Format::Text, text.as_bytes()).unwrap().text, text);
    let parsed = read(Format::Text, text.as_bytes()).unwrap();
    assert_eq!(parsed.blocks.len(), 2);
}

#[test]
fn byte_order_marks_go_and_utf16_is_decoded() {
    assert_eq!(read(Format::Text, b"\xEF\xBB\xBFpier").unwrap().text, "pier");
    let units = |unit: fn(u16) -> [u8; 2]| "\u{FEFF}부두 \u{1F6A2}".encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    assert_eq!(read(Format::Text, &units(u16::to_le_bytes)).unwrap().text, "부두 \u{1F6A2}");
    assert_eq!(read(Format::Text, &units(u16::to_be_bytes)).unwrap().text, "부두 \u{1F6A2}");
}

#[test]
fn a_few_bad_bytes_are_replaced_with_a_warning_and_rubbish_is_refused() {
    let parsed = read(Format::Text, b"the caf\xE9 at the pier opens at six").unwrap();
    assert_eq!(parsed.text, "the caf\u{FFFD} at the pier opens at six");
    assert_eq!(parsed.warnings, ["bytes that are not UTF-8 were replaced"]);
    for rubbish in [&b"zero\0byte"[..], b"\xB0\xA1\xB3\xAA\xB4\xD9", b"\x01\x02\x03\x04ab", b"\xFF\xFEa"] {
        assert!(matches!(read(Format::Text, rubbish), Err(ParseError::OtherFormat { .. })), "{rubbish:?}");
    }
}

#[test]
fn an_empty_text_is_a_document_without_blocks() {
    for format in [Format::Text, Format::Markdown, Format::Csv, Format::Html] {
        let parsed = read(format, b"").unwrap();
        assert!(parsed.text.is_empty() && parsed.blocks.is_empty());
    }
}

#[test]
fn markdown_has_its_blocks_and_keeps_its_text() {
    let text = "# Title *x* #\n\npara\nmore\n\n- one\n  - inner\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
        ```sh\n# no heading\n\nend\n```\nSetext\n---\nlast";
    let parsed = read(Format::Markdown, text.as_bytes()).unwrap();
    assert_eq!(parsed.text, text);
    assert_eq!(parsed.title.as_deref(), Some("Title x"));
    let expected = [
        (BlockKind::Heading(1), "# Title *x* #"),
        (BlockKind::Paragraph, "para\nmore"),
        (BlockKind::ListItem, "- one"),
        (BlockKind::ListItem, "  - inner"),
        (BlockKind::ListItem, "- two"),
        (BlockKind::TableRow, "| a | b |\n|---|---|"),
        (BlockKind::TableRow, "| 1 | 2 |"),
        (BlockKind::Code, "```sh\n# no heading\n\nend\n```"),
        (BlockKind::Heading(2), "Setext\n---"),
        (BlockKind::Paragraph, "last"),
    ];
    assert_eq!(blocks(&parsed), expected);
}

#[test]
fn a_record_of_csv_is_a_row_with_the_line_ends_in_its_quotes() {
    let text = "name;note\n\"a\";\"two\nlines; \"\"q\"\"\"\r\n\nb;c";
    let parsed = read(Format::Csv, text.as_bytes()).unwrap();
    assert_eq!(parsed.text, text);
    let rows: Vec<&str> = blocks(&parsed).into_iter().map(|(_, text)| text).collect();
    assert_eq!(rows, ["name;note", "\"a\";\"two\nlines; \"\"q\"\"\"", "b;c"]);
}

#[test]
fn entries_of_json_are_blocks_and_what_is_not_json_says_where() {
    let text = "{\n  \"a\": [1, {\"b\": \"}, \\\"\"}],\n  \"c\": 2\n}\n";
    let parsed = read(Format::Json, text.as_bytes()).unwrap();
    assert_eq!(parsed.text, text);
    let entries: Vec<&str> = blocks(&parsed).into_iter().map(|(_, text)| text).collect();
    assert_eq!(entries, ["{", "  \"a\": [1, {\"b\": \"}, \\\"\"}],", "  \"c\": 2\n}"]);
    let lines = read(Format::Json, b"{\"a\":1}\n{\"a\":2}\n").unwrap();
    assert_eq!(lines.blocks.len(), 2);
    let error = read(Format::Json, b"{\n  \"a\": ,\n}").unwrap_err().to_string();
    assert!(error.starts_with("line 2, column 8 is not valid JSON: expected value;"), "{error}");
    assert!(read(Format::Json, b"  ").is_err());
}

#[test]
fn html_is_what_a_reader_sees() {
    let html = "<!DOCTYPE html><html><head><title>The &amp; pier</title><style>p{}</style><script>var a='<p>';</script>\
        </head><body><h1>Pier\n 부두</h1><p>One &eacute;&#48512;<br>two <b>three</b></p><ul><li>a<li><p>b</p></ul>\
        <ol><li>first</li><li>second<ul><li>deep</li></ul></li></ol>\
        <table><tr><th>x</th><th>y</th></tr><tr><td>1<p>2</td><td></td><td>3</td></tr></table>\
        <pre>  keep\n   this</pre><img src=a><img alt='a ship'><noscript>no</noscript>after</body></html>";
    let parsed = read(Format::Html, html.as_bytes()).unwrap();
    assert_eq!(parsed.title.as_deref(), Some("The & pier"));
    let expected = [
        (BlockKind::Heading(1), "Pier 부두"),
        (BlockKind::Paragraph, "One é부\ntwo three"),
        (BlockKind::ListItem, "- a"),
        (BlockKind::ListItem, "- b"),
        (BlockKind::ListItem, "1. first"),
        (BlockKind::ListItem, "2. second"),
        (BlockKind::ListItem, "  - deep"),
        (BlockKind::TableRow, "x | y"),
        (BlockKind::TableRow, "1 2 |  | 3"),
        (BlockKind::Code, "  keep\n   this"),
        (BlockKind::Paragraph, "a shipafter"),
    ];
    assert_eq!(blocks(&parsed), expected);
    assert_eq!(parsed.warnings, ["1 picture was left out"]);
}

#[test]
fn a_format_is_told_by_extension_then_type_then_content() {
    let detect = |name, mime, bytes| Format::detect(name, mime, bytes);
    assert_eq!(detect(Some("A.MD"), Some("text/csv"), b"a,b"), Ok(Format::Markdown));
    assert_eq!(detect(Some("notes"), Some("text/csv; charset=utf-8"), b"a,b"), Ok(Format::Csv));
    assert_eq!(detect(None, None, b"%PDF-1.4"), Ok(Format::Pdf));
    assert_eq!(detect(None, None, b" <!DOCTYPE HTML><p>"), Ok(Format::Html));
    assert!(matches!(detect(Some("a.exe"), None, b"MZ\0"), Err(ParseError::UnknownFormat { .. })));
    for name in ["main.rs", "Makefile", "server.log"] {
        assert_eq!(detect(Some(name), None, b"fn main() {}"), Ok(Format::Text), "{name}");
    }
    let docx = crate::support::docx("", "");
    assert_eq!(detect(None, None, &docx), Ok(Format::Docx));
    assert!(matches!(detect(Some("a.xlsx"), None, &docx), Err(ParseError::OtherFormat { .. })));
    assert!(matches!(detect(Some("a.txt"), None, &docx), Err(ParseError::OtherFormat { .. })));
    assert!(matches!(detect(Some("a.pdf"), None, b""), Err(ParseError::OtherFormat { .. })));
    for format in Format::ALL {
        let said = Format::detect(None, Some(format.mime()), b"");
        assert!(matches!(said, Ok(found) if found == format) || format.mime().starts_with("application/"), "{said:?}");
        assert_eq!(format.mime().matches('/').count(), 1);
        assert_eq!(Format::ALL.iter().filter(|other| other.mime() == format.mime()).count(), 1);
    }
}
