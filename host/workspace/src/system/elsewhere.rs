//! Systems other than Linux: cap-primitives, with which WASI opens files there, opens no
//! directory by a link either.

mod measure;
mod modes;
mod removal;

use std::{fs::File, io, path::Path};

use cap_primitives::{ambient_authority, fs::open_ambient_dir};

pub(crate) use measure::{measure, measure_below};
pub(crate) use removal::remove_tree;

/// Opens the directory that a path is in, and says its name there: a last part that is a link
/// is not followed then.
fn parent_of(path: &Path) -> io::Result<(File, &Path)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Ok((open_ambient_dir(parent, ambient_authority())?, Path::new(name)))
}
