//! How often something may be late that has to be soon.

use std::{
    fmt::{Debug, Display},
    panic::Location,
};

const MOST: usize = 3;

/// The attempts that were late.
pub(crate) struct Attempts<E> {
    late: Vec<E>,
    caller: &'static Location<'static>,
}

impl<E: Debug> Attempts<E> {
    pub(crate) fn new(caller: &'static Location<'static>) -> Self {
        Self { late: Vec::new(), caller }
    }

    /// Counts one more.
    ///
    /// # Panics
    /// Where it was the last that may be.
    pub(crate) fn was_late(&mut self, what: &impl Display, late: E) {
        self.late.push(late);
        if self.late.len() == MOST {
            panic!("{}: too late each time: {what}: {:?}", self.caller, self.late);
        }
    }
}
