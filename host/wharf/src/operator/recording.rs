//! Recordings of terminals, piece by piece, for the operator.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use wharf_core::{Code, Error, service::operator::ProcessOutput};
use wharf_encryption::AtRest;

use super::{blocking::blocking, missing::none};

/// A piece of a file: whole lines of it, where it holds any.
pub(super) async fn piece(at_rest: AtRest, file: PathBuf, from: u64, bytes: usize) -> Result<ProcessOutput, Error> {
    let piece = blocking(move || read(&at_rest, &file, from, bytes)).await?;
    let piece = piece.map_err(|error| match error.kind() {
        // Older recordings make room for later ones.
        io::ErrorKind::NotFound => none("recording"),
        _ => Error::retryable(Code::Unavailable, format!("the recording cannot be read: {error}")),
    })?;
    let next = from.saturating_add(piece.len() as u64);
    Ok(ProcessOutput { from, next, text: String::from_utf8_lossy(&piece).into_owned() })
}

fn read(at_rest: &AtRest, file: &Path, from: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let file = at_rest.open(File::open(file)?)?;
    let mut piece = Vec::new();
    let length = file.length()?.saturating_sub(from).min(bytes as u64);
    file.read_at(from, length, &mut piece)?;
    if let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') {
        piece.truncate(end + 1);
    }
    Ok(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_piece_ends_behind_a_line_and_the_next_one_goes_on_there() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("one.cast");
        std::fs::write(&file, "{}\n[1,\"o\",\"가나\"]\n[2").expect("written");
        let first = piece(AtRest::in_clear(), file.clone(), 0, 8).await.expect("read");
        assert_eq!((first.text.as_str(), first.next), ("{}\n", 3));
        let second = piece(AtRest::in_clear(), file.clone(), first.next, 1_000).await.expect("read");
        assert_eq!(second.text, "[1,\"o\",\"가나\"]\n");
        let rest = piece(AtRest::in_clear(), file.clone(), second.next, 1_000).await.expect("read");
        assert_eq!(rest.text, "[2", "a line that is still being written");
        assert_eq!(piece(AtRest::in_clear(), file.clone(), 1_000, 10).await.expect("read").text, "");
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(piece(AtRest::in_clear(), file, 0, 10).await.expect_err("it is gone").code, Code::NotFound);
    }
}
