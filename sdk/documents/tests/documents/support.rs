//! Documents made for a test: archives of parts, and PDFs of objects.

use std::io::{Cursor, Write};

use wharf_documents::{Block, BlockKind, ChunkSettings, Format, Limits, ParseError, Parsed, chunks, parse};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) fn read(format: Format, bytes: &[u8]) -> Result<Parsed, ParseError> {
    let parsed = parse(format, bytes, &Limits::default())?;
    check(&parsed, &ChunkSettings::default());
    Ok(parsed)
}

/// What holds of every document: blocks and chunks are the text, in order.
pub(crate) fn check(parsed: &Parsed, settings: &ChunkSettings) {
    let mut at = 0;
    for Block { bytes, .. } in &parsed.blocks {
        assert_eq!(bytes.start, at, "a gap between blocks");
        assert!(bytes.end > at, "an empty block");
        at = bytes.end;
    }
    assert_eq!(at, parsed.text.len());
    let (mut at, mut line) = (0, 1);
    for chunk in chunks(parsed, settings).unwrap() {
        assert_eq!(chunk.bytes.start, at, "a gap between chunks");
        let text = &parsed.text[chunk.bytes.clone()];
        assert!(!text.is_empty() && text.len() <= 4 * settings.most_bytes, "{} bytes", text.len());
        assert_eq!(chunk.first_line, line);
        let ends = u32::try_from(text.matches('\n').count()).unwrap();
        line += ends;
        assert_eq!(chunk.last_line, if text.ends_with('\n') { line - 1 } else { line });
        assert!(chunk.headings.len() <= 6 && chunk.headings.iter().all(|heading| heading.len() <= 120));
        at = chunk.bytes.end;
    }
    assert_eq!(at, parsed.text.len());
}

/// Kinds and texts of the blocks, without the line ends that close them.
pub(crate) fn blocks(parsed: &Parsed) -> Vec<(BlockKind, &str)> {
    parsed.blocks.iter().map(|block| (block.kind, parsed.text[block.bytes.clone()].trim_end())).collect()
}

pub(crate) fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const TYPES: (&str, &[u8]) = ("[Content_Types].xml", b"<Types/>");

fn relations(entries: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut xml = "<Relationships>".to_owned();
    for (id, kind, target) in entries {
        xml += &format!("<Relationship Id='{id}' Type='http://x/{kind}' Target='{target}'/>");
    }
    (xml + "</Relationships>").into_bytes()
}

/// A docx whose body this is, with these styles.
pub(crate) fn docx(body: &str, styles: &str) -> Vec<u8> {
    let root = relations(&[("a", "officeDocument", "word/document.xml")]);
    let own = relations(&[("s", "styles", "styles.xml"), ("f", "footnotes", "/word/footnotes.xml")]);
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let notes = "<w:footnotes><w:footnote w:type='separator' w:id='0'><w:p><w:r><w:t>---</w:t></w:r></w:p></w:footnote>\
        <w:footnote w:id='2'><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    archive(&[
        TYPES,
        ("_rels/.rels", &root),
        ("word/_rels/document.xml.rels", &own),
        ("word/document.xml", document.as_bytes()),
        ("word/styles.xml", format!("<w:styles>{styles}</w:styles>").as_bytes()),
        ("word/footnotes.xml", notes.as_bytes()),
    ])
}

/// An xlsx of one sheet.
pub(crate) fn xlsx(sheet: &str, strings: &str, styles: &str) -> Vec<u8> {
    let root = relations(&[("a", "officeDocument", "xl/workbook.xml")]);
    let own = relations(&[
        ("r1", "worksheet", "worksheets/sheet1.xml"),
        ("r2", "sharedStrings", "sharedStrings.xml"),
        ("r3", "styles", "styles.xml"),
    ]);
    archive(&[
        TYPES,
        ("_rels/.rels", &root),
        ("xl/_rels/workbook.xml.rels", &own),
        ("xl/workbook.xml", b"<workbook><sheets><sheet name='One' r:id='r1'/></sheets></workbook>"),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ("xl/sharedStrings.xml", strings.as_bytes()),
        ("xl/styles.xml", styles.as_bytes()),
    ])
}

/// A PDF of these objects, numbered from 1; the first is its catalog.
pub(crate) fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    for (number, object) in (1..).zip(objects) {
        bytes.extend(format!("{number} 0 obj\n").bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    bytes.extend(b"trailer << /Root 1 0 R >>\n%%EOF\n");
    bytes
}

/// A stream, with more entries for its dictionary.
pub(crate) fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    let mut object = format!("<< /Length {} {entries} >>\nstream\n", data.len()).into_bytes();
    object.extend(data);
    object.extend(b"\nendstream");
    object
}

pub(crate) fn deflate(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// A PDF of one page with this content, whose fonts `/F` and `/K` are these.
pub(crate) fn page(content: &[u8], more: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F 5 0 R /K 6 0 R >> /XObject << /X 7 0 R >> >> >>".to_vec(),
        stream("", content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    objects.extend_from_slice(more);
    pdf(&objects)
}
