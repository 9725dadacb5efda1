//! PDFs made object by object.

use wharf_documents::Format;

use crate::support::{deflate, page, pdf, read, stream};

fn text(bytes: &[u8]) -> String {
    read(Format::Pdf, bytes).unwrap().text
}

#[test]
fn korean_with_a_map_of_its_own_is_read() {
    let map = b"/CIDInit /ProcSet findresource begin 1 begincodespacerange <0000> <FFFF> endcodespacerange\n\
        2 beginbfchar <0001> <BD80> <0002> <B450C5D0> endbfchar 1 beginbfrange <0010> <0012> <AC00> endbfrange \
        1 beginbfrange <0020> <0021> [<0041> <D83DDEA2>] endbfrange";
    let content = b"BT /K 12 Tf 72 700 Td <000100020010001200200021> Tj ET";
    let fonts = [
        b"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 7 0 R /DescendantFonts [8 0 R] >>".to_vec(),
        stream("/Filter /FlateDecode", &deflate(map)),
        b"<< /Type /Font /Subtype /CIDFontType2 /DW 1000 >>".to_vec(),
    ];
    assert_eq!(text(&page(content, &fonts)), "부두에가갂A\u{1F6A2}\n");
}

#[test]
fn korean_in_the_old_encoding_of_windows_is_read() {
    let font = b"<< /Type /Font /Subtype /Type0 /Encoding /KSCms-UHC-H /DescendantFonts [] >>".to_vec();
    assert_eq!(text(&page(b"BT /K 12 Tf 72 700 Td <C7D7B1B8> Tj ET", &[font])), "항구\n");
}

#[test]
fn lines_paragraphs_and_blanks_come_from_where_text_stands() {
    let content =
        b"BT /F 10 Tf 12 TL 72 700 Td (The har) Tj (bour) Tj T* [(opens)-300(at)-20( six)] TJ 0 -40 Td (New) ' ET";
    assert_eq!(text(&page(content, &[])), "The harbour\nopens at six\n\nNew\n");
}

#[test]
fn differences_octals_names_and_forms_are_read() {
    let font =
        b"<< /Type /Font /Subtype /Type1 /Encoding << /Differences [1 /Eacute /uni30C4 /fi /a.alt] >> >>".to_vec();
    let form =
        stream("/Subtype /Form /Resources << /Font << /Q#52 5 0 R >> >>", b"BT /QR 10 Tf 72 600 Td (in a form) Tj ET");
    let content = b"BT /K 10 Tf 72 700 Td (\\001\\2\\003\\4 \\(x\\)) Tj ET /X Do BI /W 1 ID \x00(no) Tj EI";
    assert_eq!(text(&page(content, &[font, form])), "Éツﬁa (x)\n\nin a form\n");
}

#[test]
fn a_later_version_of_an_object_counts_and_a_missing_trailer_is_no_matter() {
    let mut bytes = page(b"BT /F 10 Tf 72 700 Td (old) Tj ET", &[]);
    bytes.extend(b"4 0 obj\n");
    bytes.extend(stream("", b"BT /F 10 Tf 72 700 Td (new) Tj ET"));
    bytes.extend(b"\nendobj\n");
    assert_eq!(text(&bytes), "new\n");
    let end = memchr::memmem::find(&bytes, b"trailer").unwrap();
    assert_eq!(text(&bytes[..end]), "old\n");
}

#[test]
fn streams_that_are_packed_several_times_unpack() {
    let content = b"BT /F 10 Tf 72 700 Td (packed) Tj ET";
    let hexadecimal: String = deflate(content).iter().map(|byte| format!("{byte:02x}")).collect();
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Resources << /Font << /F 5 0 R >> >> >>".to_vec(),
        b"<< /Type /Page /Contents [4 0 R] >>".to_vec(),
        stream("/Filter [/ASCIIHexDecode /FlateDecode]", format!("{hexadecimal}>").as_bytes()),
        b"<< /Type /Font /Subtype /TrueType >>".to_vec(),
    ];
    assert_eq!(text(&pdf(&objects)), "packed\n");
}
