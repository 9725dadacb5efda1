//! Files that are read and written at an offset, and the holes in them.
//!
//! Only Linux gives the blocks of a part of a file back.

#[cfg(all(unix, not(target_os = "linux")))]
use std::os::unix::fs::FileExt as _;
#[cfg(windows)]
use std::os::windows::fs::FileExt as _;
use std::{fs::File, io};

/// Writes all bytes at an offset.
///
/// # Errors
/// Where the system refuses; a part may be written then.
#[cfg(target_os = "linux")]
pub fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// Appends `length` bytes of a file, from an offset on, to memory that nobody has to clear before.
///
/// # Errors
/// `UnexpectedEof` where the file is shorter; where the system refuses.
#[cfg(target_os = "linux")]
pub fn read_at(file: &File, from: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    use rustix::{buffer::spare_capacity, io::Errno};

    let before = bytes.len();
    let wanted = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.reserve(wanted);
    while bytes.len() - before < wanted {
        let at = from + (bytes.len() - before) as u64;
        match rustix::io::pread(file, spare_capacity(bytes), at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // There is more where somebody wrote meanwhile.
    bytes.truncate(before + wanted);
    Ok(())
}

/// Gives the blocks of a part of a file back to the disk. The file stays as long as it is, and
/// the part reads as zeros.
///
/// # Errors
/// `Unsupported` on systems other than Linux; where the file system refuses.
#[cfg(target_os = "linux")]
pub fn punch_hole(file: &File, from: u64, until: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};

    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(fallocate(file, hole, from, until - from)?)
}

/// Where the first byte from an offset on is that is in no hole; none where there is nothing but a hole. The offset
/// itself where the file system does not say.
#[cfg(target_os = "linux")]
#[must_use]
pub fn first_data(file: &File, from: u64) -> Option<u64> {
    use rustix::{
        fs::{SeekFrom, seek},
        io::Errno,
    };

    match seek(file, SeekFrom::Data(from)) {
        Ok(first) => Some(first),
        Err(Errno::NXIO) => None,
        Err(_) => Some(from),
    }
}

/// Writes all bytes at an offset.
///
/// # Errors
/// Where the system refuses; a part may be written then.
#[cfg(not(target_os = "linux"))]
pub fn write_all_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = write_at(file, bytes, at)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        (bytes, at) = (&bytes[written..], at + written as u64);
    }
    Ok(())
}

/// Appends `length` bytes of a file, from an offset on.
///
/// # Errors
/// `UnexpectedEof` where the file is shorter; where the system refuses.
#[cfg(not(target_os = "linux"))]
pub fn read_at(file: &File, from: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let before = bytes.len();
    let wanted = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(before + wanted, 0);
    let mut done = 0;
    while done < wanted {
        match read_some_at(file, &mut bytes[before + done..], from + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => done += count,
        }
    }
    Ok(())
}

/// Refuses: no part of a file is given back here.
///
/// # Errors
/// `Unsupported`, always.
#[cfg(not(target_os = "linux"))]
pub fn punch_hole(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The offset itself: there are no holes here.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn first_data(_: &File, from: u64) -> Option<u64> {
    Some(from)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.write_at(bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.seek_write(bytes, at)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(bytes, at)
}

#[cfg(windows)]
fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(bytes, at)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_written_at_an_offset_and_a_part_of_it_goes_back_to_the_disk() {
        let file = tempfile::tempfile().expect("a file");
        let text: Vec<u8> = (0..1u32 << 18).map(|at| (at % 251) as u8).collect();
        write_all_at(&file, &text, 0).expect("written");
        let mut read = b"before ".to_vec();
        read_at(&file, 70_000, 100, &mut read).expect("read");
        assert_eq!(read, [b"before ".as_slice(), &text[70_000..70_100]].concat());
        let past = read_at(&file, text.len() as u64 - 1, 2, &mut read).expect_err("it is shorter");
        assert_eq!(past.kind(), io::ErrorKind::UnexpectedEof);
        punch_hole(&file, 0, 64 << 10).expect("a hole");
        assert_eq!(first_data(&file, 0), Some(64 << 10));
        assert_eq!(file.metadata().expect("is there").len(), text.len() as u64);
        punch_hole(&file, 0, text.len() as u64).expect("a hole");
        assert_eq!(first_data(&file, 0), None);
    }
}
