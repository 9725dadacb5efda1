//! PDFs that were made to do harm.

use wharf_documents::{Format, ParseError};

use crate::support::{deflate, page, pdf, read, stream};

fn unpacked_too_much(bytes: &[u8]) {
    let result = read(Format::Pdf, bytes);
    assert!(matches!(result, Err(ParseError::Limit { .. })), "{:?}", result.map(|parsed| parsed.text.len()));
}

#[test]
fn what_streams_unpack_to_is_counted_in_all() {
    let bomb = deflate(&vec![b' '; 70 << 20]);
    let twice = deflate(&bomb);
    let objects = |entries: &str, data: &[u8]| {
        [
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Kids [3 0 R] >>".to_vec(),
            b"<< /Contents 4 0 R >>".to_vec(),
            stream(entries, data),
        ]
    };
    unpacked_too_much(&pdf(&objects("/Filter /FlateDecode", &bomb)));
    unpacked_too_much(&pdf(&objects("/Filter [/FlateDecode /FlateDecode]", &twice)));
    unpacked_too_much(&pdf(&objects("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", &bomb)));
    // One stream of 8 MB that a thousand pages share.
    let shared = deflate(&vec![b' '; 8 << 20]);
    let kids = (4..1_004).map(|number| format!("{number} 0 R ")).collect::<String>();
    let mut many = vec![b"<< /Pages 2 0 R >>".to_vec(), format!("<< /Kids [{kids}] >>").into_bytes()];
    many.push(stream("/Filter /FlateDecode", &shared));
    many.extend((0..1_000).map(|_| b"<< /Contents 3 0 R >>".to_vec()));
    unpacked_too_much(&pdf(&many));
}

#[test]
fn loops_end_where_they_meet_themselves() {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Self 1 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [2 0 R 3 0 R 2 0 R 4 0 R 3 0 R] /Parent 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [2 0 R 5 0 R] >>".to_vec(),
        b"4 0 R".to_vec(),
        b"<< /Type /Page /Contents 6 0 R /Resources << /Font << /F 7 0 R >> /XObject << /X 6 0 R >> >> >>".to_vec(),
        stream("/Subtype /Form /Length 6 0 R", b"BT /F 9 Tf 1 1 Td (once) Tj ET /X Do"),
        b"<< /Type /Font /Subtype /Type0 /Encoding 7 0 R /ToUnicode 6 0 R /DescendantFonts [7 0 R] >>".to_vec(),
    ];
    let parsed = read(Format::Pdf, &pdf(&objects)).unwrap();
    assert_eq!(parsed.blocks.iter().filter_map(|block| block.page).max(), None);
    let shown = read(
        Format::Pdf,
        &page(
            b"BT /F 9 Tf 1 1 Td (once) Tj ET /X Do",
            &[
                b"6 0 R".to_vec(),
                stream("/Subtype /Form /Resources << /XObject << /X 7 0 R /Y 7 0 R >> >>", b"/X Do /Y Do /X Do"),
            ],
        ),
    );
    assert_eq!(shown.unwrap().text, "once\n");
}

#[test]
fn forms_that_multiply_stop_at_what_may_be_unpacked() {
    let form = |next: usize| {
        let entries = format!("/Subtype /Form /Resources << /XObject << /X {next} 0 R >> >>");
        stream(&entries, &b"/X Do ".repeat(200))
    };
    let mut more = vec![b"null".to_vec()];
    more.extend((8..16).map(form));
    more.push(stream("/Subtype /Form", b""));
    unpacked_too_much(&page(b"/X Do", &more));
}

#[test]
fn a_map_that_spans_everything_stays_small() {
    let map = b"1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange 1 beginbfrange <0000> <FFFF> [] endbfrange";
    let fonts = [
        b"<< /Subtype /Type0 /Encoding /Identity-H /ToUnicode 7 0 R /DescendantFonts [8 0 R] >>".to_vec(),
        stream("", map),
        b"<< /W [0 4294967295 500 1 99999999999 7] >>".to_vec(),
    ];
    assert_eq!(read(Format::Pdf, &page(b"BT /K 9 Tf 1 1 Td <00000001> Tj ET", &fonts)).unwrap().text, "AB\n");
}

#[test]
fn syntax_that_never_closes_is_passed_over() {
    for piece in
        ["[", "<<", "(", "<", "<</A", "[<<", "1 0 obj", "1 0 obj<<", "trailer<<", "stream\n", "%", "/", "BI ID "]
    {
        let count = 400_000 / piece.len();
        let mut file = b"%PDF-1.7\n".to_vec();
        file.extend(piece.repeat(count).bytes());
        assert!(read(Format::Pdf, &file).is_err(), "{piece}");
        drop(read(Format::Pdf, &page(piece.repeat(count).as_bytes(), &[])));
    }
}

#[test]
fn numbers_beyond_reason_are_only_numbers() {
    let content = b"BT /F 1e999 Tf 99999999999999999999999999999999999999 -0.0 Td (a) Tj 340282350000000000000000000000000000000000 Tz \
        (b) Tj +-1 Tc -- Ts 0 0 0 0 0 0 Tm (c) Tj ET";
    assert!(read(Format::Pdf, &page(content, &[])).is_ok());
    let widths = [b"<< /Type /Font /Subtype /TrueType /FirstChar 4294967295 /Widths [1 2] /Encoding << /Differences [-5 /a 999999 /b] >> >>".to_vec()];
    assert!(read(Format::Pdf, &page(b"BT /K 9 Tf (x) Tj ET", &widths)).is_ok());
    let objects = [
        b"<< /Pages 2 0 R >>".to_vec(),
        stream("/Type /ObjStm /N 99999999 /First 4294967295", b"1 0 2 0"),
        stream(
            "/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 4294967295 /Colors 4000000000 >>",
            &deflate(b"x"),
        ),
        b"<< /Type /Page /Contents [3 0 R 3 0 R] >>".to_vec(),
    ];
    assert!(read(Format::Pdf, &pdf(&objects)).is_ok());
}
