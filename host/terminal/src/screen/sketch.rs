//! Where everything of a log would go, row by row, without drawing it: so one
//! finds what can never be seen.
//!
//! An emulator draws slower than programs print. Most of what is printed in a
//! flood goes off the top, or is written over: a line by the lines behind it, a
//! progress bar by itself, a full screen by the next one. What is written into
//! one row without a move is a *visit*; one that covers an earlier visit makes
//! an end of it, and so does a scroll beyond what is kept. `emit` writes what
//! is left. Mirrors what the emulator does with the functions that it knows,
//! and gives up on all others; a property test draws both.

use std::collections::VecDeque;

use avt::parser::{DecMode, EdScope, ElScope, Function};

use super::{
    log::{DrawLog, DrawStep},
    pen::Pen,
    visit::{BEFORE, END, RowEntry, RowEvent, RowVisit, SketchBase, columns_of},
};

/// Memory that a sketch takes, for the next one.
#[derive(Debug, Default)]
pub(super) struct SketchBuffers {
    entries: Vec<RowEntry>,
    items: Vec<DrawStep>,
    alive: VecDeque<Vec<u32>>,
}

/// Where everything of a log would go.
#[derive(Debug)]
pub(super) struct Sketch<'l> {
    pub(super) base: SketchBase,
    pub(super) log: &'l DrawLog,
    pub(super) entries: &'l mut Vec<RowEntry>,
    /// What visits consist of: steps of the log, cut where they wrap.
    pub(super) items: &'l mut Vec<DrawStep>,
    pub(super) scrolls: u32,
    pub(super) row: u16,
    pub(super) column: u16,
    pub(super) pen: Pen,
    /// The last of each that sets a mode.
    pub(super) modes: [Option<Function>; 2],
    /// Of each row, the visits of which something may be left.
    alive: &'l mut VecDeque<Vec<u32>>,
    wide: VecDeque<bool>,
    open: Option<RowVisit>,
    /// Where the open visit is, and its pen at its start.
    open_at: (u32, Pen),
}

impl<'l> Sketch<'l> {
    /// Follows a log; nothing where it cannot be told where something goes.
    pub(super) fn of(log: &'l DrawLog, base: SketchBase, paper: &'l mut SketchBuffers) -> Option<Self> {
        if base.columns < 2 || base.wide.len() != usize::from(base.rows) {
            return None;
        }
        paper.entries.clear();
        paper.items.clear();
        paper.alive.iter_mut().for_each(Vec::clear);
        paper.alive.resize_with(base.wide.len(), Vec::new);
        let mut sketch = Self {
            log,
            entries: &mut paper.entries,
            items: &mut paper.items,
            scrolls: 0,
            row: base.row,
            column: base.column,
            pen: Pen::default(),
            modes: [None, None],
            alive: &mut paper.alive,
            wide: base.wide.iter().copied().collect(),
            open: None,
            open_at: (0, Pen::default()),
            base,
        };
        for step in log.steps() {
            match *step {
                DrawStep::Ascii { start, end } => sketch.ascii(start, end)?,
                DrawStep::Characters { start, end } => sketch.characters(start, end)?,
                DrawStep::Return => sketch.go(sketch.row, 0),
                DrawStep::Feed => sketch.feed(),
                DrawStep::Erase => sketch.erase()?,
                DrawStep::Function(number) => sketch.function(number)?,
            }
        }
        sketch.close();
        Some(sketch)
    }

    fn ascii(&mut self, mut start: u32, end: u32) -> Option<()> {
        while start < end {
            if self.column >= self.base.columns {
                self.wrap()?;
            }
            let room = u32::from(self.base.columns - self.column).min(end - start);
            self.print(DrawStep::Ascii { start, end: start + room }, room as u16);
            start += room;
        }
        Some(())
    }

    fn characters(&mut self, start: u32, end: u32) -> Option<()> {
        let log = self.log;
        let (mut from, mut next, mut columns) = (start, start, 0);
        for character in log.text(start, end).chars() {
            let width = columns_of(character);
            if self.column + columns + width > self.base.columns {
                self.print_if_any(from, next, columns);
                (from, columns) = (next, 0);
                self.wrap()?;
            }
            next += character.len_utf8() as u32;
            columns += width;
            if width == 2 {
                self.wide[usize::from(self.row)] = true;
            }
        }
        self.print_if_any(from, next, columns);
        Some(())
    }

    fn print_if_any(&mut self, start: u32, end: u32, columns: u16) {
        if columns > 0 {
            self.print(DrawStep::Characters { start, end }, columns);
        }
    }

    /// Prints what fits into the row.
    fn print(&mut self, step: DrawStep, columns: u16) {
        let (from, to) = (self.column, self.column + columns);
        let mut visit = self.visit();
        if visit.covered.1 == from {
            visit.covered.1 = to;
        }
        visit.touched.1 = visit.touched.1.max(to);
        self.go_on(visit, step);
        self.column = to;
    }

    /// The visit that something here belongs to.
    fn visit(&mut self) -> RowVisit {
        let (column, items) = (self.column, self.items.len() as u32);
        if let Some(visit) = self.open.take() {
            return visit;
        }
        self.open_at = (self.line(), self.pen);
        RowVisit {
            column,
            end: column,
            items: (items, items),
            wraps_from: None,
            wraps_on: false,
            touched: (column, column),
            covered: (column, column),
        }
    }

    fn go_on(&mut self, mut visit: RowVisit, step: DrawStep) {
        match (self.items.last_mut(), step) {
            (Some(DrawStep::Characters { end: last, .. }), DrawStep::Characters { start, end })
                if *last == start && visit.items.0 < visit.items.1 =>
            {
                *last = end;
            }
            _ => self.items.push(step),
        }
        visit.items.1 = self.items.len() as u32;
        self.open = Some(visit);
    }

    fn line(&self) -> u32 {
        self.scrolls + u32::from(self.row)
    }

    /// The cursor goes elsewhere, and the visit is over.
    fn go(&mut self, row: u16, column: u16) {
        self.close();
        (self.row, self.column) = (row, column);
    }

    /// The same, to a place that is counted from the first.
    fn go_to(&mut self, row: u16, column: u16) {
        self.go(row.min(self.base.rows - 1), column.min(self.base.columns - 1));
    }

    fn close(&mut self) -> Option<u32> {
        let mut visit = self.open.take()?;
        visit.end = self.column;
        let number = self.entries.len() as u32;
        let whole = visit.covered == (0, END);
        // Half of a wide character takes the other half with it, in the
        // colours in which that was written.
        if whole || !self.wide[usize::from(self.row)] {
            self.cover(visit.covered);
        }
        if let Some(alive) = self.alive.get_mut(usize::from(self.row)) {
            alive.push(number);
        }
        let (line, pen) = self.open_at;
        self.entries.push(RowEntry { what: RowEvent::Visit(visit), line, pen, is_dead: false });
        Some(number)
    }

    /// Nothing is left of what this row had within these columns.
    fn cover(&mut self, covered: (u16, u16)) {
        let entries = &mut *self.entries;
        self.alive[usize::from(self.row)].retain(|number| {
            let entry = &mut entries[*number as usize];
            entry.is_dead = match &entry.what {
                RowEvent::Visit(visit) => {
                    visit.wraps_from.is_none()
                        && !visit.wraps_on
                        && covered.0 <= visit.touched.0
                        && visit.touched.1 <= covered.1
                }
                RowEvent::Scroll { .. } => false,
                RowEvent::Clear => covered == (0, END),
            };
            !entry.is_dead
        });
    }

    /// The next character goes to the next row, and the emulator remembers that
    /// the line goes on.
    fn wrap(&mut self) -> Option<()> {
        let from = match &mut self.open {
            Some(visit) => {
                visit.wraps_on = true;
                self.close()?
            }
            // Nothing was done but colours since the last character was drawn.
            None if self.entries.is_empty() && (self.row, self.column) == (self.base.row, self.base.column) => BEFORE,
            None => return None,
        };
        if self.row + 1 == self.base.rows {
            self.scroll(Some(from));
        } else {
            self.row += 1;
        }
        self.column = 0;
        let mut visit = self.visit();
        visit.wraps_from = Some(from);
        self.open = Some(visit);
        Some(())
    }

    fn feed(&mut self) {
        if self.row + 1 == self.base.rows {
            self.close();
            self.scroll(None);
        } else {
            self.go_to(self.row + 1, self.column);
        }
    }

    fn scroll(&mut self, wraps_from: Option<u32>) {
        self.alive.rotate_left(1);
        self.wide.rotate_left(1);
        let bottom = usize::from(self.base.rows - 1);
        self.alive[bottom].clear();
        self.wide[bottom] = false;
        self.scrolls += 1;
        self.entries.push(RowEntry {
            what: RowEvent::Scroll { wraps_from },
            line: self.line(),
            pen: self.pen,
            is_dead: false,
        });
    }

    fn function(&mut self, number: u32) -> Option<()> {
        let log = self.log;
        let function = log.function(number);
        let (row, column) = (self.row, self.column);
        let last = self.base.columns - 1;
        let step = DrawStep::Function(number);
        let count = |count: u16| count.max(1);
        match function {
            Function::Sgr(operations) => {
                if let Some(visit) = self.open.take() {
                    self.go_on(visit, step);
                }
                self.pen.apply(operations);
            }
            Function::Cup(to_row, to_column) => self.go_to(count(*to_row) - 1, count(*to_column) - 1),
            Function::Vpa(to_row) => self.go_to(count(*to_row) - 1, column),
            Function::Cuu(rows) => self.go_to(row.saturating_sub(count(*rows)), column),
            Function::Cud(rows) => self.go_to(row.saturating_add(count(*rows)), column),
            Function::Cpl(rows) => self.go_to(row.saturating_sub(count(*rows)), 0),
            Function::Cnl(rows) => self.go_to(row.saturating_add(count(*rows)), 0),
            Function::Cha(to_column) => self.go_to(row, count(*to_column) - 1),
            Function::Cuf(columns) => self.go_to(row, column.saturating_add(count(*columns))),
            Function::Cub(columns) => {
                let wraps = u16::from(column > last);
                self.go_to(row, column.saturating_sub(count(*columns).saturating_add(wraps)));
            }
            Function::Bs => self.go_to(row, column.saturating_sub(1 + u16::from(column > last))),
            Function::Ht => self.go_to(row, (column / 8 + 1).saturating_mul(8)),
            Function::Nel => {
                self.feed();
                self.go(self.row, 0);
            }
            // As for erasing.
            Function::El(_) | Function::Ed(_) | Function::Ech(_) if column > last => return None,
            Function::El(ElScope::All) => self.change((0, END), Some((0, END)), step),
            Function::El(ElScope::ToLeft) | Function::Ech(_) => self.change((0, END), None, step),
            Function::Ed(EdScope::Below) => {
                if column > 0 {
                    self.erase()?;
                }
                self.close();
                (row + u16::from(column > 0)..self.base.rows).for_each(|row| self.erase_row(row));
                self.row = row;
            }
            // On the main screen it moves to the history what is not blank.
            Function::Ed(EdScope::All) if self.base.alternate => {
                self.close();
                (0..self.base.rows).for_each(|row| self.erase_row(row));
                self.row = row;
            }
            Function::Decset(modes) | Function::Decrst(modes) => {
                let [mode] = modes.as_slice() else { return None };
                self.modes[usize::from(*mode == DecMode::TextCursorEnable)] = Some(function.clone());
            }
            // They are in a log only where they change nothing.
            Function::Gzd4(_) | Function::G1d4(_) | Function::Si => {}
            _ => return None,
        }
        Some(())
    }

    /// Erases the rest of the row.
    fn erase(&mut self) -> Option<()> {
        let column = self.column;
        // At the edge nothing is erased, and forgotten that the line went on.
        if column >= self.base.columns {
            return None;
        }
        let mut visit = self.visit();
        if visit.covered.1 == column {
            visit.covered.1 = END;
        }
        visit.touched.1 = END;
        self.go_on(visit, DrawStep::Erase);
        Some(())
    }

    fn change(&mut self, touched: (u16, u16), covered: Option<(u16, u16)>, step: DrawStep) {
        let mut visit = self.visit();
        visit.touched = touched;
        visit.covered = covered.unwrap_or(visit.covered);
        self.go_on(visit, step);
    }

    fn erase_row(&mut self, row: u16) {
        self.row = row;
        self.cover((0, END));
        self.alive[usize::from(row)].push(self.entries.len() as u32);
        self.entries.push(RowEntry { what: RowEvent::Clear, line: self.line(), pen: self.pen, is_dead: false });
    }
}
