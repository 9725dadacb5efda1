//! Memory that a host runs.

use std::io;

/// Maps a page of code and runs it, as compiled plugins are.
#[expect(unsafe_code, reason = "a host runs code that it has compiled")]
#[cfg(target_arch = "x86_64")]
pub(crate) fn run_code() -> io::Result<()> {
    // mov eax, 42; ret
    const CODE: [u8; 6] = [0xb8, 42, 0, 0, 0, 0xc3];
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a page of its own, which holds the function before it is run, and is never written after.
    unsafe {
        let page = libc::mmap(std::ptr::null_mut(), 4096, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        std::ptr::copy_nonoverlapping(CODE.as_ptr(), page.cast(), CODE.len());
        if libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_EXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        let function: extern "C" fn() -> i32 = std::mem::transmute(page);
        if function() == 42 { Ok(()) } else { Err(io::Error::other("it says something else")) }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn run_code() -> io::Result<()> {
    Ok(())
}

/// Maps a file as code, as the cache of compiled plugins does.
#[expect(unsafe_code, reason = "a host maps code that it has kept")]
pub(crate) fn map_code(file: &std::fs::File) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let protection = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: nobody reads what is mapped.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), 1, protection, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
    if page == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}
