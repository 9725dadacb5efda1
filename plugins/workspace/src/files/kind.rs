//! Whether bytes are text, and what they look like where they are not.

/// Bytes of a file that are looked at.
pub(crate) const LOOKED_AT: usize = 8 * 1024;

const SIGNATURES: [(&[u8], &str); 17] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive, or a document that is one"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"BZh", "a bzip2 archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "an ELF program or library"),
    (b"MZ\x90\0", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\0asm", "a Wasm program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xff\xfe", "text in UTF-16, which `iconv -f UTF-16 -t UTF-8` makes readable"),
    (b"\xfe\xff", "text in UTF-16, which `iconv -f UTF-16 -t UTF-8` makes readable"),
];

/// What a file looks like by its first bytes; none where it is text.
pub(crate) fn binary(start: &[u8]) -> Option<&'static str> {
    let start = start.get(..LOOKED_AT).unwrap_or(start);
    let known = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature)).map(|(_, name)| *name);
    let is_text = memchr::memchr(0, start).is_none();
    match known {
        // Short signatures of text alone may begin a text.
        Some(name) if !is_text || std::str::from_utf8(start).is_err() || start.starts_with(b"%PDF-") => Some(name),
        _ if is_text => None,
        _ => Some("a binary file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_what_their_first_bytes_say() {
        assert_eq!(binary(b"\x89PNG\r\n\x1a\n\0\0"), Some("a PNG image"));
        assert_eq!(binary(b"%PDF-1.7\ntext"), Some("a PDF document"));
        assert!(binary(b"\xff\xfea\0b\0").is_some_and(|name| name.contains("UTF-16")));
        assert_eq!(binary(b"a\0b"), Some("a binary file"));
        for text in ["", "plain", "BZh is no archive", "GIF89a in a text", "항구"] {
            assert_eq!(binary(text.as_bytes()), None, "{text}");
        }
        assert_eq!(binary(b"caf\xe9 in Latin-1"), None);
        // A zero byte far behind does not count: the file was text for long.
        assert_eq!(binary(&[vec![b'a'; LOOKED_AT], vec![0]].concat()), None);
    }
}
