//! Checks of input that schemas cannot say or a caller may have skipped.

use crate::ToolError;

/// Refuses a text that says nothing or has more than `longest` characters.
///
/// # Errors
/// `invalid`, naming the field and what it may have.
pub fn text(field: &str, text: &str, longest: usize) -> Result<(), ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::invalid(format!("`{field}` is empty; it needs 1 to {longest} characters")));
    }
    length(field, text, longest)
}

/// Refuses a text of more than `longest` characters.
///
/// # Errors
/// `invalid`, naming the field and what it may have.
pub fn length(field: &str, text: &str, longest: usize) -> Result<(), ToolError> {
    let characters = text.chars().count();
    if characters > longest {
        return Err(ToolError::invalid(format!("`{field}` has {characters} characters; at most {longest} are kept")));
    }
    Ok(())
}

/// Refuses a number that is out of range.
///
/// # Errors
/// `invalid`, naming the field and how far it goes.
pub fn range(field: &str, number: u64, lowest: u64, highest: u64) -> Result<(), ToolError> {
    if (lowest..=highest).contains(&number) {
        return Ok(());
    }
    Err(ToolError::invalid(format!("`{field}` is {number}; it goes from {lowest} to {highest}")))
}
