//! CSV: the text stays as it is, and each record is a row, with the line ends
//! within its quotes.

use csv::{ByteRecord, ReaderBuilder};

use crate::{BlockKind, Format, ParseError};

/// Where the records of a text start.
pub(crate) fn rows(text: &str, most: usize) -> Result<Vec<(usize, BlockKind)>, ParseError> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter(text)).from_reader(text.as_bytes());
    let mut starts = Vec::new();
    let mut record = ByteRecord::new();
    loop {
        let read = reader
            .read_byte_record(&mut record)
            .map_err(|error| ParseError::Damaged { format: Format::Csv, problem: error.to_string() })?;
        let start = record.position().and_then(|position| usize::try_from(position.byte()).ok());
        match start {
            Some(start) if read && starts.len() <= most => starts.push((line_end(text, start), BlockKind::TableRow)),
            _ => return Ok(starts),
        }
    }
}

/// The reader counts what ends a record, or is blank before one, to the next.
fn line_end(text: &str, start: usize) -> usize {
    start + text.as_bytes()[start.min(text.len())..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count()
}

/// What sets the fields apart: what the first line has most of.
fn delimiter(text: &str) -> u8 {
    let line = text.lines().next().unwrap_or_default().as_bytes();
    let count = |delimiter: &u8| memchr::memchr_iter(*delimiter, line).count();
    // The first of equals: a comma where there is none at all.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}
