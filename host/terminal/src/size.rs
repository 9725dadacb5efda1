//! How large a terminal is.
//!
//! Owns which sizes there are.

pub use wharf_contract::terminal::{MAX_COLUMNS, MAX_ROWS};

/// Columns and rows of a terminal; 80 by 24 where nobody says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    columns: u16,
    rows: u16,
}

/// A size that no terminal has here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a terminal has 1 to {MAX_COLUMNS} columns and 1 to {MAX_ROWS} rows, not {columns} by {rows}")]
pub struct InvalidSize {
    /// The columns asked for.
    pub columns: u16,
    /// The rows asked for.
    pub rows: u16,
}

impl TerminalSize {
    /// A size within the limits.
    ///
    /// # Errors
    /// [`InvalidSize`] outside of them.
    pub fn new(columns: u16, rows: u16) -> Result<Self, InvalidSize> {
        if (1..=MAX_COLUMNS).contains(&columns) && (1..=MAX_ROWS).contains(&rows) {
            Ok(Self { columns, rows })
        } else {
            Err(InvalidSize { columns, rows })
        }
    }

    /// From 1 to [`MAX_COLUMNS`].
    #[must_use]
    pub fn columns(self) -> u16 {
        self.columns
    }

    /// From 1 to [`MAX_ROWS`].
    #[must_use]
    pub fn rows(self) -> u16 {
        self.rows
    }
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_outside_of_the_limits_is_refused_with_the_limits() {
        assert!(TerminalSize::new(1, 1).is_ok() && TerminalSize::new(MAX_COLUMNS, MAX_ROWS).is_ok());
        for (columns, rows) in [(0, 24), (80, 0), (MAX_COLUMNS + 1, 24), (80, MAX_ROWS + 1)] {
            let error = TerminalSize::new(columns, rows).expect_err("no size").to_string();
            assert!(error.contains("1 to 500 columns"), "{error}");
        }
    }
}
