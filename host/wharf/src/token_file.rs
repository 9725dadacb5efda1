//! The file with the token of a data directory, which is made where it is not there.

use std::{io, path::Path};

use wharf_core::Token;

use crate::secret::{read_or_make, read_token};

/// Reads the token that HTTP clients show from a file that nobody else may
/// read; makes a new one where the file is not there.
///
/// # Errors
/// Where it cannot be read or made, others may read it, or it holds no token.
pub fn read_or_make_token(path: &Path) -> io::Result<Token> {
    read_or_make(path)?;
    read_token(path)
}
