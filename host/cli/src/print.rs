//! What commands print on standard output.
//!
//! A reader that has gone (`wharf tools | head -3`) wants no more, so the command ends well.

use std::{
    fmt,
    io::{self, Write as _},
    process,
};

use anyhow::Result;

use crate::exit;

/// As the standard library's, which panics where the reader has gone.
macro_rules! print {
    ($($arguments:tt)*) => { $crate::print::write(format_args!($($arguments)*)) };
}

/// As the standard library's, which panics where the reader has gone.
macro_rules! println {
    () => { $crate::print::write(format_args!("\n")) };
    ($($arguments:tt)*) => { $crate::print::write(format_args!("{}\n", format_args!($($arguments)*))) };
}

/// Writes to standard output, or ends the command where nobody takes it.
pub(crate) fn write(text: fmt::Arguments<'_>) {
    let Err(error) = io::stdout().write_fmt(text) else { return };
    if error.kind() == io::ErrorKind::BrokenPipe {
        process::exit(0);
    }
    eprintln!("error: standard output cannot be written: {error}");
    process::exit(exit::FAILED.into());
}

/// Prints a value for programs.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
