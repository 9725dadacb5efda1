//! Files that other programs wrote; `tests/files/README.md` says how.

use wharf_documents::{BlockKind, ParseError};

use crate::support::{blocks, read};

fn file(name: &str) -> Result<wharf_documents::Parsed, ParseError> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name);
    let bytes = std::fs::read(path).unwrap();
    read(wharf_documents::Format::detect(Some(name), None, &bytes).unwrap(), &bytes)
}

#[test]
fn a_docx_of_python_docx_keeps_headings_rows_and_items() {
    let parsed = file("python-docx.docx").unwrap();
    assert_eq!(parsed.title.as_deref(), Some("Harbour rules 항구 규칙"));
    let expected = [
        (BlockKind::Heading(1), "Harbour rules"),
        (BlockKind::Heading(1), "Opening hours"),
        (BlockKind::Paragraph, "The harbour opens at six and closes at nine."),
        (BlockKind::Paragraph, "항구는 여섯 시에 열고 아홉 시에 닫습니다."),
        (BlockKind::Heading(2), "부두 이용 요금"),
        (BlockKind::TableRow, "배 | 길이 | 요금"),
        (BlockKind::TableRow, "돛단배 | 8 m | 12.50"),
        (BlockKind::TableRow, "화물선 | 120 m | 980.00"),
        (BlockKind::ListItem, "- Bring papers"),
        (BlockKind::ListItem, "- Pay the fee"),
        (BlockKind::Paragraph, "Last words."),
    ];
    assert_eq!(blocks(&parsed), expected);
}

#[test]
fn an_xlsx_of_openpyxl_shows_dates_percentages_and_decimals() {
    let parsed = file("openpyxl.xlsx").unwrap();
    let expected = "요금표\n\n날짜 | 배 | 요금 | 비율\n2026-03-01 | 돛단배 | 12.50 | 25.0%\n\
        2026-03-02 14:30 | cargo | 980\n |  |  |  |  | far away\n\nSecond\n\n | TRUE\n";
    assert_eq!(parsed.text, expected);
}

#[test]
fn an_xlsx_of_xlsxwriter_shows_dates_and_results_of_formulas() {
    let expected = "Data\n\nname | 이름\npier | 부두\n2025-12-31 23:59 | 3.25\n3\n";
    assert_eq!(file("xlsxwriter.xlsx").unwrap().text, expected);
}

#[test]
fn a_pptx_of_python_pptx_has_slides_points_notes_and_tables() {
    let parsed = file("python-pptx.pptx").unwrap();
    let expected = [
        (BlockKind::Heading(1), "항구 안내"),
        (BlockKind::ListItem, "- First point"),
        (BlockKind::ListItem, "  - 둘째 항목"),
        (BlockKind::Paragraph, "Notes: Speak slowly."),
        (BlockKind::Heading(1), "Fees"),
        (BlockKind::TableRow, "Ship | Fee"),
        (BlockKind::TableRow, "돛단배 | 12.50"),
    ];
    assert_eq!(blocks(&parsed), expected);
    assert_eq!(parsed.blocks.iter().map(|block| block.page).collect::<Vec<_>>(), [1, 1, 1, 1, 2, 2, 2].map(Some));
}

#[test]
fn a_pdf_of_reportlab_has_korean_pages_and_says_which_is_empty() {
    let parsed = file("reportlab.pdf").unwrap();
    assert_eq!(parsed.title.as_deref(), Some("Harbour 항구"));
    let expected = "The harbour opens at six.\nIt closes at nine (café).\n\n항구는 여섯 시에 엽니다.\n\nThird page.\n";
    assert_eq!(parsed.text, expected);
    assert_eq!(parsed.warnings, ["no text on page 2; pictures of text are not read"]);
    assert_eq!(parsed.blocks.last().unwrap().page, Some(3));
}

#[test]
fn a_pdf_with_a_subset_of_a_font_is_read_by_its_own_map() {
    let expected = "Γειά σου λιμάνι. Порт открыт в шесть.\n\nDer Hafen öffnet um sechs: naïve façade.\n";
    assert_eq!(file("fpdf2.pdf").unwrap().text, expected);
}

#[test]
fn a_pdf_whose_objects_are_packed_in_streams_is_the_same() {
    assert_eq!(file("qpdf-object-streams.pdf").unwrap().text, file("fpdf2.pdf").unwrap().text);
}

#[test]
fn a_pdf_with_a_password_is_an_error_that_says_so() {
    let error = file("encrypted.pdf").unwrap_err();
    assert_eq!(error.to_string(), "the pdf document is encrypted; save it without a password");
}
