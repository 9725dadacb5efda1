//! Writes what is left of a sketch as a log that draws the same.
//!
//! Order and pens stay; what is between two visits that are left becomes one
//! move. Lines that are gone for good are not even scrolled through.

use avt::parser::{ElScope, Function, SgrOps};

use super::{
    log::{DrawLog, DrawStep},
    pen::Pen,
    sketch::Sketch,
    visit::{BEFORE, RowEvent, RowVisit},
};

/// Where the emulator will be.
struct LogWriter<'s, 'l> {
    sketch: &'s Sketch<'l>,
    log: DrawLog,
    pen: Pen,
    row: u16,
    column: u16,
    scrolls: u32,
    /// The numbers that functions have got, by those that they had.
    numbers: Vec<Option<u32>>,
    /// The visit that was written last, where nothing came after it.
    last: Option<u32>,
}

/// The log, in the memory of one that is not needed any more; nothing where the
/// end cannot be reached.
pub(super) fn emit(sketch: &Sketch<'_>, mut spare: DrawLog) -> Option<DrawLog> {
    spare.empty();
    let base = &sketch.base;
    // One line more than is kept: whether it goes on is known of the last one
    // that went.
    let gone = sketch.scrolls.saturating_sub(u32::try_from(base.scrollback_lines).ok()?.saturating_add(1));
    let left_out = gone.saturating_sub(base.rows.into());
    let mut writer = LogWriter {
        sketch,
        log: spare,
        pen: Pen::default(),
        row: base.row,
        column: base.column,
        scrolls: left_out,
        numbers: vec![None; sketch.log.functions_known()],
        last: (u32::from(base.row) >= gone).then_some(BEFORE),
    };
    let mut scroll = 0;
    for (number, entry) in (0..).zip(sketch.entries.iter()) {
        let is_gone = entry.is_dead || entry.line < gone;
        match &entry.what {
            RowEvent::Scroll { wraps_from } => {
                scroll += 1;
                if scroll > left_out {
                    writer.scroll(*wraps_from, &entry.pen);
                }
            }
            RowEvent::Visit(visit) if !is_gone => writer.visit(number, visit, entry.line, &entry.pen),
            RowEvent::Clear if !is_gone => {
                writer.go(entry.line, 0);
                writer.wear(&entry.pen);
                writer.log.push(Function::El(ElScope::All));
                writer.last = None;
            }
            RowEvent::Visit(_) | RowEvent::Clear => {}
        }
    }
    writer.finish()
}

impl LogWriter<'_, '_> {
    fn visit(&mut self, number: u32, visit: &RowVisit, line: u32, pen: &Pen) {
        let wraps = visit.wraps_from.is_some_and(|from| self.last == Some(from));
        if wraps {
            // Its first character does it.
            self.row = self.row_of(line);
        } else {
            self.go(line, visit.column);
        }
        self.wear(pen);
        let sketch = self.sketch;
        for step in &sketch.items[visit.items.0 as usize..visit.items.1 as usize] {
            match *step {
                DrawStep::Ascii { start, end } => self.log.print_ascii(sketch.log.text(start, end)),
                DrawStep::Characters { start, end } => self.log.print_characters(sketch.log.text(start, end)),
                DrawStep::Function(function) => {
                    if let Function::Sgr(operations) = sketch.log.function(function) {
                        self.pen.apply(operations);
                    }
                    self.carry_over(function);
                }
                step => self.log.push_step(step),
            }
        }
        self.column = visit.end;
        self.last = Some(number);
    }

    fn carry_over(&mut self, function: u32) {
        let number = self.numbers[function as usize];
        let number = match number {
            Some(number) => number,
            None => self.log.add(self.sketch.log.function(function).clone()),
        };
        self.numbers[function as usize] = Some(number);
        self.log.push_step(DrawStep::Function(number));
    }

    fn scroll(&mut self, wraps_from: Option<u32>, pen: &Pen) {
        self.scrolls += 1;
        if wraps_from.is_some() && wraps_from == self.last {
            // The character that comes next scrolls.
            return;
        }
        let bottom = self.sketch.base.rows - 1;
        if self.row != bottom {
            self.place(bottom, 0);
        }
        self.wear(pen);
        self.log.push_step(DrawStep::Feed);
        self.last = None;
    }

    fn row_of(&self, line: u32) -> u16 {
        // What is left is on the screen when it is written.
        u16::try_from(line.saturating_sub(self.scrolls)).unwrap_or(u16::MAX)
    }

    fn go(&mut self, line: u32, column: u16) {
        self.place(self.row_of(line), column);
    }

    fn place(&mut self, row: u16, column: u16) {
        if (row, column) == (self.row, self.column) {
            return;
        }
        if row == self.row && column == 0 {
            self.log.push_step(DrawStep::Return);
        } else {
            self.log.push(Function::Cup(row + 1, column + 1));
        }
        (self.row, self.column) = (row, column);
    }

    fn wear(&mut self, pen: &Pen) {
        let change = self.pen.change_to(pen);
        if !change.is_empty() {
            let change = SgrOps::from(change);
            self.pen.apply(&change);
            self.log.push(Function::Sgr(change));
        }
    }

    fn finish(mut self) -> Option<DrawLog> {
        let sketch = self.sketch;
        let (row, column) = (sketch.row, sketch.column);
        if (row, column) != (self.row, self.column) {
            // No move goes behind the last column.
            if column >= sketch.base.columns {
                return None;
            }
            self.place(row, column);
        }
        self.wear(&sketch.pen);
        sketch.modes.iter().flatten().for_each(|mode| self.log.push(mode.clone()));
        Some(self.log)
    }
}
