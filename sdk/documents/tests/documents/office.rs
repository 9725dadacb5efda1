//! Office documents, part by part.

use wharf_documents::{BlockKind, Format};

use crate::support::{blocks, docx, read, xlsx};

fn paragraph(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn headings_are_known_by_level_and_name_whatever_the_language_calls_the_style() {
    let styles = "<w:style w:type='paragraph' w:styleId='Überschrift1'><w:name w:val='heading 1'/></w:style>\
        <w:style w:type='paragraph' w:styleId='a3'><w:name w:val='장 제목'/><w:pPr><w:outlineLvl w:val='1'/></w:pPr></w:style>\
        <w:style w:type='paragraph' w:styleId='own'><w:name w:val='Own'/><w:basedOn w:val='a3'/></w:style>\
        <w:style w:type='paragraph' w:styleId='loop'><w:name w:val='Loop'/><w:basedOn w:val='loop'/></w:style>";
    let body = ["Überschrift1", "a3", "own", "loop", "Heading3"]
        .map(|style| paragraph(&format!("<w:pStyle w:val='{style}'/>"), style));
    let parsed = read(Format::Docx, &docx(&body.concat(), styles)).unwrap();
    let kinds: Vec<BlockKind> = parsed.blocks.iter().take(5).map(|block| block.kind).collect();
    use BlockKind::{Heading, Paragraph};
    assert_eq!(kinds, [Heading(1), Heading(2), Heading(2), Paragraph, Heading(3)]);
}

#[test]
fn what_was_deleted_or_moved_is_gone_and_links_notes_and_boxes_are_there() {
    let body = "<w:p><w:r><w:t xml:space='preserve'>kept </w:t></w:r><w:del><w:r><w:delText>old</w:delText></w:r></w:del>\
        <w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>\
        <w:hyperlink r:id='x'><w:r><w:t> link</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id='2'/></w:r>\
        <w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r></w:p></w:txbxContent>\
        </mc:Choice><mc:Fallback><w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r></w:p></w:txbxContent></mc:Fallback>\
        </mc:AlternateContent></w:r></w:p>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc><w:tc>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>d</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
        </w:tc></w:tr><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p><w:r><w:t>gone</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
        <w:p><w:pPr><w:numPr><w:ilvl w:val='1'/><w:numId w:val='3'/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p>";
    let parsed = read(Format::Docx, &docx(body, "")).unwrap();
    let expected = [
        (BlockKind::Paragraph, "in a box"),
        (BlockKind::Paragraph, "kept new link[^2]"),
        (BlockKind::TableRow, "a b | c | d"),
        (BlockKind::ListItem, "  - item"),
        (BlockKind::Paragraph, "[^2] A note."),
    ];
    assert_eq!(blocks(&parsed), expected);
}

#[test]
fn cells_are_shown_as_their_formats_ask() {
    let styles = "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='yyyy&quot;년&quot; m&quot;월&quot;'/>\
        <numFmt numFmtId='165' formatCode='[h]:mm'/><numFmt numFmtId='166' formatCode='0.0\\d'/></numFmts><cellXfs>\
        <xf numFmtId='0'/><xf numFmtId='14'/><xf numFmtId='164'/><xf numFmtId='10'/><xf numFmtId='165'/><xf numFmtId='166'/>\
        <xf numFmtId='20'/></cellXfs></styleSheet>";
    let cell = |column: &str, style: u8, value: &str| format!("<c r='{column}1' s='{style}'><v>{value}</v></c>");
    let cells = [
        cell("A", 0, "0.30000000000000004"),
        cell("B", 1, "45000"),
        cell("C", 2, "45000.5"),
        cell("D", 3, "0.1234"),
        cell("E", 4, "1.5"),
        cell("F", 5, "2"),
        cell("G", 6, "0.25"),
        cell("H", 1, "59"),
        cell("I", 1, "61"),
        cell("J", 1, "1e300"),
        "<c r='K1' t='s'><v>1</v></c><c t='inlineStr'><is><t>in</t></is></c><c t='b'><v>0</v></c><c t='e'><v>#N/A</v></c>".into(),
    ];
    let sheet = format!("<worksheet><sheetData><row r='1'>{}</row></sheetData></worksheet>", cells.concat());
    let strings = "<sst><si><t>no</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>X</t></rPh></si></sst>";
    let parsed = read(Format::Xlsx, &xlsx(&sheet, strings, styles)).unwrap();
    let shown: Vec<&str> = parsed.text.lines().nth(2).unwrap().split(" | ").collect();
    let expected = [
        "0.3",
        "2023-03-15",
        "2023-03-15 12:00",
        "12.34%",
        "36:00:00",
        "2.0",
        "06:00",
        "1900-02-28",
        "1900-03-01",
        "1e300",
        "rich",
        "in",
        "FALSE",
        "#N/A",
    ];
    assert_eq!(shown, expected);
}
