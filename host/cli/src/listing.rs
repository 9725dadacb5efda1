//! Listings for people: a table without lines, and notes below its rows.
//!
//! Owns how wide columns are. It knows nothing of what is listed, and colours nothing.

use std::{fmt, ops::Range};

use comfy_table::{CellAlignment, Table, presets};

/// Rows below a head. Each column is as wide as its widest cell.
pub(crate) struct Listing {
    table: Table,
    /// What stands below rows, by the rows before it; the head is the first.
    notes: Vec<(usize, String)>,
}

impl Listing {
    /// Nothing but a head; cells of the columns `numbers` stand to the right.
    pub(crate) fn new<const COLUMNS: usize>(head: [&str; COLUMNS], numbers: Range<usize>) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(head);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if numbers.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Self { table, notes: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row<const COLUMNS: usize>(&mut self, cells: [&dyn fmt::Display; COLUMNS]) {
        self.table.add_row(cells);
    }

    /// Adds a line of its own below the last row.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push((self.table.row_count(), note));
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut notes = self.notes.iter().peekable();
        for (row, line) in self.table.lines().enumerate() {
            writeln!(formatter, "{}", line.trim_end())?;
            while let Some((_, note)) = notes.next_if(|(after, _)| *after == row) {
                writeln!(formatter, "    {note}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other_whatever_their_cells_hold() {
        let mut listing = Listing::new(["session", "size", "command"], 1..2);
        listing.row([&"s-1", &"9 KiB", &"git status"]);
        listing.note("it was lost".to_owned());
        listing.row([&"한국어-세션", &"4096 MiB", &"편집기"]);
        listing.row([&"a-long-name-of-a-session", &12, &"-"]);
        let expected = "\
session                       size  command
s-1                          9 KiB  git status
    it was lost
한국어-세션               4096 MiB  편집기
a-long-name-of-a-session        12  -
";
        assert_eq!(listing.to_string(), expected);
    }
}
