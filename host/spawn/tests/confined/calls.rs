//! System calls that no library offers without a wrapper that falls back to something else.

use std::io;

/// Makes a system call with these arguments.
#[expect(unsafe_code, reason = "an attempt to escape takes calls that libraries do not offer")]
pub(crate) fn call(number: libc::c_long, arguments: [usize; 6]) -> io::Result<usize> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: every call is either refused, or has arguments that touch no memory of this program but what its
    // caller keeps for it.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Ends the new process at once where a call made one, which it must not.
pub(crate) fn forked(result: io::Result<usize>) -> io::Result<()> {
    if let Ok(0) = result {
        std::process::exit(0);
    }
    result.map(drop)
}

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
