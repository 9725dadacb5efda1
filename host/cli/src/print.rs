//! What commands print for programs.

use anyhow::Result;

/// Prints a value for programs.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
