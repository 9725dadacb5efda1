//! What commands print on standard output.
//!
//! A reader that has gone (`wharf tools | head -3`) wants no more, so the command ends well.

use std::{
    fmt,
    io::{self, BufWriter, Stdout, Write},
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
    let Err(error) = StandardOutput(io::stdout()).write_fmt(text) else { return };
    eprintln!("error: standard output cannot be written: {error}");
    process::exit(exit::FAILED.into());
}

/// Standard output for a listing, which is complete once this is flushed.
pub(crate) fn listing() -> BufWriter<StandardOutput> {
    BufWriter::new(StandardOutput(io::stdout()))
}

/// Standard output, which ends the command where its reader has gone.
#[derive(Debug)]
pub(crate) struct StandardOutput(Stdout);

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).or_else(end_without_reader)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().or_else(end_without_reader)
    }
}

fn end_without_reader<T>(error: io::Error) -> io::Result<T> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        process::exit(0);
    }
    Err(error)
}

/// Prints a value for programs.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
